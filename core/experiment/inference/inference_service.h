// Answers queries with a model, planned once for one batch size over the model's own weights. A query is complete when
// its outputs are in host memory. On a GPU the copies and kernels of one query may overlap those of the next; a CPU has
// completed a query when start() returns.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/element.h"
#include "core/exec/executor.h"
#include "core/train/trainer.h"

namespace gpubench {

/// The queries of a measurement, in host memory, loaded before the clock starts, as in MLPerf's load generator (Reddi
/// et al., "MLPerf Inference Benchmark", 2020). Batches of `batch` examples from the dataset's first 1024 examples, or
/// from more if two batches need them; an incomplete last batch is dropped. Without a dataset: random examples of the
/// model's input types, in [0, 1) if floating, else 0 or 1. In page-locked memory if the device copies faster from
/// there. `what` names the measurement in errors: a dataset of batches, on a device or without a whole batch; no
/// dataset for an open input shape.
std::vector<Element> load_queries(Trainer& trainer, DatasetPtr examples, std::int64_t batch, std::string_view what);

class InferenceService {
 public:
  /// `queries`: at least one, all of the same types; they are used in turn. Throws Error (types that the model does not
  /// accept, no kernel), OutOfMemory.
  InferenceService(Trainer& trainer, std::vector<Element> queries, const ExecutorOptions& options);

  /// Queues the next query; only if fewer than depth() are running.
  void start();
  /// Waits for the outputs of the oldest running query.
  void finish();
  /// As Runtime::spans().
  HostSpans* spans() const { return runtime_.spans(); }
  int under_way() const { return static_cast<int>(started_ - finished_); }
  int depth() const { return depth_; }
  /// Output `index` of the latest finished query; valid until depth() more have started.
  const HostTensor& answer(std::size_t index) const { return slot(finished_ - 1)[index].host; }
  PlanFacts facts() const { return executor_->facts(); }

 private:
  struct Output {
    Stream* stream = nullptr;
    DeviceId device;
    HostTensor host;
    std::unique_ptr<Event> copied;
  };
  using Slot = std::vector<Output>;
  Slot make_slot(const Model& model, Runtime& runtime) const;
  const Slot& slot(std::uint64_t query) const { return slots_[query % slots_.size()]; }

  Runtime& runtime_;
  std::vector<Element> queries_;
  std::vector<TensorView> views_;
  std::vector<Slot> slots_;
  std::unique_ptr<Executor> executor_;  // destroyed first: it waits for running queries, which use the other members
  int depth_ = 1;
  std::uint64_t started_ = 0, finished_ = 0;
};

}  // namespace gpubench
