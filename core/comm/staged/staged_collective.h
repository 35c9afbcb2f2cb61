// A collective on tensors in device memory, carried out on copies in page-locked host memory. A large one is split into
// pieces, so that one piece is exchanged while its neighbours are copied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/comm/collective.h"
#include "core/device/device.h"

namespace gpubench {

enum class StagedTensors : std::uint8_t { copied, in_place };

class StagedCollective {
 public:
  /// Piece size of an all-reduce or a broadcast. Copying one takes about 100 us on a link of 16 lanes, ten times the
  /// cost of starting a copy.
  static constexpr std::size_t piece_bytes = std::size_t{4} << 20;

  /// `rank`: of this rank among the exchanging ones; `device` must outlive it.
  StagedCollective(Device& device, int rank, StagedTensors tensors) : device_(device), rank_(rank), tensors_(tensors) {}

  /// Reuses its memory, so its previous collective must be complete. Throws OutOfMemory.
  void assign(const Collective& collective);
  std::size_t pieces() const { return used_; }
  /// The host-side collective of a piece; the same pieces on all ranks.
  const Collective& piece(std::size_t index) const { return pieces_[index].collective; }
  /// Queues copies of all pieces to the host.
  void copy_out(Stream& stream);
  /// Blocks until a piece queued by copy_out() has arrived.
  void wait_for(std::size_t index) const { pieces_[index].arrived->wait(); }
  /// Queues the copy of a piece's results to the device.
  void copy_back(std::size_t index, Stream& stream) const;

 private:
  struct Copy {
    std::byte* device = nullptr;
    std::byte* host = nullptr;
    std::size_t bytes = 0;
  };
  struct Piece {
    Collective collective;
    std::vector<Copy> out, back;
    std::unique_ptr<Event> arrived;
  };

  std::byte* claim(std::size_t bytes);
  Piece& add_piece(const Collective& of);
  void assign_whole(const Collective& collective);
  void assign_pieces(const Collective& collective);
  void assign_parts(const Collective& collective);
  static void add(Piece& piece, const TensorType& type, const Copy& copy, bool sends, bool receives);

  Device& device_;
  int rank_;
  StagedTensors tensors_;
  Buffer memory_;
  TensorPieces cuts_;
  std::deque<TensorType> types_;  // types of the pieces
  std::vector<std::size_t> offsets_;
  std::vector<Piece> pieces_;  // the first `used_` are in use
  std::size_t used_ = 0;
};

}  // namespace gpubench
