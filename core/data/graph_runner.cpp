#include "core/data/graph_runner.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/exec/run/in_place_program.h"
#include "core/graph/leaf_ops.h"
#include "core/passes/vectorize.h"

namespace gpubench {
namespace {

const DeviceConfig& one_thread() {
  static const DeviceConfig config{{DeviceId::Kind::gpu, {.devices = std::vector<LogicalDevice>{}}},
                                   {DeviceId::Kind::cpu, {.devices = {{{.threads = 1}}}}}};
  return config;
}

/// How many elements are computed at once, a power of two: what an element reads, makes and writes on the way lies in a
/// quarter of a megabyte then, which leaves a second-level cache of today room for the rest.
std::int64_t block_for(const Graph& element) {
  constexpr std::int64_t cache_bytes = 256 << 10, most = 256;
  std::int64_t bytes = 1;
  for (const Node& node : element.nodes()) {
    if (dynamic_cast<const ConstantOp*>(node.op.get()) != nullptr) continue;
    for (const TensorType& type : node.outputs) bytes += static_cast<std::int64_t>(type.bytes());
  }
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(cache_bytes / bytes, 1, most))));
}

/// Blocks are cut into powers of two, each with a plan that is made when it is first met: a handful of plans serves all
/// counts, and the last block of an epoch takes a handful of runs.
class GraphRunner final : public ElementRunner {
 public:
  GraphRunner(Program element, const DevicePlace& place)
      : place_(place),
        element_(std::move(element)),
        block_(vectorize(element_, 2) ? block_for(element_.graph) : 1),
        programs_(static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(block_)))),
        numbers_(static_cast<std::size_t>(block_)) {
    for (const Value input : element_.graph.inputs()) input_bytes_.push_back(element_.graph.type(input).bytes());
    for (const Value output : element_.outputs) output_types_.push_back(element_.graph.type(output));
    inputs_.resize(input_bytes_.size());
    outputs_.resize(output_types_.size());
    program(1);
  }

  std::int64_t block() const override { return block_; }

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    for (std::size_t i = 0; i < elements.inputs.size(); ++i) inputs_[i] = elements.inputs[i].data;
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = outputs.place(i, output_types_[i]);
    inputs_.back() = reinterpret_cast<std::byte*>(numbers_.data());
    for (std::int64_t done = 0; done < elements.count;) {
      const auto left = static_cast<std::uint64_t>(std::min(elements.count - done, block_));
      const auto count = static_cast<std::int64_t>(std::bit_floor(left));
      for (std::int64_t i = 0; i < count; ++i) {
        numbers_[static_cast<std::size_t>(i)] = elements.number + (done + i) * elements.stride;
      }
      program(count).run(inputs_, outputs_);
      done += count;
      if (done < elements.count) pass_over(static_cast<std::size_t>(count));
    }
  }

 private:
  /// For `count` elements, a power of two.
  InPlaceProgram& program(std::int64_t count) {
    auto& program = programs_[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(count)))];
    if (program == nullptr) {
      Program blocks = count == 1 ? element_ : *vectorize(element_, count);
      program = std::make_unique<InPlaceProgram>(*place_.devices, std::move(blocks), place_.id);
    }
    return *program;
  }

  void pass_over(std::size_t count) {
    for (std::size_t i = 0; i + 1 < inputs_.size(); ++i) inputs_[i] += count * input_bytes_[i];
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] += count * output_types_[i].bytes();
  }

  const DevicePlace place_;
  Program element_;
  std::int64_t block_;
  std::vector<std::unique_ptr<InPlaceProgram>> programs_;  // by the power of two
  std::vector<std::int64_t> numbers_;
  std::vector<std::size_t> input_bytes_;
  std::vector<TensorType> output_types_;
  std::vector<std::byte*> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<ElementRunner> graph_runner(Program element) {
  return graph_runner(std::move(element), {std::make_shared<const Devices>(one_thread()), DeviceId{}});
}

std::unique_ptr<ElementRunner> graph_runner(Program element, const DevicePlace& place) {
  return std::make_unique<GraphRunner>(std::move(element), place);
}

}  // namespace gpubench
