// One rank's collectives over MPI messages. Small all-reduces: every rank sends everything to all others and adds in
// the order of ranks. Large ones: each rank reduces one part, piece by piece, and distributes it. So all ranks get the
// same bytes for every type (16-bit types are added in float32), and MPI's own reductions are not used. In GPU memory
// MPI can only send and receive (Open MPI's non-blocking reductions cannot use it), so a rank receives what it adds in
// host memory, with a copy of its own part.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/comm/host_communicator.h"
#include "core/device/device.h"
#include "core/group/mpi/mpi_link.h"

namespace gpubench {

class MpiExchange final : public HostExchange {
 public:
  /// `gpu`: its memory holds the tensors, which must be ready when a call begins; nullptr: host memory.
  MpiExchange(MpiLink& link, int channel, Device* gpu);
  ~MpiExchange() override;

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  std::string_view noun() const override { return "process"; }
  std::string_view name() const override { return in_reach() ? "mpi" : "mpi, CUDA-aware"; }
  /// "direct": one message to each other rank; "pieces": reduce-scatter and all-gather; "tree": broadcasts.
  std::string algorithm(const Collective& collective) const override;
  /// `last_rank` refers to the previous exchange (-1 for the first): clocks of machines differ, so ranks report how
  /// long they waited in the exchange before.
  ExchangeOutcome carry_out(const PreparedCollective& asked, Clock::time_point arrived, Clock::duration spin) override;
  void abort(const std::string& reason) noexcept override { link_.watch()->abort(channel_, channel_ + 1, reason); }

 private:
  struct Arrival {
    std::uint64_t signature = 0;
    std::int64_t waited_ns = 0;
  };
  /// A host buffer that only grows.
  class Row {
   public:
    std::byte* data() { return locked_.data() != nullptr ? locked_.data() : plain_.data(); }
    /// At least `bytes` long; page-locked if there is a pool for that.
    std::byte* grow(std::size_t bytes, MemoryPool* pool) {
      if (pool == nullptr) {
        plain_.resize(std::max(plain_.size(), bytes));
      } else if (locked_.bytes() < bytes) {
        locked_ = {};
        locked_ = pool->allocate(bytes, "tensors that are exchanged");
      }
      return data();
    }

   private:
    std::vector<std::byte> plain_;
    Buffer locked_;
  };
  struct Stage;

  template <class Visit>
  void for_others(const Visit& visit) const;
  MpiTransfers transfers() { return {link_, channel_, end_.get()}; }
  bool is_small(const Collective& collective) const;
  bool in_reach() const { return copies_ == nullptr; }
  /// Copies between tensors, or between a tensor and host memory; complete when settle() returns.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);
  void settle();
  void pack(const Collective& collective, std::size_t from, std::size_t to, std::byte* row);
  void unpack(const Collective& collective, std::size_t from, std::size_t to, const std::byte* row);
  std::byte* slot(int rank) { return received_.data() + static_cast<std::size_t>(rank) * slot_bytes_; }

  void exchange(const Collective& collective, ExchangeOutcome& outcome);
  void give_up() noexcept;
  /// Sends this rank's arrival to all, followed by `payload` bytes.
  void greet(std::size_t payload);
  /// Waits for the arrivals of all others, which are then in the slots, and compares the requests.
  void meet(const Collective& collective, ExchangeOutcome& outcome);
  void reduce_small(const Collective& collective, ExchangeOutcome& outcome);
  void reduce_in_pieces(const Collective& collective, ExchangeOutcome& outcome);
  void all_gather(const Collective& collective);
  void reduce_scatter(const Collective& collective);
  void broadcast(const Collective& collective);

  std::size_t cut(std::size_t from, std::size_t to, int part) const;
  void scatter(const Collective& collective, Stage& stage, std::size_t from, std::size_t to);
  void add_up(const Collective& collective, Stage& stage);
  void gather(const Collective& collective, Stage& stage);
  void finish(const Collective& collective, Stage& stage);

  MpiLink& link_;
  int channel_;
  std::shared_ptr<WaitEnd> end_;
  MemoryPool* locked_ = nullptr;               // page-locked host memory, for copies of GPU data
  std::unique_ptr<Stream> copies_;             // for tensors that the host cannot access
  MpiTransfers meeting_;                       // kept for its memory
  const PreparedCollective* asked_ = nullptr;  // the collective that runs now
  bool has_met_ = false;
  std::int64_t waited_ns_ = 0;
  std::size_t slot_bytes_ = 0;
  std::vector<std::byte> sent_, received_;
  std::vector<const std::byte*> sources_;  // by rank: the inputs of a sum
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace gpubench
