#include "core/comm/local/local_algorithm.h"

#include "core/base/enum_names.h"

namespace gpubench {
namespace {

/// Those that a caller may choose; reduction_to_one is a choice of CrossDevice.
constexpr EnumNames<LocalAlgorithm, 4> algorithms{"unknown algorithm", {"direct", "tree", "parts", "ring"}};

}  // namespace

std::string_view to_string(LocalAlgorithm algorithm) {
  return algorithm == LocalAlgorithm::reduction_to_one ? "reduction_to_one" : algorithms[algorithm];
}

LocalAlgorithm parse_local_algorithm(std::string_view name) {
  return algorithms.parse(name);
}

}  // namespace gpubench
