// A communicator whose collectives run on the host: inline on the rank's own thread, or beside its kernels on the
// thread of a queue, always in the order of the requests. A HostExchange runs one collective: between the threads of a
// process, or between processes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/comm/collective.h"
#include "core/comm/communicator.h"
#include "core/comm/exchange_clock.h"

namespace gpubench {

/// A collective, with a hash and a division that are computed once.
struct PreparedCollective {
  Collective collective;
  std::uint64_t signature = 0;
  TensorPieces pieces;
};

/// One rank's part in the collectives. Used by one thread at a time: the host's, or the queue's.
class HostExchange {
 public:
  virtual ~HostExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// What messages call a rank: "rank", "process".
  virtual std::string_view noun() const = 0;
  /// As Communicator::name() and algorithm().
  virtual std::string_view name() const = 0;
  virtual std::string algorithm(const Collective& collective) const = 0;
  /// Throws Error for a collective that fits the communicator, but not the way that was chosen for it.
  virtual void check(const Collective& collective) const { (void)collective; }
  /// Whether the tensors hold the result before anything is done.
  virtual bool is_done(const Collective& collective) const { return (void)collective, false; }

  /// Blocks until this rank's tensors hold the result and no other rank reads them. `arrived`: when this rank was
  /// ready. Throws PeerLost, and Error on all ranks when their requests differ.
  virtual ExchangeOutcome carry_out(const PreparedCollective& asked, Clock::time_point arrived,
                                    Clock::duration spin) = 0;
  /// As Communicator::abort().
  virtual void abort(const std::string& reason) noexcept = 0;
  /// The communicator is destroyed: no more requests from this rank.
  virtual void leave() noexcept {}
};

std::unique_ptr<Communicator> make_host_communicator(std::unique_ptr<HostExchange> exchange);

}  // namespace gpubench
