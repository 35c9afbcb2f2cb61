#include "core/comm/mpi/mpi_exchange.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/comm/collective.h"
#include "core/comm/reduce.h"

namespace gpubench {
namespace {

/// Up to this many bytes in total to all others, one message each is faster than two messages of half the size.
constexpr std::size_t most_small_bytes = std::size_t{32} << 10;
/// Size of a part of a piece: copies stay in the caches, and the next piece is in transit while one is added. A third
/// piece in transit, or smaller pieces, cost more than they gain: 5 % at 8 MiB between two processes of one machine.
constexpr std::size_t part_bytes = std::size_t{1} << 20;
constexpr std::size_t most_message_bytes = std::size_t{4} << 20;
constexpr std::size_t stages = 2;

}  // namespace

/// One piece on its way: parts by rank, this rank's added up here.
struct MpiExchange::Stage {
  explicit Stage(MpiExchange& exchange) : scattered(exchange.transfers()), gathered(exchange.transfers()) {}
  std::size_t from = 0, to = 0;
  bool in_use = false;
  std::vector<std::vector<std::byte>> received;  // by rank: its contribution to this rank's part
  std::vector<Row> packed;           // by rank: parts that lie in several tensors, in one row; a GPU's own part always
  MpiTransfers scattered, gathered;  // end first
};

namespace {

struct Stretch {
  std::byte* data = nullptr;  // nullptr: it lies in several tensors
  std::size_t bytes = 0;
};

Stretch span_of(const TensorPieces& pieces, const Collective& collective, std::size_t from, std::size_t to) {
  Stretch span;
  int count = 0;
  pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    span.data = ++count == 1 ? collective.tensors[tensor].data + first : nullptr;
    span.bytes += bytes;
  });
  return span;
}

[[noreturn]] void refuse_unlike(const Collective& collective, std::string_view who, std::string_view detail) {
  throw Error(
      fmt::format("{} of {} in {} tensors: {} asks for another collective, or with other types; all must ask for the "
                  "same in the same order{}",
                  to_string(collective.kind), format_bytes(static_cast<double>(collective.bytes())),
                  collective.tensors.size(), who, detail));
}

/// In a message: the next tensor begins where elements of any type may.
std::size_t room_for(const TensorView& tensor) {
  constexpr std::size_t widest = sizeof(std::int64_t);
  return align_up(tensor.type->bytes(), widest);
}

}  // namespace

/// Calls visit(rank) for every rank but this one.
template <class Visit>
void MpiExchange::for_others(const Visit& visit) const {
  for (int rank = 0; rank < link_.size(); ++rank) {
    if (rank != link_.rank()) visit(rank);
  }
}

MpiExchange::MpiExchange(MpiLink& link, int channel, Device* gpu)
    : link_(link),
      channel_(channel),
      end_(link.watch()->channel(channel)),
      meeting_(transfers()),
      sources_(static_cast<std::size_t>(link.size())) {
  if (gpu == nullptr) return;
  locked_ = gpu->host_memory();
  copies_ = gpu->new_stream();
}

MpiExchange::~MpiExchange() = default;

void MpiExchange::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (in_reach())
    std::memcpy(to, from, bytes);
  else
    copies_->copy(to, from, bytes);
}

void MpiExchange::settle() {
  if (!in_reach()) copies_->synchronize();
}

void MpiExchange::pack(const Collective& collective, std::size_t from, std::size_t to, std::byte* row) {
  asked_->pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    copy(row, collective.tensors[tensor].data + first, bytes);
    row += bytes;
  });
}

void MpiExchange::unpack(const Collective& collective, std::size_t from, std::size_t to, const std::byte* row) {
  asked_->pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    copy(collective.tensors[tensor].data + first, row, bytes);
    row += bytes;
  });
}

bool MpiExchange::is_small(const Collective& collective) const {
  return collective.kind == CollectiveKind::all_reduce &&
         collective.bytes() * static_cast<std::size_t>(std::max(1, link_.size() - 1)) <= most_small_bytes;
}

std::string MpiExchange::algorithm(const Collective& collective) const {
  if (collective.kind == CollectiveKind::broadcast) return "tree";
  return collective.kind == CollectiveKind::all_reduce && !is_small(collective) ? "pieces" : "direct";
}

ExchangeOutcome MpiExchange::carry_out(const PreparedCollective& asked, Clock::time_point arrived, Clock::duration) {
  asked_ = &asked;
  ExchangeOutcome outcome{.arrived = arrived, .last_arrived = arrived, .done = arrived, .last_rank = -1};
  try {
    exchange(asked.collective, outcome);
  } catch (...) {
    give_up();
    throw;
  }
  outcome.done = Clock::now();
  return outcome;
}

/// Ensures that nothing more is received into tensors or copied.
void MpiExchange::give_up() noexcept {
  try {
    settle();
  } catch (const Error&) {  // an error of the GPU, reported to those who wait for its stream
  }
  stages_.clear();
}

void MpiExchange::exchange(const Collective& collective, ExchangeOutcome& outcome) {
  if (collective.kind == CollectiveKind::all_reduce)
    return is_small(collective) ? reduce_small(collective, outcome) : reduce_in_pieces(collective, outcome);
  greet(0);
  meet(collective, outcome);
  if (collective.kind == CollectiveKind::all_gather) return all_gather(collective);
  if (collective.kind == CollectiveKind::reduce_scatter) return reduce_scatter(collective);
  broadcast(collective);
}

void MpiExchange::greet(std::size_t payload) {
  slot_bytes_ = sizeof(Arrival) + payload;
  sent_.resize(std::max(sent_.size(), slot_bytes_));
  received_.resize(std::max(received_.size(), slot_bytes_ * static_cast<std::size_t>(link_.size())));
  const Arrival mine{.signature = asked_->signature, .waited_ns = waited_ns_};
  std::memcpy(sent_.data(), &mine, sizeof mine);
  // Receives allow the largest possible message: another rank's request may be larger, which its signature reveals.
  for_others([&](int rank) { meeting_.receive(rank, slot(rank), slot_bytes_); });
  for_others([&](int rank) { meeting_.send(rank, sent_.data(), slot_bytes_); });
}

void MpiExchange::meet(const Collective& collective, ExchangeOutcome& outcome) {
  const Clock::time_point before = Clock::now();
  try {
    meeting_.wait(MpiTransfers::Patience::for_others);
  } catch (const DeviceError& error) {  // a message that is longer than what all others ask for
    refuse_unlike(collective, "another process", fmt::format(" ({})", error.what()));
  }
  outcome.last_arrived = std::max(outcome.arrived, Clock::now());
  std::memcpy(slot(link_.rank()), sent_.data(), slot_bytes_);

  Arrival mine;
  std::memcpy(&mine, sent_.data(), sizeof mine);
  std::int64_t shortest = -1;
  for (int rank = 0; rank < link_.size(); ++rank) {
    Arrival other;
    std::memcpy(&other, slot(rank), sizeof other);
    if (other.signature != mine.signature) refuse_unlike(collective, fmt::format("process {}", rank), "");
    if (!has_met_ || (shortest >= 0 && other.waited_ns >= shortest)) continue;
    shortest = other.waited_ns;
    outcome.last_rank = rank;
  }
  has_met_ = true;
  waited_ns_ = std::chrono::nanoseconds(outcome.last_arrived - before).count();
}

void MpiExchange::reduce_small(const Collective& collective, ExchangeOutcome& outcome) {
  std::size_t bytes = 0;
  for (const TensorView& tensor : collective.tensors) bytes += room_for(tensor);
  sent_.resize(std::max(sent_.size(), sizeof(Arrival) + bytes));
  std::byte* row = sent_.data() + sizeof(Arrival);
  for (const TensorView& tensor : collective.tensors) {
    copy(row, tensor.data, tensor.type->bytes());
    row += room_for(tensor);
  }
  settle();
  greet(bytes);
  meet(collective, outcome);
  std::size_t at = sizeof(Arrival);
  for (const TensorView& tensor : collective.tensors) {
    for (int rank = 0; rank < link_.size(); ++rank) sources_[static_cast<std::size_t>(rank)] = slot(rank) + at;
    std::byte* const destination = in_reach() ? tensor.data : slot(link_.rank()) + at;
    reduce(tensor.type->dtype, collective.reduction, sources_, {&destination, 1},
           static_cast<std::size_t>(tensor.elements()));
    if (!in_reach()) copy(tensor.data, destination, tensor.type->bytes());
    at += room_for(tensor);
  }
  settle();
}

/// The offset at which rank `part`'s part of the piece [from, to) begins.
std::size_t MpiExchange::cut(std::size_t from, std::size_t to, int part) const {
  const std::size_t share =
      (to - from) / static_cast<std::size_t>(link_.size()) / TensorPieces::grain * TensorPieces::grain;
  return part == link_.size() ? to : from + share * static_cast<std::size_t>(part);
}

void MpiExchange::reduce_in_pieces(const Collective& collective, ExchangeOutcome& outcome) {
  while (stages_.size() < stages) stages_.push_back(std::make_unique<Stage>(*this));
  const std::size_t whole = asked_->pieces.bytes(), most = part_bytes * static_cast<std::size_t>(link_.size());
  const std::size_t length = whole <= 2 * most ? whole : most;  // two pieces hide nothing: 1.3 times as long at 4 MiB
  const std::size_t count = (whole + length - 1) / length;
  const auto stage = [&](std::size_t piece) -> Stage& { return *stages_[piece % stages]; };
  const auto begin = [&](std::size_t piece) {
    if (piece >= count) return;
    finish(collective, stage(piece));
    scatter(collective, stage(piece), piece * length, std::min(whole, (piece + 1) * length));
  };
  // Only then: Open MPI writes beyond the end of a receive where a longer message comes that the receiver fetches.
  greet(0);
  meet(collective, outcome);
  begin(0);
  for (std::size_t piece = 0; piece < count; ++piece) {
    begin(piece + 1);
    stage(piece).scattered.wait(MpiTransfers::Patience::hot);
    add_up(collective, stage(piece));
    gather(collective, stage(piece));
  }
  for (std::size_t i = 0; i < stages; ++i) finish(collective, *stages_[i]);
}

/// Sends each rank what it adds up.
void MpiExchange::scatter(const Collective& collective, Stage& stage, std::size_t from, std::size_t to) {
  const auto ranks = static_cast<std::size_t>(link_.size());
  stage.from = from, stage.to = to, stage.in_use = true;
  stage.received.resize(ranks);
  stage.packed.resize(ranks);
  const Stretch own = span_of(asked_->pieces, collective, cut(from, to, link_.rank()), cut(from, to, link_.rank() + 1));
  for_others([&](int rank) {
    std::vector<std::byte>& room = stage.received[static_cast<std::size_t>(rank)];
    room.resize(std::max(room.size(), own.bytes));
    stage.scattered.receive(rank, room.data(), own.bytes);
  });
  std::vector<Stretch> parts(ranks);
  for (int rank = 0; rank < link_.size(); ++rank) {
    const std::size_t first = cut(from, to, rank), last = cut(from, to, rank + 1);
    Stretch& part = parts[static_cast<std::size_t>(rank)] = span_of(asked_->pieces, collective, first, last);
    const bool here = rank == link_.rank();
    if (here ? in_reach() : part.data != nullptr) continue;
    part.data = stage.packed[static_cast<std::size_t>(rank)].grow(part.bytes, locked_);
    pack(collective, first, last, part.data);
  }
  settle();
  for_others([&](int rank) {
    const Stretch& part = parts[static_cast<std::size_t>(rank)];
    stage.scattered.send(rank, part.data, part.bytes);
  });
}

void MpiExchange::add_up(const Collective& collective, Stage& stage) {
  std::size_t at = 0;
  std::byte* const row = stage.packed[static_cast<std::size_t>(link_.rank())].data();
  const auto add = [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    const TensorView& view = collective.tensors[tensor];
    std::byte* const own = in_reach() ? view.data + first : row + at;
    for (std::size_t rank = 0; rank < sources_.size(); ++rank)
      sources_[rank] = static_cast<int>(rank) == link_.rank() ? own : stage.received[rank].data() + at;
    reduce(view.type->dtype, collective.reduction, sources_, {&own, 1}, bytes / size_of(view.type->dtype));
    at += bytes;
  };
  asked_->pieces.for_each(cut(stage.from, stage.to, link_.rank()), cut(stage.from, stage.to, link_.rank() + 1), add);
}

/// Sends all ranks what this one has added up.
void MpiExchange::gather(const Collective& collective, Stage& stage) {
  for_others([&](int rank) {
    Stretch part =
        span_of(asked_->pieces, collective, cut(stage.from, stage.to, rank), cut(stage.from, stage.to, rank + 1));
    if (part.data == nullptr) part.data = stage.packed[static_cast<std::size_t>(rank)].grow(part.bytes, locked_);
    stage.gathered.receive(rank, part.data, part.bytes);
  });
  const std::size_t first = cut(stage.from, stage.to, link_.rank()), last = cut(stage.from, stage.to, link_.rank() + 1);
  Stretch own = span_of(asked_->pieces, collective, first, last);
  Row& row = stage.packed[static_cast<std::size_t>(link_.rank())];
  if (!in_reach()) {
    own.data = row.data();
    unpack(collective, first, last, own.data);
  } else if (own.data == nullptr) {
    own.data = row.grow(own.bytes, locked_);
    pack(collective, first, last, own.data);
  }
  for_others([&](int rank) { stage.gathered.send(rank, own.data, own.bytes); });
}

void MpiExchange::finish(const Collective& collective, Stage& stage) {
  if (!stage.in_use) return;
  stage.in_use = false;
  stage.gathered.wait(MpiTransfers::Patience::hot);
  for_others([&](int rank) {
    const std::size_t first = cut(stage.from, stage.to, rank), last = cut(stage.from, stage.to, rank + 1);
    if (span_of(asked_->pieces, collective, first, last).data == nullptr)
      unpack(collective, first, last, stage.packed[static_cast<std::size_t>(rank)].data());
  });
  settle();
}

void MpiExchange::all_gather(const Collective& collective) {
  const TensorView &part = collective.tensors[0], &whole = collective.tensors[1];
  const std::size_t bytes = part.type->bytes();
  const auto place = [&](int rank) { return whole.data + static_cast<std::size_t>(rank) * bytes; };
  if (place(link_.rank()) != part.data) copy(place(link_.rank()), part.data, bytes);
  settle();
  for (std::size_t at = 0; at < bytes; at += most_message_bytes) {
    const std::size_t length = std::min(most_message_bytes, bytes - at);
    MpiTransfers messages = transfers();
    for_others([&](int rank) { messages.receive(rank, place(rank) + at, length); });
    for_others([&](int rank) { messages.send(rank, part.data + at, length); });
    messages.wait(MpiTransfers::Patience::hot);
  }
}

void MpiExchange::reduce_scatter(const Collective& collective) {
  const TensorView &whole = collective.tensors[0], &part = collective.tensors[1];
  const std::size_t bytes = part.type->bytes(), element = size_of(part.type->dtype);
  const auto place = [&](int rank) { return whole.data + static_cast<std::size_t>(rank) * bytes; };
  slot_bytes_ = std::min(part_bytes, bytes);
  received_.resize(std::max(received_.size(), slot_bytes_ * static_cast<std::size_t>(link_.size())));
  for (std::size_t at = 0; at < bytes; at += slot_bytes_) {
    const std::size_t length = std::min(slot_bytes_, bytes - at);
    MpiTransfers messages = transfers();
    for (int rank = 0; rank < link_.size(); ++rank) {
      const bool own = rank == link_.rank();
      sources_[static_cast<std::size_t>(rank)] = own && in_reach() ? place(rank) + at : slot(rank);
      if (!own) messages.receive(rank, slot(rank), length);
      if (own && !in_reach()) copy(slot(rank), place(rank) + at, length);
    }
    for_others([&](int rank) { messages.send(rank, place(rank) + at, length); });
    messages.wait(MpiTransfers::Patience::hot);
    settle();
    std::byte* const destination = in_reach() ? part.data + at : slot(link_.rank());
    reduce(part.type->dtype, collective.reduction, sources_, {&destination, 1}, length / element);
    if (!in_reach()) copy(part.data + at, destination, length);
    settle();
  }
}

/// A binomial tree: rank r, counted from the root, gets all from r without its highest bit.
void MpiExchange::broadcast(const Collective& collective) {
  const int size = link_.size(), own = (link_.rank() - collective.root + size) % size;
  const auto rank_of = [&](int place) { return (place + collective.root) % size; };
  int above = 1;
  while (above * 2 <= own) above *= 2;
  MpiTransfers onwards = transfers();
  for (const TensorView& tensor : collective.tensors) {
    for (std::size_t at = 0; at < tensor.type->bytes(); at += part_bytes) {
      const std::size_t length = std::min(part_bytes, tensor.type->bytes() - at);
      if (own > 0) {
        MpiTransfers from_above = transfers();
        from_above.receive(rank_of(own - above), tensor.data + at, length);
        from_above.wait(MpiTransfers::Patience::hot);
      }
      for (int bit = own == 0 ? 1 : above * 2; own + bit < size; bit *= 2)
        onwards.send(rank_of(own + bit), tensor.data + at, length);
    }
  }
  onwards.wait(MpiTransfers::Patience::hot);
}

}  // namespace gpubench
