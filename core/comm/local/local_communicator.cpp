#include "core/comm/local/local_communicator.h"

#include "core/base/enum_names.h"
#include "core/comm/local/local_exchange.h"

namespace gpubench {
namespace {

/// The algorithms that a caller may choose; reduction_to_one is chosen through CrossDevice.
constexpr EnumNames<LocalAlgorithm, 4> algorithms{"unknown algorithm", {"direct", "tree", "parts", "ring"}};

}  // namespace

std::string_view to_string(LocalAlgorithm algorithm) {
  return algorithm == LocalAlgorithm::reduction_to_one ? "reduction_to_one" : algorithms[algorithm];
}

LocalAlgorithm parse_local_algorithm(std::string_view name) {
  return algorithms.parse(name);
}

std::vector<std::unique_ptr<Communicator>> make_local_communicators(std::vector<int> node_of_rank,
                                                                    std::optional<LocalAlgorithm> all_reduce) {
  const auto group = std::make_shared<LocalGroup>(std::move(node_of_rank));
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < group->size(); ++rank) {
    communicators.push_back(make_host_communicator(std::make_unique<LocalExchange>(group, rank, all_reduce)));
  }
  return communicators;
}

}  // namespace gpubench
