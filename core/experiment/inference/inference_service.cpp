#include "core/experiment/inference/inference_service.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element/random_fill.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/device/device.h"
#include "core/telemetry/nvtx.h"

namespace gpubench {
namespace {

/// Page-locked if that makes copies from the device asynchronous.
HostTensor host_memory(const TensorType& type, Device& device) {
  MemoryPool* const pool = device.host_memory();
  if (pool == nullptr) return HostTensor(type);
  const auto buffer = std::make_shared<Buffer>(pool->allocate(type.bytes(), "answer"));
  return {type, std::shared_ptr<std::byte>(buffer, buffer->data())};
}

/// MLPerf's performance sample count of image classification.
constexpr std::int64_t examples_loaded = 1024;
constexpr std::int64_t least_queries = 2;

DatasetPtr random_examples(const Model& model, std::int64_t count, std::string_view what) {
  if (!model.defined()) {
    throw Error(
        fmt::format("{}: model '{}' does not know the shape of its input yet; give input = dataset, or the "
                    "first layer an input_shape",
                    what, model.name()));
  }
  constexpr std::uint64_t seed = 1;
  std::vector<HostTensor> rows;
  for (TensorType type : model.input_types()) {
    type.shape.insert(type.shape.begin(), count);
    HostTensor& tensor = rows.emplace_back(type);
    random_fill(type.dtype)(tensor.data(), tensor.elements(), CounterRandom(seed, rows.size()), 0, 2);
  }
  return from_tensor_slices(std::move(rows));
}

void require_examples(const Dataset& dataset, std::string_view what) {
  if (const DeviceId* device = dataset.device()) {
    throw Error(fmt::format("{}: the input lies in the memory of {}; a query's latency counts from host memory", what,
                            to_string(*device)));
  }
  if (dataset.examples_per_element() == 1) return;
  throw Error(fmt::format("{}: the input has batches of {} already; it takes single examples and the option batch",
                          what, dataset.examples_per_element()));
}

}  // namespace

InferenceService::InferenceService(Trainer& trainer, std::vector<Element> queries, const ExecutorOptions& options)
    : runtime_(trainer.runtime()), queries_(std::move(queries)) {
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
    slot.push_back({&device.stream(), device.id(), host_memory(type, device), device.new_event()});
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
    const SpanScope copying(runtime_.copy_spans(output.device), CopyPath::device_to_host);
    output.stream->copy(output.host.data(), executor_->result(static_cast<int>(i)).data, output.host.bytes());
    output.stream->record(*output.copied);
  }
}

void InferenceService::finish() {
  for (const Output& output : slot(finished_++)) output.copied->wait();
}

std::vector<Element> load_queries(Trainer& trainer, DatasetPtr examples, std::int64_t batch_size,
                                  std::string_view what) {
  const std::int64_t wanted = std::max(examples_loaded, scaled_extent(batch_size, least_queries));
  if (examples == nullptr) examples = random_examples(trainer.model(), wanted, what);
  require_examples(*examples, what);
  std::vector<Element> queries;
  const std::unique_ptr<Cursor> cursor = trainer.open(*batch(take(std::move(examples), wanted), batch_size));
  for (Element query; cursor->next(query); query = {}) {
    if (query.front().shape()[0] == batch_size) queries.push_back(std::move(query));
  }
  if (queries.empty())
    throw Error(fmt::format("{}: the input has fewer than the {} examples of a batch", what, batch_size));
  return queries;
}

}  // namespace gpubench
