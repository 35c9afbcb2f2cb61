// A model that answers queries. It is planned once for batches of one size, over the model's own weights. A query is
// done when its outputs are in host memory. On a GPU the copies and kernels of one query may run beside those of the
// next; a CPU is done with a query when start() returns.
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

/// The queries of a measurement, in host memory and loaded before the clock starts, as MLPerf's load generator loads
/// its performance samples (Reddi et al., "MLPerf Inference Benchmark", 2020). Batches of `batch` examples: the
/// dataset's first 1024 examples, at least two batches of them where it has so many; what is left over at the end is
/// dropped. Without a dataset, random ones of the model's input types, in [0, 1) where they are floating, else 0 or 1.
/// In page-locked memory where the model's device copies faster from there. `what` names the measurement in errors: a
/// dataset of batches or on a device, or one that has no whole batch; no dataset and an open input shape.
std::vector<Element> load_queries(Trainer& trainer, DatasetPtr examples, std::int64_t batch, std::string_view what);

class InferenceService {
 public:
  /// `queries`: at least one, all of the same types; they are asked in turn. Throws Error (types that the model does
  /// not take, no kernel), OutOfMemory.
  InferenceService(Trainer& trainer, std::vector<Element> queries, const ExecutorOptions& options);

  /// Queues the next query; fewer than depth() are under way.
  void start();
  /// Waits for the outputs of the query that was started first among those under way.
  void finish();
  int under_way() const { return static_cast<int>(started_ - finished_); }
  int depth() const { return depth_; }
  /// Output `index` of the latest query that finished; valid until depth() more have started.
  const HostTensor& answer(std::size_t index) const { return slot(finished_ - 1)[index].host; }
  PlanFacts facts() const { return executor_->facts(); }

 private:
  struct Output {
    Stream* stream = nullptr;
    HostTensor host;
    std::unique_ptr<Event> copied;
  };
  using Slot = std::vector<Output>;
  Slot make_slot(const Model& model, Runtime& runtime) const;
  const Slot& slot(std::uint64_t query) const { return slots_[query % slots_.size()]; }

  std::vector<Element> queries_;
  std::vector<TensorView> views_;
  std::vector<Slot> slots_;
  std::unique_ptr<Executor> executor_;  // ends first: it waits for what still reads queries and writes answers
  int depth_ = 1;
  std::uint64_t started_ = 0, finished_ = 0;
};

}  // namespace gpubench
