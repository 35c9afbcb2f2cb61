// Moves tensors between ranks: the replicas of one process, of many, or of both. A communicator is one rank's end of it
// and belongs to that rank's host thread. One rank takes the same path as many, and is correct. Results are the same
// bytes on every rank, and from run to run.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/collective.h"
#include "core/device/device.h"

namespace gpubench {

/// What collectives have cost one rank so far; the cost of a stretch of time is the difference of two readings.
struct CommunicationTimes {
  std::int64_t collectives = 0;
  double bytes = 0;            ///< Collective::bytes() of all of them
  Seconds exchange{};          ///< from the arrival of the last rank to the end, of all of them
  Seconds exposed_exchange{};  ///< of that, the time in which the kernels' stream stood still
  Seconds peer_wait{};         ///< time in which the kernels' stream stood still before the last rank had arrived
  /// By rank: how often it was the last to arrive, as seen from here.
  std::vector<std::int64_t> last_arrivals;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// For rows and messages: "local", "mpi", "nccl 2.28.3", "local and mpi".
  virtual std::string_view name() const = 0;
  /// How it would carry out a collective, for rows: "ring", "tree"; empty where the library does not report it.
  virtual std::string algorithm(const Collective& collective) const = 0;

  /// In the order of `stream`, which is one of this rank's device. Throws PeerLost, DeviceError.
  virtual void run(const Collective& collective, Stream& stream) = 0;
  /// Prepares a collective to run beside the kernels. Collectives match those of other ranks by the order of their
  /// begin() and run() calls, whatever runs beside.
  virtual std::unique_ptr<SideWork> beside(Collective collective) = 0;
  /// Whether run() and the collectives of beside() may be recorded; they may not where the host takes part in each.
  virtual bool recordable() const { return false; }
  /// Blocks until every rank has called it. Throws PeerLost.
  virtual void barrier() = 0;
  /// Throws PeerLost once a peer is lost. A device's stream cannot report that and goes on: its results are valid only
  /// if this, called after the wait for the stream, does not throw.
  virtual void check() {}
  /// Reports that a recording with so many collectives and bytes of this rank was launched on `stream`: they are
  /// counted, and it is watched that they end in time.
  virtual void launched(Stream& stream, std::int64_t collectives, double bytes) {
    (void)stream, (void)collectives, (void)bytes;
  }

  /// Makes every wait of every rank of this communicator throw PeerLost with `reason`, now and from now on: this rank
  /// has failed and will not arrive. Any thread may call it; the first reason counts.
  virtual void abort(const std::string& reason) noexcept = 0;
  /// None where it cannot be known without disturbing what is measured.
  virtual CommunicationTimes times() const = 0;
};

}  // namespace gpubench
