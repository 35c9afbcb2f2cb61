#include "core/comm/local/local_exchange.h"

#include <cstring>
#include <fmt/format.h>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/comm/collective.h"
#include "core/comm/reduce.h"

namespace gpubench {
namespace {

/// Places of staged tensors are aligned for every element type.
constexpr std::size_t staged_alignment = 64;

/// The tensors that other ranks read: all inputs.
std::span<const TensorView> inputs(const Collective& collective) {
  const std::span all(collective.tensors);
  const bool one = collective.kind == CollectiveKind::all_gather || collective.kind == CollectiveKind::reduce_scatter;
  return one ? all.first(1) : all;
}

std::size_t staged_at(const Collective& collective, std::size_t tensor) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tensor; ++i) at += align_up(collective.tensors[i].type->bytes(), staged_alignment);
  return at;
}

/// Calls visit(tensor, elements, place) for the sums of each tensor, one after the other in staged memory.
template <class Visit>
void for_each_sum(const Collective& collective, const Visit& visit) {
  std::size_t at = 0;
  for (const TensorView& tensor : collective.tensors) {
    const auto elements = static_cast<std::size_t>(tensor.elements());
    visit(tensor, elements, at);
    at += align_up(elements * size_of(sum_dtype(tensor.type->dtype)), staged_alignment);
  }
}

bool is_staged(const Collective& collective) {
  return staged_at(collective, inputs(collective).size()) <= LocalGroup::staged_bytes;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

LocalExchange::LocalExchange(std::shared_ptr<LocalGroup> group, int rank, std::optional<LocalAlgorithm> all_reduce)
    : group_(std::move(group)),
      rank_(rank),
      chosen_(all_reduce),
      meets_in_tree_(chosen_ == LocalAlgorithm::tree || group_->size() > LocalGroup::flat_ranks),
      place_(group_->place(rank)),
      ring_(*group_, rank),
      sources_(static_cast<std::size_t>(group_->size())),
      destinations_(sources_.size()) {
  for (const int part : group_->help_order(rank)) help_order_.push_back(static_cast<std::size_t>(part));
}

void LocalExchange::check(const Collective& collective) const {
  const LocalAlgorithm how = way(collective);
  const bool needs_copies = how == LocalAlgorithm::tree || how == LocalAlgorithm::direct;
  if (collective.kind != CollectiveKind::all_reduce || !needs_copies || is_staged(collective)) return;
  throw Error(
      fmt::format("all_reduce: the algorithm \"{}\" is for messages of up to {}, got {}; \"parts\" and "
                  "\"ring\" take any",
                  to_string(how), format_bytes(static_cast<double>(LocalGroup::staged_bytes)),
                  format_bytes(static_cast<double>(collective.bytes()))));
}

bool LocalExchange::is_done(const Collective& collective) const {
  const bool in_place = collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::broadcast;
  return in_place && size() == 1;
}

LocalAlgorithm LocalExchange::way(const Collective& collective) const {
  if (collective.kind != CollectiveKind::all_reduce) return LocalAlgorithm::direct;
  if (chosen_) return *chosen_;
  // On n ranks a ring moves up to 5 n bytes of memory for each byte of the message, parts move 2 n: even where it
  // brings fewer over the link between memory nodes, that link would have to be far slower than memory.
  if (!is_staged(collective)) return LocalAlgorithm::parts;
  return group_->size() > LocalGroup::flat_ranks ? LocalAlgorithm::tree : LocalAlgorithm::direct;
}

ExchangeOutcome LocalExchange::carry_out(const PreparedCollective& local, Clock::time_point arrived,
                                         Clock::duration spin) {
  group_->check_alive();
  const Collective& collective = local.collective;
  const LocalAlgorithm how = way(collective);
  const bool staged = is_staged(collective) && (how == LocalAlgorithm::direct || how == LocalAlgorithm::tree);
  parity_ = ++arrivals_ % 2;
  Member& mine = member(rank_);
  mine.requests[parity_] = {&collective, local.signature, arrived, true, arrived, rank_};
  mine.pieces_taken[parity_].store(0, std::memory_order_relaxed);
  if (staged) stage(collective);

  ExchangeOutcome outcome{arrived, arrived, arrived, rank_};
  meet(collective, outcome, spin);
  if (how == LocalAlgorithm::tree) {
    finish_tree(collective);
  } else if (staged) {
    finish_direct(collective, [&](std::size_t rank, std::size_t tensor) -> const std::byte* {
      return member(static_cast<int>(rank)).staged[parity_].get() + staged_at(collective, tensor);
    });
  } else if (how == LocalAlgorithm::ring) {
    ring_.all_reduce(local, parity_, spin);
    depart(spin);
  } else {
    {
      const LocalGroup::Work work(*group_, mine);
      finish_in_place(local);
    }
    depart(spin);
  }
  outcome.done = Clock::now();
  return outcome;
}

void LocalExchange::meet(const Collective& collective, ExchangeOutcome& outcome, Clock::duration spin) {
  if (meets_in_tree_)
    meet_in_tree(collective, spin);
  else
    meet_all(spin);
  const LocalRequest& known = member(rank_).requests[parity_];
  outcome.last_arrived = known.last_arrived;
  outcome.last_rank = known.last_rank;
  if (!known.alike) refuse_unlike(spin);
}

void LocalExchange::meet_all(Clock::duration spin) {
  LocalRequest& mine = member(rank_).requests[parity_];
  bool alike = true;
  Clock::time_point last_arrived = Clock::time_point::min();
  int last_rank = 0;
  member(rank_).arrivals.raise();
  for (int rank = 0; rank < group_->size(); ++rank) {
    group_->wait(member(rank).arrivals, arrivals_, rank, spin);
    const LocalRequest& other = member(rank).requests[parity_];
    if (other.arrived > last_arrived) last_arrived = other.arrived, last_rank = rank;
    alike = alike && other.signature == mine.signature;
  }
  // No other rank reads these here.
  mine.alike = alike, mine.last_arrived = last_arrived, mine.last_rank = last_rank;
}

void LocalExchange::meet_in_tree(const Collective& collective, Clock::duration spin) {
  LocalRequest& mine = member(rank_).requests[parity_];
  for (const int child : place_.children) {
    group_->wait(member(child).arrivals, arrivals_, child, spin);
    const LocalRequest& below = member(child).requests[parity_];
    if (below.last_arrived > mine.last_arrived) {
      mine.last_arrived = below.last_arrived;
      mine.last_rank = below.last_rank;
    }
    mine.alike = mine.alike && below.alike && below.signature == mine.signature;
  }
  const bool adds = way(collective) == LocalAlgorithm::tree;
  if (adds && mine.alike) add_up(collective);
  member(rank_).arrivals.raise();
  if (place_.parent >= 0) {
    Member& parent = member(place_.parent);
    group_->wait(parent.releases, arrivals_, place_.parent, spin);
    const LocalRequest& whole = parent.requests[parity_];
    mine.alike = whole.alike, mine.last_arrived = whole.last_arrived, mine.last_rank = whole.last_rank;
    if (adds && mine.alike) {
      std::size_t bytes = 0;
      for_each_sum(collective, [&](const TensorView& tensor, std::size_t elements, std::size_t at) {
        bytes = at + elements * size_of(sum_dtype(tensor.type->dtype));
      });
      copy_bytes(member(rank_).staged[parity_].get(), parent.staged[parity_].get(), bytes);
    }
  }
  member(rank_).releases.raise();
}

void LocalExchange::add_up(const Collective& collective) {
  std::byte* const own = member(rank_).staged[parity_].get();
  for_each_sum(collective, [&](const TensorView& tensor, std::size_t elements, std::size_t at) {
    sources_[0] = own + at;
    std::size_t count = 1;
    for (const int child : place_.children) sources_[count++] = member(child).staged[parity_].get() + at;
    std::byte* const to = own + at;
    reduce(sum_dtype(tensor.type->dtype), collective.reduction, std::span(sources_).first(count), {&to, 1}, elements);
  });
}

void LocalExchange::refuse_unlike(Clock::duration spin) {
  const std::uint64_t first = member(0).requests[parity_].signature;
  int other = 1;
  while (member(other).requests[parity_].signature == first) ++other;
  const std::string text = std::string(to_string(request(0).kind)) + ": all ranks must ask for the same; " +
                           difference(0, request(0), other, request(other));
  depart(spin);  // requests live until all have read them
  throw Error(text);
}

void LocalExchange::depart(Clock::duration spin) {
  ++departures_;
  member(rank_).departures.raise();
  for (int rank = 0; rank < group_->size(); ++rank) {
    group_->wait(member(rank).departures, departures_, rank, spin);
  }
}

void LocalExchange::stage(const Collective& collective) {
  if (collective.kind == CollectiveKind::broadcast && collective.root != rank_) return;
  std::byte* to = member(rank_).staged[parity_].get();
  if (way(collective) == LocalAlgorithm::tree) {
    for_each_sum(collective, [&](const TensorView& tensor, std::size_t elements, std::size_t at) {
      widen(tensor.type->dtype, tensor.data, to + at, elements);
    });
    return;
  }
  for (const TensorView& tensor : inputs(collective)) {
    copy_bytes(to, tensor.data, tensor.type->bytes());
    to += align_up(tensor.type->bytes(), staged_alignment);
  }
}

template <class Source>
void LocalExchange::finish_direct(const Collective& collective, const Source& source) {
  const auto own = static_cast<std::size_t>(rank_);
  const auto& tensors = collective.tensors;
  const auto reduce_to = [&](std::size_t tensor, std::size_t offset, const TensorView& result) {
    for (std::size_t rank = 0; rank < sources_.size(); ++rank) sources_[rank] = source(rank, tensor) + offset;
    std::byte* const to = result.data;
    reduce(result.type->dtype, collective.reduction, sources_, {&to, 1}, static_cast<std::size_t>(result.elements()));
  };
  switch (collective.kind) {
    case CollectiveKind::all_reduce:
      for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) reduce_to(tensor, 0, tensors[tensor]);
      break;
    case CollectiveKind::reduce_scatter:
      reduce_to(0, own * tensors[1].type->bytes(), tensors[1]);
      break;
    case CollectiveKind::all_gather: {
      const std::size_t bytes = tensors[0].type->bytes();
      for (std::size_t next = 0; next < sources_.size(); ++next) {
        const std::size_t rank = (own + next) % sources_.size();  // not all from the same one at once
        copy_bytes(tensors[1].data + rank * bytes, source(rank, 0), bytes);
      }
      break;
    }
    case CollectiveKind::broadcast:
      if (collective.root == rank_) break;
      for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
        copy_bytes(tensors[tensor].data, source(static_cast<std::size_t>(collective.root), tensor),
                   tensors[tensor].type->bytes());
      }
      break;
  }
}

void LocalExchange::finish_tree(const Collective& collective) {
  const std::byte* const sums = member(rank_).staged[parity_].get();
  for_each_sum(collective, [&](const TensorView& tensor, std::size_t elements, std::size_t at) {
    narrow(tensor.type->dtype, sums + at, tensor.data, elements);
  });
}

void LocalExchange::finish_in_place(const PreparedCollective& local) {
  const Collective& collective = local.collective;
  const std::size_t bytes = local.pieces.bytes(), ranks = sources_.size();
  if (collective.kind == CollectiveKind::all_reduce && chosen_ == LocalAlgorithm::reduction_to_one) {
    if (rank_ == 0) reduce_range(local, 0, bytes);
  } else if (collective.kind == CollectiveKind::all_reduce) {
    share([&](std::size_t part) { return std::pair(bytes * part / ranks, bytes * (part + 1) / ranks); },
          [&](std::size_t, std::size_t from, std::size_t to) { reduce_range(local, from, to); });
  } else if (collective.kind == CollectiveKind::broadcast) {
    const auto root = static_cast<std::size_t>(collective.root);
    share([&](std::size_t part) { return std::pair(std::size_t{0}, part == root ? 0 : bytes); },
          [&](std::size_t part, std::size_t from, std::size_t to) { copy_range(local, part, from, to); });
  } else {
    finish_direct(collective, [&](std::size_t rank, std::size_t tensor) -> const std::byte* {
      return request(static_cast<int>(rank)).tensors[tensor].data;
    });
  }
}

template <class Bounds, class Piece>
void LocalExchange::share(const Bounds& bounds, const Piece& piece) {
  for (const std::size_t part : help_order_) {
    const auto [begin, end] = bounds(part);
    std::atomic<std::size_t>& taken = member(static_cast<int>(part)).pieces_taken[parity_];
    for (;;) {
      const std::size_t from = begin + piece_bytes * taken.fetch_add(1, std::memory_order_relaxed);
      if (from >= end) break;
      piece(part, from, std::min(from + piece_bytes, end));
    }
  }
}

void LocalExchange::reduce_range(const PreparedCollective& local, std::size_t from, std::size_t to) {
  local.pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    for (std::size_t rank = 0; rank < sources_.size(); ++rank) {
      destinations_[rank] = request(static_cast<int>(rank)).tensors[tensor].data + first;
      sources_[rank] = destinations_[rank];
    }
    const Dtype dtype = local.collective.tensors[tensor].type->dtype;
    reduce(dtype, local.collective.reduction, sources_, destinations_, bytes / size_of(dtype));
  });
}

void LocalExchange::copy_range(const PreparedCollective& local, std::size_t to_rank, std::size_t from, std::size_t to) {
  const Collective &source = request(local.collective.root), &destination = request(static_cast<int>(to_rank));
  local.pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    copy_bytes(destination.tensors[tensor].data + first, source.tensors[tensor].data + first, bytes);
  });
}

}  // namespace gpubench
