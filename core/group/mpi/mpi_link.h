// Messages between processes through MPI's non-blocking calls only, so that every wait can be ended: a blocking MPI
// call never returns if its peer is lost. Messages within a channel are ordered; an abandoned channel is not reused, so
// its pending messages cannot disturb others.
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
  /// Initializes MPI, which must not have been initialized before.
  MpiLink();
  /// Finalizes MPI, unless a peer is lost: MPI would wait for it forever. No message can be sent afterwards.
  void finish();
  ~MpiLink() { finish(); }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const MpiLibrary& library() const { return library_; }
  /// Lets the watch end waits from now on. It must outlive all waits of the link.
  void set_watch(PeerWatch* watch) { watch_ = watch; }
  PeerWatch* watch() const { return watch_; }

 private:
  MpiLibrary library_;
  PeerWatch* watch_ = nullptr;
  bool finished_ = false;
  int rank_ = 0, size_ = 1;
};

/// The pending messages of one channel. Their memory must stay valid until they are done; receives abandoned after an
/// error are cancelled first.
class MpiTransfers {
 public:
  /// How to wait. hot: by spinning, because the peers are about to send. for_others: with growing sleeps.
  enum class Patience : std::uint8_t { hot, for_others };

  MpiTransfers(MpiLink& link, int channel, const WaitEnd* end) : link_(&link), channel_(channel), end_(end) {}
  MpiTransfers(MpiTransfers&&) = default;
  ~MpiTransfers();

  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);
  /// Waits until all are done. Throws PeerLost, Interrupted and TimedOut.
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
