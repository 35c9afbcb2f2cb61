#include "core/data/interleave/round_robin.h"

#include <algorithm>

#include "core/data/element.h"
#include "core/data/element/packed_elements.h"
#include "core/data/interleave/readers.h"
#include "core/data/linked_stop.h"
#include "core/data/produced.h"
#include "core/data/tune/machine_limits.h"
#include "core/data/tune/tuner.h"

namespace gpubench {
namespace {

constexpr std::string_view interleaved_stage = "interleave";
constexpr std::string_view tuned_why =
    "one for each core; more, up to one for each input of the cycle, where these wait for inputs";
/// Capacities of the inputs' buffers. The cost of a hand-over is spread over half a buffer.
struct BufferLimits {
  std::int64_t each = 0;
  /// Sum over all inputs, unless `least_buffered` each is more: what fits into the caches.
  std::int64_t in_all = 0;
};
/// For elements that are handed over as Elements, and for packed elements.
constexpr BufferLimits whole_elements{256, 1024};
constexpr BufferLimits packed_elements{1024, 8192};
constexpr std::int64_t least_buffered = 4;

std::size_t buffer_for(const InterleaveOptions& settings, std::size_t places, TensorTypes types) {
  const BufferLimits limits = PackedElements::serves(types) ? packed_elements : whole_elements;
  const std::int64_t share = limits.in_all / static_cast<std::int64_t>(places);
  const std::int64_t two_blocks = 2 * std::min(settings.block_length, limits.each);
  const auto most = static_cast<std::size_t>(std::clamp(std::max(share, two_blocks), least_buffered, limits.each));
  return is_fixed(types) ? fitting_elements(element_bytes(types), most) : most;
}

/// Under AUTOTUNE, limited by the rest of the memory budget, for every input that threads may hold.
std::size_t first_buffer(const Dataset& dataset, const InterleaveOptions& settings, std::size_t places,
                         const CursorOptions& options) {
  const TensorTypes types = dataset.element_types();
  const std::size_t wanted = buffer_for(settings, places, types);
  if (settings.parallel != autotune || options.tuner == nullptr || !is_fixed(types)) return wanted;
  const auto bytes = static_cast<std::int64_t>(places * std::max<std::size_t>(element_bytes(types), 1));
  return static_cast<std::size_t>(options.tuner->first_setting(dataset, static_cast<int>(wanted), bytes, 0));
}

int threads_for(const InterleaveOptions& settings, std::int64_t inputs, const CursorOptions& options) {
  if (settings.parallel != autotune) return static_cast<int>(std::min(settings.parallel, inputs));
  const std::int64_t limit = options.tuner ? options.tuner->most_threads() : 0;
  const std::int64_t most = limit > 0 ? std::min(limit, most_interleaving_threads) : most_interleaving_threads;
  return static_cast<int>(std::min({settings.cycle_length, inputs, most}));
}

class InterleavedCursor final : public Cursor {
 public:
  InterleavedCursor(const Dataset& dataset, Inputs inputs, const InterleaveOptions& settings, std::uint64_t epoch,
                    const CursorOptions& options)
      : block_(settings.block_length),
        threads_(threads_for(settings, std::ssize(*inputs), options)),
        tuned_(settings.parallel == autotune),
        any_order_(!settings.deterministic.value_or(options.deterministic.value_or(true)) && threads_ > 0),
        cycle_(static_cast<std::size_t>(std::min<std::int64_t>(settings.cycle_length, std::ssize(*inputs)))),
        stop_(options.stop),
        packed_(threads_ > 0 && PackedElements::serves(dataset.element_types())),
        inputs_(std::move(inputs), epoch, stop_.with_stop(packed_ ? options.for_sources() : options)),
        readers_(inputs_, {.threads = threads_,
                           .first_threads = tuned_ ? std::min(threads_, schedulable_cores()) : threads_,
                           .block = block_,
                           .buffer = threads_ > 0 ? first_buffer(dataset, settings, cycle_.size(), options) : 1,
                           .sizes_vary = !is_fixed(dataset.element_types()),
                           .packed = packed_ ? dataset.element_types() : std::vector<TensorType>{},
                           .memory = options.memory}),
        produced_(dataset.element_types()) {
    for (InputLane*& lane : cycle_) lane = next_input();
  }
  ~InterleavedCursor() override { stop_.request(); }

  bool next(Element& element) override {
    if (threads_ == 0) {
      return advance(element,
                     [&](InputLane& lane) { return lane.read([&](Cursor& input) { return input.next(element); }); });
    }
    start();
    release(element);
    return advance(element, [&](InputLane& lane) { return readers_.take(lane, element); });
  }

  bool next_into(std::span<const TensorView> slots) override {
    if (threads_ > 0 && !packed_) return Cursor::next_into(slots);
    if (threads_ > 0) {
      start();
      return advance(slots, [&](InputLane& lane) { return readers_.take(lane, slots); });
    }
    return advance(slots,
                   [&](InputLane& lane) { return lane.read([&](Cursor& input) { return input.next_into(slots); }); });
  }

  /// Before threads have started, the inputs themselves can skip elements.
  std::int64_t skip(std::int64_t count) override {
    if (readers_.started()) return Cursor::skip(count);
    std::int64_t skipped = 0;
    while (skipped < count && find_open()) {
      const std::int64_t wanted = std::min(count - skipped, block_ - in_block_);
      const std::int64_t found = cycle_[place_]->skip(wanted);
      skipped += found;
      in_block_ += found;
      if (found < wanted) end_input();
    }
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = inputs_.statistics();
    stages.push_back(produced_.row(interleaved_stage));
    if (threads_ == 0) return stages;
    stages.back().why = tuned_ ? tuned_why : "as it was opened";
    const InputReaders::Figures figures = readers_.figures();
    stages.back().starved = figures.starved;
    stages.back().blocked = figures.blocked;
    stages.back().workers = figures.threads;
    stages.back().buffered = figures.buffered;
    stages.back().capacity = figures.capacity;
    stages.back().threads = figures.times;
    stages.back().held = figures.buffered;
    return stages;
  }

 private:
  template <class Given, class Take>
  bool advance(const Given& element, const Take& take) {
    while (any_order_ ? find_ready() : find_open()) {
      if (take(*cycle_[place_])) {
        ++in_block_;
        produced_.add(element);
        return true;
      }
      end_input();
    }
    return false;
  }

  /// Moves to the next place in turn; false when all inputs have ended.
  bool find_open() {
    if (in_block_ == block_) move_on();
    return find([](const InputLane& /*lane*/) { return true; });
  }

  /// Moves to the next place with a ready element.
  bool find_ready() {
    if (!find_open()) return false;
    const auto ready = [this] { return find([](InputLane& lane) { return lane.is_ready(); }); };
    if (!ready()) readers_.await_any(ready);
    return true;
  }

  template <class Fits>
  bool find(const Fits& fits) {
    for (std::size_t tried = 0; tried < cycle_.size(); ++tried) {
      if (cycle_[place_] != nullptr && fits(*cycle_[place_])) return true;
      move_on();
    }
    return false;
  }

  void end_input() {
    readers_.leave(*cycle_[place_]);
    cycle_[place_] = next_input();
    move_on();
  }

  void move_on() {
    place_ = place_ + 1 == cycle_.size() ? 0 : place_ + 1;
    in_block_ = 0;
  }

  InputLane* next_input() {
    InputLane* const lane = readers_.enter();
    if (lane != nullptr && threads_ == 0) lane->open();
    return lane;
  }

  void start() {
    if (readers_.started()) return;
    std::vector<InputLane*> needed;
    for (std::size_t i = 0; i < cycle_.size(); ++i) {
      InputLane* const lane = cycle_[(place_ + i) % cycle_.size()];
      if (lane != nullptr) needed.push_back(lane);
    }
    readers_.start(needed);
  }

  const std::int64_t block_;
  const int threads_;
  const bool tuned_;
  const bool any_order_;
  std::vector<InputLane*> cycle_;
  std::size_t place_ = 0;
  std::int64_t in_block_ = 0;
  LinkedStop stop_;
  const bool packed_;  // elements are copied into and out of the inputs' buffers
  OpenInputs inputs_;
  InputReaders readers_;
  Produced produced_;
};

}  // namespace

std::unique_ptr<Cursor> open_interleaved(const Dataset& dataset, Inputs inputs, const InterleaveOptions& settings,
                                         std::uint64_t epoch, const CursorOptions& options) {
  return std::make_unique<InterleavedCursor>(dataset, std::move(inputs), settings, epoch, options);
}

}  // namespace gpubench
