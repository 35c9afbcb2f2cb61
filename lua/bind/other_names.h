// Errors about a name that does not exist: the similar one, those there are, or what a name of Keras, TensorFlow or
// PyTorch is called here.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace gpubench::lua {

/// "<what> '<name>'", then the name here of one that other libraries have; else known_names().
std::string no_such(std::string_view what, std::string_view name, std::span<const std::string_view> known);

}  // namespace gpubench::lua
