// Communicators of one process with a thread for each rank, and tensors to give them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/local/local_communicator.h"

namespace gpubench {

/// Does all work at once, as streams of CPU devices do, and counts how often it was waited for.
class ImmediateStream final : public Stream {
 public:
  void record(Event&) override {}
  void wait_for(const Event&) override {}
  void copy(void*, const void*, std::size_t) override {}
  void synchronize() override { ++synchronized; }
  int synchronized = 0;
};

class Ranks {
 public:
  explicit Ranks(int size, std::optional<LocalAlgorithm> all_reduce = std::nullopt);
  /// On memory nodes.
  Ranks(std::vector<int> node_of_rank, std::optional<LocalAlgorithm> all_reduce);

  int size() const { return static_cast<int>(communicators.size()); }
  Communicator& operator[](int rank) { return *communicators[static_cast<std::size_t>(rank)]; }
  /// Calls body(rank) on a thread of its own for each rank and waits for all; the texts of what each threw, or "".
  std::vector<std::string> run(const std::function<void(int)>& body);

  std::vector<std::unique_ptr<Communicator>> communicators;
};

/// Owns tensors of one rank.
class Tensors {
 public:
  TensorView add(TensorType type);
  std::vector<TensorView> views();
  std::vector<std::byte> bytes() const;  ///< of all of them

 private:
  struct One {
    TensorType type;
    std::vector<std::max_align_t> memory;
  };
  std::vector<std::unique_ptr<One>> all_;
};

/// Numbers that differ by rank and place, whose sums depend on the order in which they are added (but for integers).
void fill(const TensorView& tensor, int rank);
void set(const TensorView& tensor, std::int64_t i, float x);

}  // namespace gpubench
