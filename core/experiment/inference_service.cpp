#include "core/experiment/inference_service.h"

#include <algorithm>

#include "core/telemetry/nvtx.h"

namespace gpubench {
namespace {

/// Page-locked where copies from the device then run beside the host.
HostTensor host_memory(const TensorType& type, Device& device) {
  MemoryPool* const pool = device.host_memory();
  if (pool == nullptr) return HostTensor(type);
  const auto buffer = std::make_shared<Buffer>(pool->allocate(type.bytes(), "answer"));
  return {type, std::shared_ptr<std::byte>(buffer, buffer->data())};
}

}  // namespace

InferenceService::InferenceService(Trainer& trainer, std::vector<Element> queries, const ExecutorOptions& options)
    : queries_(std::move(queries)) {
  const NvtxRange range("plan");
  std::vector<TensorType> types;
  for (const HostTensor& tensor : queries_.front()) types.push_back(tensor.type());
  trainer.build(types);
  StepGraph step = prediction_graph(trainer.model(), types);
  executor_ = make_executor(trainer.runtime(), std::move(step.graph), std::move(step.outputs), options);
  views_.resize(types.size());
  depth_ = std::max(1, executor_->inputs_in_flight());
  for (int i = 0; i < depth_; ++i) slots_.push_back(make_slot(trainer.model(), trainer.runtime()));
}

InferenceService::Slot InferenceService::make_slot(const Model& model, Runtime& runtime) const {
  Slot slot;
  for (std::size_t i = 0; i < model.outputs().size(); ++i) {
    Device& device = runtime.devices().device(model.calls()[model.outputs()[i]].layer->device());
    TensorType type = model.output_types()[i];
    type.shape.insert(type.shape.begin(), queries_.front().front().shape()[0]);
    slot.push_back({&device.stream(), host_memory(type, device), device.new_event()});
  }
  return slot;
}

void InferenceService::start() {
  const NvtxRange range("query");
  const Element& query = queries_[started_ % queries_.size()];
  for (std::size_t i = 0; i < views_.size(); ++i) views_[i] = query[i].view();
  executor_->run(views_);
  const Slot& answers = slot(started_++);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Output& output = answers[i];
    output.stream->copy(output.host.data(), executor_->result(static_cast<int>(i)).data, output.host.bytes());
    output.stream->record(*output.copied);
  }
}

void InferenceService::finish() {
  for (const Output& output : slot(finished_++)) output.copied->wait();
}

}  // namespace gpubench
