#include "core/data/map/run.h"

#include <algorithm>

#include "core/base/interrupt.h"
#include "core/data/element.h"
#include "core/data/tune/tuner.h"

namespace gpubench {
namespace {

/// A parcel stays in the cache of the core that computes it.
constexpr std::int64_t most_parcel_bytes = std::int64_t{256} << 10;
constexpr std::int64_t most_parcel_elements = 4096;
constexpr std::int64_t most_of_unknown_size = 64;

/// Batches besides one per worker, because equally large batches wait for each other.
constexpr int spare_batches = 2;
/// Assumed size of a parcel whose size is not yet known.
constexpr std::int64_t unknown_parcel_bytes = std::int64_t{16} << 20;

struct StageBytes {
  std::int64_t unit = 0;  // of one more worker
  std::int64_t fixed = 0;
};

/// For parcels of `parcel` bytes: see buffer_for().
StageBytes stage_bytes(std::int64_t parcel, bool batches) {
  return batches ? StageBytes{parcel, parcel * spare_batches} : StageBytes{2 * parcel, 0};
}

const Dataset& inputs_of(const MapWork& work) {
  return *work.map.sources().front();
}

std::int64_t most_elements(TensorTypes inputs, TensorTypes outputs) {
  if (!is_fixed(inputs) || !is_fixed(outputs)) return most_of_unknown_size;
  const auto bytes = static_cast<std::int64_t>(element_bytes(inputs) + element_bytes(outputs));
  return std::clamp<std::int64_t>(most_parcel_bytes / std::max<std::int64_t>(bytes, 1), 1, most_parcel_elements);
}

/// Without a tuner, or before it has measured: one per core.
int first_workers(const MapWork& work, const std::optional<BatchShape>& batch, const CursorOptions& options) {
  const std::int64_t asked = work.workers;
  if (asked != autotune) return static_cast<int>(asked);
  const int cores = std::min(schedulable_cores(), ParcelWorkers::most_workers);
  if (!options.tuner) return cores;
  if (const std::optional<int> learnt = options.tuner->learnt(work.map)) return *learnt;
  const std::vector<TensorType>& types = work.map.element_types();
  std::int64_t parcel = unknown_parcel_bytes;
  if (is_fixed(types)) {
    const auto element = static_cast<std::int64_t>(element_bytes(types));
    parcel = batch ? element * batch->size : std::max(element, most_parcel_bytes);
  }
  const StageBytes bytes = stage_bytes(parcel, batch.has_value());
  return options.tuner->first_setting(work.map, cores, bytes.unit, bytes.fixed);
}

}  // namespace

MapRun::MapRun(const MapWork& work, std::optional<BatchShape> batch, std::uint64_t epoch, const CursorOptions& options)
    : function_(work.function),
      types_(work.map.element_types()),
      key_(&work.map),
      tuner_(options.tuner),
      stop_(options.stop),
      source_(inputs_of(work).open(epoch, stop_.with_stop(options.for_sources()))),
      reader_(*source_, inputs_of(work).element_types()),
      batch_(batch),
      numbers_(element_numbers(epoch, inputs_of(work))),
      pool_(options.memory),
      sizer_(most_elements(inputs_of(work).element_types(), types_)) {
  const int workers = first_workers(work, batch, options);
  const bool tunes = work.workers == autotune;
  workers_.resize(static_cast<std::size_t>(tunes ? ParcelWorkers::most_workers : std::max(workers, 1)));
  if (workers == 0) return;
  const bool ordered = work.deterministic.value_or(options.deterministic.value_or(true));
  crew_.emplace(static_cast<ParcelWork&>(*this), workers, buffer_for(workers), ordered);
  tuned_.emplace(tuner_, work.map, tunes ? Knob::workers : Knob::none, static_cast<Tunable&>(*this));
}

MapRun::~MapRun() {
  stop_.request();
}

bool MapRun::next(Parcel& parcel) {
  if (!(crew_ ? crew_->next(parcel) : next_in_this_thread(parcel))) return false;
  taken_.add(parcel.inputs.count);
  bytes_.add(parcel.bytes);
  return true;
}

bool MapRun::next_in_this_thread(Parcel& parcel) {
  check_interrupt();
  if (pull(parcel) == Pull::end) return false;
  compute(parcel, 0);
  return true;
}

MapRun::Skipped MapRun::skip(std::int64_t count) {
  const auto pass_over = [&] {
    const std::int64_t in_flight = pulled_ - taken_.get();
    const std::int64_t passed = count > in_flight ? reader_.skip(count - in_flight) : 0;
    pulled_ += passed;
    passed_over_.add(passed);
    taken_.add(passed);
    return Skipped{in_flight, passed};
  };
  return crew_ ? crew_->between_pulls(pass_over) : pass_over();
}

ParcelWork::Pull MapRun::pull(Parcel& parcel) {
  const Stopwatch watch;
  parcel.clear();
  InputBlock& inputs = parcel.inputs;
  reader_.read(batch_ ? batch_->size : sizer_.size(), inputs);
  parcel.index = pulled_;
  pulled_ += inputs.count;
  parcel.pulling = watch.elapsed();
  pulling_.add(parcel.pulling.count());
  if (inputs.error) return Pull::halt;
  const bool incomplete = batch_ && batch_->drop_remainder && inputs.count < batch_->size;
  return inputs.count == 0 || incomplete ? Pull::end : Pull::parcel;
}

MapRun::Worker& MapRun::worker(int index) {
  std::unique_ptr<Worker>& worker = workers_[static_cast<std::size_t>(index)];
  if (!worker) {
    worker = std::make_unique<Worker>(Worker{BlockFunction(function_, reader_.rows()),
                                             batch_ ? batch_outputs(pool_, types_) : element_outputs(pool_, types_)});
  }
  return *worker;
}

void MapRun::compute(Parcel& parcel, int index) {
  const Stopwatch watch;
  InputBlock& inputs = parcel.inputs;
  try {
    Worker& worker = this->worker(index);
    worker.function.start(inputs, parcel.index);
    if (inputs.count > 0) worker.outputs->open(parcel, inputs.count);
    while (!worker.function.done()) {
      try {
        if (worker.function.advance(numbers_, *worker.outputs)) worker.outputs->finish();
      } catch (...) {
        if (!worker.outputs->fail(std::current_exception())) break;
        worker.function.pass_over();
      }
    }
  } catch (...) {
    parcel.clear();
    Segment& failed = parcel.add_segment();
    failed.error = std::current_exception();
    failed.count = inputs.count;
  }
  if (inputs.error) parcel.add_segment().error = inputs.error;
  for (std::int64_t i = 0; i < inputs.count && !inputs.elements.empty(); ++i) {
    release(inputs.elements[static_cast<std::size_t>(i)]);
  }
  const Seconds time = watch.elapsed();
  // The time for all, because the first element of a block waits for the last.
  if (inputs.count > 0) sizer_.measured(inputs.count, parcel.pulling + time);
  computed_.fetch_add(inputs.count, std::memory_order_relaxed);
  busy_.fetch_add(time.count(), std::memory_order_relaxed);
  parcel_bytes_.store(std::max(parcel_bytes_.load(std::memory_order_relaxed), parcel.bytes), std::memory_order_relaxed);
}

/// Number of parcels between pull and consumer. Batches are large and cost the same; elements may differ, and an
/// expensive one may hold up others.
int MapRun::buffer_for(int workers) const {
  return batch_ ? workers + spare_batches : 2 * workers;
}

std::vector<StageStatistics> MapRun::statistics() const {
  const std::int64_t taken = taken_.get() - passed_over_.get();  // read first, because the source advances
  std::vector<StageStatistics> stages = source_->statistics();
  const std::int64_t given = stages.back().produced;
  StageStatistics& stage = stages.emplace_back(StageStatistics{.stage = "map",
                                                               .produced = taken_.get(),
                                                               .bytes = bytes_.get(),
                                                               .busy = Seconds(busy_.load(std::memory_order_relaxed)),
                                                               .why = "in the consumer's thread",
                                                               .held = std::max<std::int64_t>(given - taken, 0)});
  if (!crew_) return stages;
  const ParcelWorkers::Figures figures = crew_->figures();
  const std::int64_t parcel = batch_ ? batch_->size : sizer_.size();
  stage.starved = figures.starved;
  stage.blocked = figures.blocked;
  stage.workers = figures.workers;
  stage.capacity = figures.buffer * parcel;
  stage.buffered = figures.buffered * parcel;
  stage.source = Seconds(pulling_.get());
  stage.threads = figures.threads;
  stage.why = tuner_ ? tuner_->why(*key_) : "as it was opened";
  return stages;
}

StageProgress MapRun::progress() const {
  const ParcelWorkers::Figures figures = crew_->figures();
  const StageBytes bytes = stage_bytes(parcel_bytes_.load(std::memory_order_relaxed), batch_.has_value());
  return {.computed = computed_.load(std::memory_order_relaxed),
          .taken = taken_.get(),
          .source = Seconds(pulling_.get()),
          .busy = Seconds(busy_.load(std::memory_order_relaxed)),
          .starved = figures.starved,
          .blocked = figures.blocked,
          .threads = figures.threads,
          .unit_bytes = bytes.unit,
          .fixed_bytes = bytes.fixed};
}

int MapRun::setting() const {
  return crew_->figures().workers;
}

void MapRun::set(int workers) {
  crew_->set_buffer(buffer_for(workers));
  crew_->set_workers(workers);
}

}  // namespace gpubench
