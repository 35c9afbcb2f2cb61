#include "core/experiment/steps/profiler.h"

#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/codec/output_file.h"
#include "core/results/profile_info.h"
#include "core/results/trace.h"
#include "core/trace/profile.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

constexpr std::size_t most_spans = 500'000;
/// Executors record their segments, or name their nodes, in the steps before.
constexpr std::int64_t steps_before = 3;

std::string steps_text(const ProfilerOptions& options) {
  return fmt::format("Profiler: steps = {{ {}, {} }}", options.first, options.last);
}

}  // namespace

struct Profiler::Trace {
  explicit Trace(Trainer& trainer) : tracer(trainer.runtime().devices().new_tracer()), timeline(most_spans) {
    tracer->start();
    steps.emplace(trainer.runtime(), trainer.config().replicas.get(), *tracer, timeline, false);
  }
  std::unique_ptr<Tracer> tracer;
  Timeline timeline;
  std::optional<StepTracer> steps;
};

Profiler::Profiler(ProfilerOptions options) : options_(std::move(options)) {
  if (options_.first < 1 || options_.last < options_.first) {
    throw Error(steps_text(options_) + ": the first and the last step are expected, from 1, in this order");
  }
}

Profiler::~Profiler() = default;

void Profiler::leave() noexcept {
  trace_.reset();
  training_ = nullptr;
}

void Profiler::on_train_begin(Training& training) {
  training_ = &training;
  taken_ = 0;
  written_ = false;
  const std::int64_t steps = training.steps * training.epochs;
  if (training.steps > 0 && !training.resumed && options_.last > steps) {
    throw Error(fmt::format("{}: the training has only {} ({} of {})", steps_text(options_),
                            format_count(steps, "step"), format_count(training.epochs, "epoch"), training.steps));
  }
  replace_file(folder() / "profile.txt", "The traced steps have not ended yet.\n");  // fails now rather than after them
  if (options_.first <= steps_before) start();
}

std::filesystem::path Profiler::folder() const {
  std::filesystem::path folder = options_.place(options_.path);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(fmt::format("Profiler: cannot make the folder {}: {}", folder.string(), failed.message()));
  return folder;
}

void Profiler::start() {
  training_->trainer.runtime().synchronize();
  trace_ = std::make_unique<Trace>(training_->trainer);
  if (taken_ + 1 == options_.first) trace_->steps->begin();
}

void Profiler::on_step(std::int64_t) {
  ++taken_;
  if (trace_ == nullptr) {
    if (!written_ && taken_ + 1 + steps_before >= options_.first && taken_ < options_.last) start();
    return;
  }
  if (taken_ + 1 == options_.first) {
    training_->trainer.runtime().synchronize();
    trace_->steps->begin();
  }
  if (taken_ < options_.first) return;
  trace_->steps->end_step(training_->fetched);
  if (taken_ == options_.last) finish();
}

void Profiler::finish() {
  const std::unique_ptr<Trace> trace = std::move(trace_);
  const TracedSteps traced = trace->steps->finish();
  trace->timeline.set_steps(traced.marks());
  const StepProfile profile = profile_steps(trace->timeline, traced);
  const Info info = profile_info(profile);
  const std::filesystem::path folder = this->folder();
  write_chrome_trace(trace->timeline, folder / "trace.json");
  replace_file(folder / "profile.json", to_json(info));
  replace_file(folder / "profile.txt", profile_text(info));
  written_ = true;
}

void Profiler::on_train_end(Training&) {
  if (trace_ != nullptr && trace_->steps->steps() > 0) finish();
  if (written_) return;
  const std::string reason = fmt::format("{}: nothing was traced, the training ended after {}", steps_text(options_),
                                         format_count(taken_, "step"));
  replace_file(folder() / "profile.txt", reason + "\n");
  options_.warn(reason);
}

}  // namespace gpubench
