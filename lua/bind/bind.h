// Everything a lua/api file needs of the binding layer.
#pragma once
#include "lua/bind/class.h"
#include "lua/bind/entry.h"
#include "lua/bind/function.h"
#include "lua/bind/module.h"
#include "lua/bind/object.h"
#include "lua/bind/options.h"
#include "lua/bind/value.h"
#include "lua/bind/variant.h"
