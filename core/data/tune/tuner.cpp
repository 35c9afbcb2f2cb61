#include "core/data/tune/tuner.h"

#include <algorithm>
#include <system_error>

#include "core/data/tune/autotune_plan.h"

namespace gpubench {
namespace {

constexpr std::chrono::milliseconds period{100};
/// A window ends after this many elements, or this long.
constexpr std::int64_t enough_elements = 16;
constexpr Seconds longest_window{1.0};

}  // namespace

Tuner::Tuner(const Dataset& root, const TuningLimits& limits)
    : record_(root.record()), planner_(limits), limits_(limits) {
  add_stages(root, StageWindow::none);
}

Tuner::~Tuner() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  closing_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Tuner::add_stages(const Dataset& dataset, std::size_t parent) {
  const std::size_t index = stages_.size();
  Stage& stage = stages_.emplace_back();
  stage.dataset = &dataset;
  stage.parent = parent;
  for (const DatasetPtr& source : dataset.sources()) add_stages(*source, index);
}

int Tuner::first_setting(const Dataset& stage, int setting, std::int64_t unit_bytes, std::int64_t fixed_bytes) {
  const std::lock_guard lock(mutex_);
  std::int64_t left = limits_.ram_bytes - fixed_bytes;
  for (const Stage& other : stages_) left -= other.dataset == &stage ? 0 : other.first_bytes;
  const std::int64_t unit = std::max<std::int64_t>(unit_bytes, 1);
  const auto fit = static_cast<int>(std::clamp<std::int64_t>(left / unit, 1, setting));
  if (Stage* const known = find(stage)) known->first_bytes = fit * unit + fixed_bytes;
  return fit;
}

std::string Tuner::why(const Dataset& stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.dataset == &stage; });
  return found == stages_.end() ? std::string() : found->why;
}

Tuner::Stage* Tuner::find(const Dataset& dataset) {
  const auto found =
      std::find_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.dataset == &dataset; });
  return found == stages_.end() ? nullptr : &*found;
}

void Tuner::enter(const Dataset& dataset, Knob knob, Tunable& stage) {
  const std::lock_guard lock(mutex_);
  Stage* known = find(dataset);
  if (known == nullptr) return;  // created while the pipeline runs, as the files of an interleave: it keeps its setting
  if (knob != Knob::none && !thread_.joinable()) {  // before the stage is known: it may fail
    window_.restart();
    thread_ = std::thread([this] { work(); });
  }
  known->knob = knob;
  if (known->why.empty()) known->why = knob == Knob::none ? "as asked for" : "to start with";
  known->running.push_back(&stage);
}

void Tuner::leave(Tunable& stage) {
  const std::lock_guard lock(mutex_);
  for (Stage& known : stages_) {
    const auto found = std::find(known.running.begin(), known.running.end(), &stage);
    if (found == known.running.end()) continue;
    known.ended += stage.progress();
    known.running.erase(found);
  }
}

void Tuner::work() {
  std::unique_lock lock(mutex_);
  while (!closing_.wait_for(lock, period, [this] { return closed_; })) {
    const Learnt learnt = tick();
    lock.unlock();  // the record asks stages for statistics, and they ask the tuner
    for (const auto& [stage, setting] : learnt) record_->learn(stage, setting);
    lock.lock();
  }
}

/// The nearest following stage with its own threads.
std::size_t Tuner::consumer_of(std::size_t stage) const {
  std::size_t consumer = stages_[stage].parent;
  while (consumer != StageWindow::none && stages_[consumer].running.empty()) consumer = stages_[consumer].parent;
  return consumer;
}

Tuner::Learnt Tuner::tick() {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (!stages_[i].running.empty()) active.push_back(i);
  }
  PipelineLoad load;
  if (!measure(active, load)) return {};
  if (active != planned_) planner_ = AutotunePlanner(limits_);
  planned_ = active;
  const std::vector<Choice> choices = planner_.plan(load);
  Learnt learnt;
  for (std::size_t i = 0; i < active.size(); ++i) {
    Stage& stage = stages_[active[i]];
    stage.why = choices[i].why;
    if (stage.knob == Knob::none) continue;
    try {
      for (Tunable* running : stage.running) {
        if (running->setting() != choices[i].setting) running->set(choices[i].setting);
      }
    } catch (const std::system_error&) {
      stage.why = "no more threads can be started";
      continue;
    }
    learnt.emplace_back(stage.dataset, choices[i].setting);
  }
  return learnt;
}

/// Measures the load since the last window; false if too little has happened.
bool Tuner::measure(const std::vector<std::size_t>& active, PipelineLoad& load) {
  std::vector<StageWindow> windows;
  std::vector<StageProgress> totals;
  for (const std::size_t index : active) {
    const Stage& stage = stages_[index];
    StageProgress total = stage.ended;
    for (const Tunable* running : stage.running) total += running->progress();
    const std::size_t consumer = consumer_of(index);
    const auto position = std::find(active.begin(), active.end(), consumer);
    windows.push_back(
        {.consumer = consumer == StageWindow::none ? consumer : static_cast<std::size_t>(position - active.begin()),
         .knob = stage.knob,
         .setting = stage.running.front()->setting(),
         .done = total - stage.before});
    totals.push_back(total);
  }
  const Seconds window = window_.elapsed();
  const std::int64_t elements = delivered(windows);
  if (elements == 0 || (elements < enough_elements && window < longest_window)) return false;
  load = pipeline_load(windows, window);
  for (std::size_t i = 0; i < active.size(); ++i) stages_[active[i]].before = totals[i];
  window_.restart();
  return true;
}

TunedStage::TunedStage(std::shared_ptr<Tuner> tuner, const Dataset& dataset, Knob knob, Tunable& stage)
    : tuner_(std::move(tuner)), stage_(stage) {
  if (tuner_) tuner_->enter(dataset, knob, stage_);
}

TunedStage::~TunedStage() {
  if (tuner_) tuner_->leave(stage_);
}

}  // namespace gpubench
