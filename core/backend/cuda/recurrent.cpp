// Recurrent ops step by step: a product by cuBLASLt, then one kernel for the cells. Products read and write aligned
// memory in the workspace, because a step of a tensor may begin anywhere. The gradient of the kernel is one product
// over all steps: the gradients of a step's sums are kept at the index of the state that they were multiplied with.
#include "core/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/kernels/recurrent.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/base/align.h"
#include "core/ops/bias.h"
#include "core/ops/matmul.h"

namespace gpubench::cuda {
namespace {

/// Parts of a kernel's workspace.
class RecurrentLayout {
 public:
  /// Returns the offset.
  std::size_t add(std::size_t bytes) {
    const std::size_t at = bytes_;
    constexpr std::size_t alignment = 256;
    bytes_ += align_up(bytes, alignment);
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// What both directions of a recurrence have in common.
struct Recurrent {
  Recurrent(const RecurrentAttributes& given, const TensorType& states)
      : options(given),
        extents(recurrent_extents(states)),
        step{.batch = extents.batch,
             .units = extents.units,
             .type = states.dtype,
             .gru = options.cell == RecurrentCell::gru} {
    const std::int64_t units = extents.units, width = gates_of(options.cell) * units;
    state = of({extents.batch, units});
    gates = of({extents.batch, width});
    if (options.dropout) {
      const std::int64_t parts = gates_of(options.cell);
      step.parts = static_cast<int>(parts);
      step.sums_row = units;
      step.sums_gate = extents.batch * units;
      step.kept_gate = rows() * units;
      sums = of({parts, extents.batch, units});
      all_sums = of({parts, rows(), units});
      kernel = of({parts, units, units});
      factor = sums;
      all_factors = all_sums;
    } else {
      step.sums_row = width;
      step.sums_gate = step.kept_gate = units;
      sums = gates;
      all_sums = of({rows(), width});
      kernel = of({units, width});
      factor = state;
      all_factors = of({rows(), units});
    }
  }

  TensorType of(Shape shape) const { return {std::move(shape), step.type}; }
  std::int64_t rows() const { return extents.steps * extents.batch; }
  std::int64_t index(std::int64_t turn) const { return options.backwards ? extents.steps - 1 - turn : turn; }
  std::byte* state_of(const TensorView& tensor, std::int64_t index) const {
    return tensor.data + static_cast<std::size_t>(index) * state.bytes();
  }
  /// Of gates or x.
  std::byte* gates_at(const TensorView& tensor, std::int64_t index) const {
    return tensor.data + static_cast<std::size_t>(index) * gates.bytes();
  }
  /// Of the first part of all_factors or all_sums, which have their steps inside of their parts.
  static std::byte* part_of(const TensorView& all, const TensorType& of_step, std::int64_t index, int parts) {
    return all.data + static_cast<std::size_t>(index) * of_step.bytes() / static_cast<std::size_t>(parts);
  }
  const bool* mask_of(const RecurrentExtras<TensorView>& extras, std::int64_t index) const {
    return extras.mask == nullptr ? nullptr : extras.mask->as<bool>() + index * extents.batch;
  }

  /// Zeros for the last step among all: no step was computed from its state.
  cudaError_t clear_last(cudaStream_t stream, const TensorView& all, const TensorType& of_step) const {
    const std::int64_t last = index(extents.steps - 1);
    for (int part = 0; part < step.parts; ++part) {
      std::byte* const at = part_of(all, of_step, last + part * extents.steps, step.parts);
      const cudaError_t status = cudaMemsetAsync(at, 0, of_step.bytes() / static_cast<std::size_t>(step.parts), stream);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

  RecurrentAttributes options;
  RecurrentExtents extents;
  RecurrentStep step;
  TensorType state, gates;          ///< of one step
  TensorType factor, sums, kernel;  ///< of one step's product
  TensorType all_factors, all_sums;
};

std::unique_ptr<Kernel> plan_step_product(const MatmulAttributes& options, const TensorType& a, const TensorType& b,
                                          const TensorType& c, Device& device) {
  const std::array inputs{a, b};
  const std::array outputs{c};
  return plan_kernel(Matmul(options), {inputs, outputs}, device);
}

const void* data_of(const TensorView* view) {
  return view == nullptr ? nullptr : view->data;
}

class RecurrenceKernel final : public Kernel {
 public:
  RecurrenceKernel(const Op& op, const Recurrent& recurrent, Device& device)
      : op_(op.name()),
        recurrent_(recurrent),
        multiprocessors_(cuda_device(device).properties().multiprocessors),
        product_(plan_step_product({}, recurrent.factor, recurrent.kernel, recurrent.sums, device)),
        factor_(layout_.add(recurrent.factor.bytes())),
        sums_(layout_.add(recurrent.sums.bytes())) {}

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return layout_.bytes() + product_->workspace_bytes(); }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const TensorView factor{&recurrent_.factor, workspace.data() + factor_};
    const TensorView sums{&recurrent_.sums, workspace.data() + sums_};
    const std::array factors{factor, inputs[1]};
    const std::size_t own = own_inputs(recurrent_.options.cell);
    const RecurrentExtras<TensorView> extras(recurrent_.options, inputs.subspan(own));
    for (std::int64_t turn = 0; turn < recurrent_.extents.steps; ++turn) {
      const std::int64_t index = recurrent_.index(turn);
      RecurrentMemory memory{.x = recurrent_.gates_at(inputs[0], index),
                             .bias = own > 2 ? inputs[2].data : nullptr,
                             .dropout = data_of(extras.factors),
                             .mask = recurrent_.mask_of(extras, index),
                             .gates = recurrent_.gates_at(outputs[2], index),
                             .memory = recurrent_.state_of(outputs[1], index),
                             .state = recurrent_.state_of(outputs[0], index),
                             .factor = factor.data};
      if (turn > 0) {
        const std::int64_t before = recurrent_.index(turn - 1);
        memory.state_before = recurrent_.state_of(outputs[0], before);
        memory.memory_before = recurrent_.state_of(outputs[1], before);
      } else if (recurrent_.options.initial) {
        memory.state_before = extras.state->data;
        memory.memory_before = data_of(extras.memory);
        check(launch_recurrent_start(on, recurrent_.step, memory), op_);
      }
      if (turn > 0 || recurrent_.options.initial) {
        product_->run(stream, factors, std::span(&sums, 1), workspace.subspan(layout_.bytes()));
        memory.sums = sums.data;
      }
      check(launch_recurrent_step(on, recurrent_.step, memory), op_);
    }
  }

 private:
  std::string op_;
  Recurrent recurrent_;
  int multiprocessors_;
  std::unique_ptr<Kernel> product_;
  RecurrentLayout layout_;
  std::size_t factor_, sums_;
};

class RecurrenceGradientKernel final : public Kernel {
 public:
  RecurrenceGradientKernel(const Op& op, const Recurrent& recurrent, Device& device)
      : op_(op.name()),
        recurrent_(recurrent),
        multiprocessors_(cuda_device(device).properties().multiprocessors),
        inner_type_(recurrent.of({recurrent.rows(), recurrent.extents.units})),
        product_(plan_step_product({.transpose_b = true}, recurrent.sums, recurrent.kernel, recurrent.factor, device)),
        kernel_product_(plan_step_product({.transpose_a = true}, recurrent.all_factors, recurrent.all_sums,
                                          recurrent.kernel, device)),
        factor_(layout_.add(recurrent.sums.bytes())),
        through_product_(layout_.add(recurrent.factor.bytes())),
        kept_(layout_.add(recurrent.all_sums.bytes())) {
    const std::size_t carried = static_cast<std::size_t>(recurrent.state.elements()) * sizeof(float);
    const bool gru = recurrent.step.gru;
    if (!gru) carried_memory_ = layout_.add(carried);
    if (gru || recurrent.options.masked) carried_state_ = layout_.add(carried);
    if (recurrent.options.dropout || recurrent.options.initial) dropped_ = layout_.add(recurrent.all_factors.bytes());
    inner_workspace_ = std::max(product_->workspace_bytes(), kernel_product_->workspace_bytes());
    if (!gru) return;
    const std::array inputs{inner_type_};
    const std::array outputs{recurrent.of({recurrent.extents.units})};
    bias_sum_ = plan_kernel(BiasGradient(), {inputs, outputs}, device);
    inner_ = layout_.add(inner_type_.bytes());
    inner_workspace_ = std::max(inner_workspace_, bias_sum_->workspace_bytes());
  }

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return layout_.bytes() + inner_workspace_; }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::span<std::byte> rest = workspace.subspan(layout_.bytes());
    const TensorView kept{&recurrent_.all_sums, workspace.data() + kept_};
    TensorView all_factors{&recurrent_.all_factors, inputs[1].data};
    if (dropped_) all_factors.data = workspace.data() + *dropped_;
    if (!recurrent_.options.initial) {
      // No step was computed from the last one's state.
      check(recurrent_.clear_last(handle_of(stream), kept, recurrent_.sums), op_);
      if (dropped_) check(recurrent_.clear_last(handle_of(stream), all_factors, recurrent_.factor), op_);
    } else if (!recurrent_.options.dropout) {
      take_states(stream, inputs, all_factors);
    }
    for (std::int64_t turn = recurrent_.extents.steps - 1; turn >= 0; --turn) {
      run_step(stream, turn, inputs, outputs, workspace, rest);
    }
    const std::array factors{all_factors, kept};
    kernel_product_->run(stream, factors, outputs.subspan(1, 1), rest);
    if (recurrent_.options.initial) run_initial(stream, inputs, outputs, workspace);
    if (!bias_sum_) return;
    const TensorView inner{&inner_type_, workspace.data() + *inner_};
    bias_sum_->run(stream, std::span(&inner, 1), outputs.subspan(2, 1), rest);
  }

 private:
  /// The index at which what belongs to the initial state stands among that of all states: that of the last one, from
  /// which no step is computed.
  std::int64_t initial_index() const { return recurrent_.index(recurrent_.extents.steps - 1); }

  /// The states from which each step is computed.
  void take_states(Stream& stream, Views inputs, const TensorView& all) const {
    const RecurrentExtras<TensorView> extras(recurrent_.options, inputs.subspan(5));
    const auto copy = [&](void* to, const void* from, std::size_t bytes) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, handle_of(stream)), op_);
    };
    copy(all.data, inputs[1].data, recurrent_.all_factors.bytes());
    copy(recurrent_.state_of(all, initial_index()), extras.state->data, recurrent_.state.bytes());
  }

  void run_initial(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const RecurrentExtras<TensorView> extras(recurrent_.options, inputs.subspan(5));
    const auto carried = [&](const std::optional<std::size_t>& offset) {
      return offset ? reinterpret_cast<float*>(workspace.data() + *offset) : nullptr;
    };
    const RecurrentGradientMemory memory{.dropout = data_of(extras.factors),
                                         .product = workspace.data() + through_product_,
                                         .carried_memory = carried(carried_memory_),
                                         .carried_state = carried(carried_state_),
                                         .has_carried = true};
    const std::size_t own = own_inputs(recurrent_.options.cell);
    void* const dmemory = carried_memory_ ? outputs[own + 1].data : nullptr;
    check(launch_recurrent_initial_gradient({handle_of(stream), multiprocessors_}, recurrent_.step, memory,
                                            outputs[own].data, dmemory),
          op_);
  }

  void run_step(Stream& stream, std::int64_t turn, Views inputs, Views outputs, std::span<std::byte> workspace,
                std::span<std::byte> rest) {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const TensorView factor{&recurrent_.sums, workspace.data() + factor_};
    const TensorView through{&recurrent_.factor, workspace.data() + through_product_};
    const RecurrentExtras<TensorView> extras(recurrent_.options, inputs.subspan(5));
    const std::int64_t index = recurrent_.index(turn);
    const bool is_last = turn == recurrent_.extents.steps - 1;
    const auto part = [&](const std::optional<std::size_t>& offset) {
      return offset ? workspace.data() + *offset : nullptr;
    };
    RecurrentGradientMemory memory{.gates = recurrent_.gates_at(inputs[3], index),
                                   .memory = recurrent_.state_of(inputs[2], index),
                                   .dropout = data_of(extras.factors),
                                   .mask = recurrent_.mask_of(extras, index),
                                   .dstate = recurrent_.state_of(inputs[4], index),
                                   .product = is_last ? nullptr : through.data,
                                   .carried_memory = reinterpret_cast<float*>(part(carried_memory_)),
                                   .carried_state = reinterpret_cast<float*>(part(carried_state_)),
                                   .has_carried = !is_last,
                                   .dx = recurrent_.gates_at(outputs[0], index),
                                   .factor = factor.data};
    if (inner_) memory.inner = recurrent_.state_of({&inner_type_, part(inner_)}, index);
    if (extras.dmemory != nullptr) memory.dmemory = recurrent_.state_of(*extras.dmemory, index);
    if (turn > 0) {
      memory.state_before = recurrent_.state_of(inputs[1], recurrent_.index(turn - 1));
      memory.memory_before = recurrent_.state_of(inputs[2], recurrent_.index(turn - 1));
    } else if (recurrent_.options.initial) {
      memory.state_before = extras.state->data;
      memory.memory_before = data_of(extras.memory);
    }
    const bool has_product = turn > 0 || recurrent_.options.initial;
    if (has_product) {
      const int parts = recurrent_.step.parts;
      const std::int64_t before = turn > 0 ? recurrent_.index(turn - 1) : initial_index();
      memory.kept = Recurrent::part_of({&recurrent_.all_sums, part(kept_)}, recurrent_.sums, before, parts);
      if (recurrent_.options.dropout) {
        memory.dropped =
            Recurrent::part_of({&recurrent_.all_factors, part(dropped_)}, recurrent_.factor, before, parts);
      }
    }
    check(launch_recurrent_gradient_step(on, recurrent_.step, memory), op_);
    if (!has_product) return;
    const std::array factors{factor, inputs[0]};
    product_->run(stream, factors, std::span(&through, 1), rest);
  }

  std::string op_;
  Recurrent recurrent_;
  int multiprocessors_;
  TensorType inner_type_;
  std::unique_ptr<Kernel> product_, kernel_product_, bias_sum_;
  RecurrentLayout layout_;
  std::size_t factor_, through_product_, kept_, inner_workspace_ = 0;
  std::optional<std::size_t> carried_memory_, carried_state_, dropped_, inner_;
};

std::unique_ptr<Kernel> plan_recurrence(const Recurrence& op, const Signature& signature, Device& device) {
  require_floating(op, signature.outputs[0]);
  return std::make_unique<RecurrenceKernel>(op, Recurrent(op.options, signature.outputs[0]), device);
}

std::unique_ptr<Kernel> plan_recurrence_gradient(const RecurrenceGradient& op, const Signature& signature,
                                                 Device& device) {
  const TensorType& states = signature.inputs[1];
  require_floating(op, states);
  if (states.elements() == 0) {  // no rows: all sums are 0
    return launch_kernel(op, device, [](const LaunchOn& on, Views, Views outputs) {
      for (const TensorView& output : outputs) {
        if (output.type->bytes() == 0) continue;
        const cudaError_t status = cudaMemsetAsync(output.data, 0, output.type->bytes(), on.stream);
        if (status != cudaSuccess) return status;
      }
      return cudaSuccess;
    });
  }
  return std::make_unique<RecurrenceGradientKernel>(op, Recurrent(op.options, states), device);
}

}  // namespace

void add_recurrent(KernelTable& table) {
  add_row<&plan_recurrence>(table);
  add_row<&plan_recurrence_gradient>(table);
}

}  // namespace gpubench::cuda
