// Includes everything that a lua/api file needs from the binding layer.
#pragma once
#include "lua/bind/class.h"
#include "lua/bind/entry.h"
#include "lua/bind/function.h"
#include "lua/bind/module.h"
#include "lua/bind/object.h"
#include "lua/bind/options.h"
#include "lua/bind/value.h"
#include "lua/bind/variant.h"
