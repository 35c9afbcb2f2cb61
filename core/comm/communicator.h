// Moves tensors between ranks: replicas of one process, of several processes, or both. A communicator object belongs to
// one rank and is used by that rank's host thread. A single rank takes the same code path as many. Results are bytewise
// equal on all ranks and in every run.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/comm/collective.h"
#include "core/device/stream.h"

namespace gpubench {

/// Total cost of one rank's collectives so far; the cost of an interval is the difference of two readings.
struct CommunicationTimes {
  std::int64_t collectives = 0;
  double bytes = 0;            ///< sum of Collective::bytes()
  Seconds exchange{};          ///< time from the arrival of the last rank to the end, summed over collectives
  Seconds exposed_exchange{};  ///< part of `exchange` in which the kernels' stream was blocked
  Seconds peer_wait{};         ///< time in which the kernels' stream was blocked before the last rank had arrived
  /// By rank: how often that rank arrived last, as seen by this rank.
  std::vector<std::int64_t> last_arrivals;
};

class HostSpans;

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// For rows and messages: "local", "mpi", "nccl 2.28.3", "local and mpi".
  virtual std::string_view name() const = 0;
  /// The algorithm for a collective, for rows: "ring", "tree"; empty if the library does not report it.
  virtual std::string algorithm(const Collective& collective) const = 0;

  /// Runs a collective in order with `stream`, a stream of this rank's device. Throws PeerLost, DeviceError.
  virtual void run(const Collective& collective, Stream& stream) = 0;
  /// Prepares a collective that runs beside the kernels. Collectives of the ranks are matched by the order of their
  /// begin() and run() calls.
  virtual std::unique_ptr<SideWork> beside(Collective collective) = 0;
  /// Whether run() and collectives of beside() may be recorded in a CUDA graph; not if the host takes part in each of
  /// them.
  virtual bool recordable() const { return false; }
  /// Blocks until every rank has called it. Throws PeerLost.
  virtual void barrier() = 0;
  /// The numbers of all ranks, by rank: exchanged by the hosts, because a collective on devices that compute nothing
  /// (Device::emulation) moves no values. Every rank must give equally many. Throws PeerLost, and Error for ranks on
  /// other devices.
  virtual std::vector<std::vector<std::int64_t>> gather_on_hosts(const std::vector<std::int64_t>& numbers) {
    static_cast<void>(numbers);
    throw Error(std::string(name()) + ": its ranks exchange tensors, not numbers of the hosts");
  }
  /// Throws PeerLost if a peer is lost. A device's stream cannot report that and goes on, so results are valid only if
  /// check(), called after waiting for the stream, does not throw.
  virtual void check() {}
  /// Reports that a recording with this rank's `collectives` and `bytes` was launched on `stream`, so that they are
  /// counted and their time limit is watched.
  virtual void launched(Stream& stream, std::int64_t collectives, double bytes) {
    (void)stream, (void)collectives, (void)bytes;
  }

  /// Makes every current and later wait of all ranks throw PeerLost with `reason`, because this rank has failed and
  /// will not arrive. Thread-safe; the first reason counts.
  virtual void abort(const std::string& reason) noexcept = 0;
  /// While set, collectives of which the host knows the times add their spans: communication from the arrival of the
  /// last rank, peer_wait before. nullptr ends that. Default: a tracer of the devices shows them.
  virtual void set_spans(HostSpans* spans) { (void)spans; }
  /// Times are 0 if measuring them would disturb the collectives (NCCL).
  virtual CommunicationTimes times() const = 0;
};

}  // namespace gpubench
