// How one rank carries out collectives of tensors over messages. Small all-reduces: everybody sends all to everybody
// and adds up in the order of ranks. Large ones: each rank adds up a part, piece by piece, and hands it out. So every
// rank gets the same bytes, in whichever types, 16-bit ones added in float32, and what is reduced needs nothing of MPI.
// That holds for tensors in a GPU's memory too, of which MPI sends and receives alone take addresses, Open MPI's
// non-blocking reductions do not: what one rank adds up it receives in the host's memory, with a copy of its own part.
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
  /// `gpu`: whose memory holds the tensors, ready when a call begins; nullptr for the host's.
  MpiExchange(MpiLink& link, int channel, Device* gpu);
  ~MpiExchange() override;

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  std::string_view noun() const override { return "process"; }
  std::string_view name() const override { return in_reach() ? "mpi" : "mpi, CUDA-aware"; }
  /// "direct": one message to each other; "pieces": reduce-scatter and all-gather; "tree": broadcasts.
  std::string algorithm(const Collective& collective) const override;
  /// `last_rank` is that of the exchange before, which tells how long each had waited: clocks of machines differ. -1
  /// for the first.
  ExchangeOutcome carry_out(const PreparedCollective& asked, Clock::time_point arrived, Clock::duration spin) override;
  void abort(const std::string& reason) noexcept override { link_.watch()->abort(channel_, channel_ + 1, reason); }

 private:
  struct Arrival {
    std::uint64_t signature = 0;
    std::int64_t waited_ns = 0;
  };
  /// Memory of the host that only grows.
  class Row {
   public:
    std::byte* data() { return locked_.data() != nullptr ? locked_.data() : plain_.data(); }
    /// At least so long; page-locked where there is a pool of that.
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
  /// Between tensors and the host's memory, or tensors; done when settle() has returned.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);
  void settle();
  void pack(const Collective& collective, std::size_t from, std::size_t to, std::byte* row);
  void unpack(const Collective& collective, std::size_t from, std::size_t to, const std::byte* row);
  std::byte* slot(int rank) { return received_.data() + static_cast<std::size_t>(rank) * slot_bytes_; }

  void exchange(const Collective& collective, ExchangeOutcome& outcome);
  void give_up() noexcept;
  /// Sends this rank's arrival with `payload` bytes behind it to all.
  void greet(std::size_t payload);
  /// Waits for the arrivals of all others, which lie in the slots then, and compares what they ask for.
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
  MemoryPool* locked_ = nullptr;               // page-locked memory of the host, for copies of what a GPU holds
  std::unique_ptr<Stream> copies_;             // of tensors that the host cannot reach
  MpiTransfers meeting_;                       // keeps its memory from call to call
  const PreparedCollective* asked_ = nullptr;  // what is carried out
  bool has_met_ = false;
  std::int64_t waited_ns_ = 0;
  std::size_t slot_bytes_ = 0;
  std::vector<std::byte> sent_, received_;
  std::vector<const std::byte*> sources_;  // by rank, of what is added up
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace gpubench
