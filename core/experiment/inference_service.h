// A model that answers queries: planned once for batches of one size, over the model's own weights. A query is done
// when its outputs are in host memory. On a GPU the copies and kernels of one query may run beside those of the next; a
// CPU is done with a query when start() returns.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/data/element.h"
#include "core/exec/executor.h"
#include "core/train/trainer.h"

namespace gpubench {

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
