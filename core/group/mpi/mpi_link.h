// Messages between processes, through MPI's non-blocking calls alone, so that every wait can end: a blocking call of
// MPI never returns once its peer is gone. Channels keep what belongs together in order; a channel that was given up is
// used no more, and what was under way on it disturbs no other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/group/mpi/mpi_library.h"
#include "core/group/watch/peer_watch.h"

namespace gpubench {

class MpiLink {
 public:
  /// Starts MPI in this process; it must not have been started before.
  MpiLink();
  /// Ends it in order, unless a peer is lost: MPI would wait for it for ever. Nothing can be sent any more.
  void finish();
  ~MpiLink() { finish(); }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const MpiLibrary& library() const { return library_; }
  /// From now on waits end when it says so. It must outlive the link's waits.
  void set_watch(PeerWatch* watch) { watch_ = watch; }
  PeerWatch* watch() const { return watch_; }

 private:
  MpiLibrary library_;
  PeerWatch* watch_ = nullptr;
  bool finished_ = false;
  int rank_ = 0, size_ = 1;
};

/// The messages of one channel that are under way. Memory stays valid until they are done; receives that are given up,
/// as after an error, are cancelled first.
class MpiTransfers {
 public:
  /// How to wait. hot: without sleeping, because the peers are about to send. for_others: with ever longer sleeps.
  enum class Patience : std::uint8_t { hot, for_others };

  MpiTransfers(MpiLink& link, int channel, const WaitEnd* end) : link_(&link), channel_(channel), end_(end) {}
  MpiTransfers(MpiTransfers&&) = default;
  ~MpiTransfers();

  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);
  /// Until all are done. Throws PeerLost, Interrupted and TimedOut.
  void wait(Patience patience);

 private:
  bool done();
  void check_end() const;
  void cancel();

  MpiLink* link_;
  int channel_;
  const WaitEnd* end_;
  std::vector<MPI_Request> requests_;
  std::vector<char> is_receive_;
};

}  // namespace gpubench
