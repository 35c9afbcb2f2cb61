#include "core/comm/staged/staged_collective.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench {
namespace {

/// Aligns the offsets of tensors in host memory.
std::size_t rounded_up(std::size_t bytes) {
  return (bytes + TensorPieces::grain - 1) / TensorPieces::grain * TensorPieces::grain;
}

/// An empty tensor whose shape is another's: pieces that look alike are of different collectives then.
TensorType mark_of(const TensorType& whole) {
  TensorType mark = whole;
  mark.shape.insert(mark.shape.begin(), 0);
  return mark;
}

}  // namespace

void StagedCollective::assign(const Collective& collective) {
  used_ = 0;
  types_.clear();
  if (tensors_ == StagedTensors::in_place) {
    add_piece(collective).collective.tensors = collective.tensors;
    return;
  }
  if (collective.kind == CollectiveKind::all_gather || collective.kind == CollectiveKind::reduce_scatter)
    return assign_parts(collective);
  std::size_t bytes = 0;
  offsets_.clear();
  for (const TensorView& tensor : collective.tensors) {
    offsets_.push_back(bytes);
    bytes += rounded_up(tensor.type->bytes());
  }
  claim(bytes);
  cuts_.assign(collective.tensors);
  return cuts_.bytes() <= piece_bytes ? assign_whole(collective) : assign_pieces(collective);
}

std::byte* StagedCollective::claim(std::size_t bytes) {
  if (memory_.bytes() < bytes) {
    memory_ = {};
    memory_ = device_.host_memory()->allocate(bytes, "tensors that are exchanged");
  }
  return memory_.data();
}

StagedCollective::Piece& StagedCollective::add_piece(const Collective& of) {
  if (used_ == pieces_.size()) {
    pieces_.emplace_back();
    pieces_.back().arrived = device_.new_event();
  }
  Piece& piece = pieces_[used_++];
  piece.collective.kind = of.kind;
  piece.collective.reduction = of.reduction;
  piece.collective.root = of.root;
  piece.collective.tensors.clear();
  piece.out.clear();
  piece.back.clear();
  return piece;
}

void StagedCollective::add(Piece& piece, const TensorType& type, const Copy& copy, bool sends, bool receives) {
  piece.collective.tensors.push_back({&type, copy.host});
  if (sends) piece.out.push_back(copy);
  if (receives) piece.back.push_back(copy);
}

void StagedCollective::assign_whole(const Collective& collective) {
  Piece& piece = add_piece(collective);
  const bool broadcast = collective.kind == CollectiveKind::broadcast, root = collective.root == rank_;
  for (std::size_t i = 0; i < collective.tensors.size(); ++i) {
    const TensorView& tensor = collective.tensors[i];
    const Copy copy{tensor.data, memory_.data() + offsets_[i], tensor.type->bytes()};
    add(piece, *tensor.type, copy, !broadcast || root, !broadcast || !root);
  }
}

void StagedCollective::assign_pieces(const Collective& collective) {
  const bool broadcast = collective.kind == CollectiveKind::broadcast, root = collective.root == rank_;
  for (std::size_t from = 0; from < cuts_.bytes(); from += piece_bytes) {
    Piece& piece = add_piece(collective);
    const std::size_t to = std::min(from + piece_bytes, cuts_.bytes());
    cuts_.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
      const TensorView& whole = collective.tensors[tensor];
      const Dtype dtype = whole.type->dtype;
      const TensorType& type =
          types_.emplace_back(TensorType{{static_cast<std::int64_t>(bytes / size_of(dtype))}, dtype});
      const Copy copy{whole.data + first, memory_.data() + offsets_[tensor] + first, bytes};
      add(piece, type, copy, !broadcast || root, !broadcast || !root);
    });
    if (from != 0) continue;
    for (const TensorView& tensor : collective.tensors)
      piece.collective.tensors.push_back({&types_.emplace_back(mark_of(*tensor.type)), memory_.data()});
  }
}

void StagedCollective::assign_parts(const Collective& collective) {
  const TensorView &in = collective.tensors[0], &out = collective.tensors[1];
  const std::size_t in_bytes = in.type->bytes(), out_bytes = out.type->bytes();
  Piece& piece = add_piece(collective);
  const bool gather = collective.kind == CollectiveKind::all_gather;
  std::byte* const host = claim(gather ? out_bytes : rounded_up(in_bytes) + out_bytes);
  std::byte* const host_in = gather ? host + in_bytes * static_cast<std::size_t>(rank_) : host;
  add(piece, *in.type, {in.data, host_in, in_bytes}, true, false);
  add(piece, *out.type, {out.data, gather ? host : host + rounded_up(in_bytes), out_bytes}, false, true);
}

void StagedCollective::copy_out(Stream& stream) {
  for (std::size_t i = 0; i < used_; ++i) {
    for (const Copy& copy : pieces_[i].out) stream.copy(copy.host, copy.device, copy.bytes);
    stream.record(*pieces_[i].arrived);
  }
}

void StagedCollective::copy_back(std::size_t index, Stream& stream) const {
  for (const Copy& copy : pieces_[index].back) stream.copy(copy.device, copy.host, copy.bytes);
}

}  // namespace gpubench
