// The processes that run one script together, each a rank with a share of the devices. What they say to each other here
// is small and seldom; tensors go through a communicator.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "worker-3 (pid 4711)": how messages call a rank.
  virtual std::string name_of(int rank) const = 0;

  /// Collective calls, by the script's thread of every rank in the same order. They throw PeerLost.
  virtual void barrier() = 0;
  /// The texts of all ranks, by rank; any lengths.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// `mine` of all ranks, one after the other; of one length everywhere. Small and often: before every step.
  virtual void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) = 0;
  virtual std::string broadcast(const std::string& text, int root) = 0;

  /// A new communicator with one rank per process, for CPU devices; a collective call.
  virtual std::unique_ptr<Communicator> communicator() = 0;

  /// How far this rank is, for what others say when it is lost.
  virtual void set_step(std::int64_t step) noexcept = 0;
  /// This rank cannot go on: all others end with that. The process should end soon.
  virtual void fail(const std::string& reason) noexcept = 0;
};

}  // namespace gpubench
