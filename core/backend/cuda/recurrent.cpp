// Recurrent ops step by step: a product by cuBLASLt, then one kernel for the cells. Products read and write aligned
// memory in the workspace, because a step of a tensor may begin anywhere. The gradient of the kernel is one product
// over all steps: the gradients of a step's sums are kept at the index of the state that they were multiplied with.
#include "core/ops/recurrent.h"

#include <algorithm>
#include <array>

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

constexpr std::size_t part_alignment = 256;

/// Parts of a kernel's workspace.
class Layout {
 public:
  /// Returns the offset.
  std::size_t add(std::size_t bytes) {
    const std::size_t at = bytes_;
    bytes_ += align_up(bytes, part_alignment);
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// What both directions of a recurrence have in common.
struct Recurrent {
  Recurrent(const RecurrentAttributes& options, const TensorType& states)
      : extents(recurrent_extents(states)),
        backwards(options.backwards),
        step{extents.batch, extents.units, states.dtype, options.cell == RecurrentCell::gru},
        state{{extents.batch, extents.units}, states.dtype},
        sums{{extents.batch, gates_of(options.cell) * extents.units}, states.dtype},
        kernel{{extents.units, sums.shape[1]}, states.dtype} {}

  std::int64_t index(std::int64_t turn) const { return backwards ? extents.steps - 1 - turn : turn; }
  std::byte* state_of(const TensorView& tensor, std::int64_t index) const {
    return tensor.data + static_cast<std::size_t>(index) * state.bytes();
  }
  std::byte* sums_of(std::byte* tensor, std::int64_t index) const {
    return tensor + static_cast<std::size_t>(index) * sums.bytes();
  }
  /// The tensor that the cell of the next step reads besides the product.
  const TensorView& carried(const TensorView& states, const TensorView& memory) const {
    return step.gru ? states : memory;
  }

  RecurrentExtents extents;
  bool backwards;
  RecurrentStep step;
  TensorType state, sums, kernel;  // of one step
};

std::unique_ptr<Kernel> plan_step_product(const MatmulAttributes& options, const TensorType& a, const TensorType& b,
                                          const TensorType& c, Device& device) {
  const std::array inputs{a, b};
  const std::array outputs{c};
  return plan_kernel(Matmul(options), {inputs, outputs}, device);
}

class RecurrenceKernel final : public Kernel {
 public:
  RecurrenceKernel(const Op& op, const Recurrent& recurrent, Device& device)
      : op_(op.name()),
        recurrent_(recurrent),
        multiprocessors_(cuda_device(device).properties().multiprocessors),
        product_(plan_step_product({}, recurrent.state, recurrent.kernel, recurrent.sums, device)),
        factor_(layout_.add(recurrent.state.bytes())),
        sums_(layout_.add(recurrent.sums.bytes())) {}

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return layout_.bytes() + product_->workspace_bytes(); }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const TensorView factor{&recurrent_.state, workspace.data() + factor_};
    const TensorView sums{&recurrent_.sums, workspace.data() + sums_};
    const std::array factors{factor, inputs[1]};
    const TensorView& carried = recurrent_.carried(outputs[0], outputs[1]);
    for (std::int64_t turn = 0; turn < recurrent_.extents.steps; ++turn) {
      const std::int64_t index = recurrent_.index(turn);
      RecurrentMemory memory{.x = recurrent_.sums_of(inputs[0].data, index),
                             .bias = inputs.size() > 2 ? inputs[2].data : nullptr,
                             .gates = recurrent_.sums_of(outputs[2].data, index),
                             .memory = recurrent_.state_of(outputs[1], index),
                             .state = recurrent_.state_of(outputs[0], index),
                             .factor = factor.data};
      if (turn > 0) {
        product_->run(stream, factors, std::span(&sums, 1), workspace.subspan(layout_.bytes()));
        memory.sums = sums.data;
        memory.previous = recurrent_.state_of(carried, recurrent_.index(turn - 1));
      }
      check(launch_recurrent_step(on, recurrent_.step, memory), op_);
    }
  }

 private:
  std::string op_;
  Recurrent recurrent_;
  int multiprocessors_;
  std::unique_ptr<Kernel> product_;
  Layout layout_;
  std::size_t factor_, sums_;
};

class RecurrenceGradientKernel final : public Kernel {
 public:
  RecurrenceGradientKernel(const Op& op, const Recurrent& recurrent, Device& device)
      : op_(op.name()),
        recurrent_(recurrent),
        multiprocessors_(cuda_device(device).properties().multiprocessors),
        all_states_{{rows(), recurrent.extents.units}, recurrent.state.dtype},
        all_sums_{{rows(), recurrent.sums.shape[1]}, recurrent.sums.dtype},
        product_(plan_step_product({.transpose_b = true}, recurrent.sums, recurrent.kernel, recurrent.state, device)),
        kernel_product_(plan_step_product({.transpose_a = true}, all_states_, all_sums_, recurrent.kernel, device)),
        factor_(layout_.add(recurrent.sums.bytes())),
        through_product_(layout_.add(recurrent.state.bytes())),
        carried_(layout_.add(static_cast<std::size_t>(recurrent.state.elements()) * sizeof(float))),
        kept_(layout_.add(all_sums_.bytes())) {
    inner_workspace_ = std::max(product_->workspace_bytes(), kernel_product_->workspace_bytes());
    if (!recurrent.step.gru) return;
    const std::array inputs{all_states_};
    const std::array outputs{TensorType{{recurrent.extents.units}, recurrent.state.dtype}};
    bias_sum_ = plan_kernel(BiasGradient(), {inputs, outputs}, device);
    inner_ = layout_.add(all_states_.bytes());
    inner_workspace_ = std::max(inner_workspace_, bias_sum_->workspace_bytes());
  }

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return layout_.bytes() + inner_workspace_; }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::span<std::byte> rest = workspace.subspan(layout_.bytes());
    const TensorView kept{&all_sums_, workspace.data() + kept_}, inner{&all_states_, workspace.data() + inner_};
    const std::int64_t last = recurrent_.index(recurrent_.extents.steps - 1);
    // No step was computed from the last one's state.
    check(cudaMemsetAsync(recurrent_.sums_of(kept.data, last), 0, recurrent_.sums.bytes(), handle_of(stream)), op_);
    for (std::int64_t turn = recurrent_.extents.steps - 1; turn >= 0; --turn) {
      run_step(stream, turn, inputs, outputs, workspace, rest);
    }
    const std::array factors{TensorView{&all_states_, inputs[1].data}, kept};
    kernel_product_->run(stream, factors, outputs.subspan(1, 1), rest);
    if (bias_sum_) bias_sum_->run(stream, std::span(&inner, 1), outputs.subspan(2, 1), rest);
  }

 private:
  std::int64_t rows() const { return recurrent_.extents.steps * recurrent_.extents.batch; }

  void run_step(Stream& stream, std::int64_t turn, Views inputs, Views outputs, std::span<std::byte> workspace,
                std::span<std::byte> rest) {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const TensorView factor{&recurrent_.sums, workspace.data() + factor_};
    const TensorView through{&recurrent_.state, workspace.data() + through_product_};
    const std::int64_t index = recurrent_.index(turn);
    const bool is_last = turn == recurrent_.extents.steps - 1;
    RecurrentGradientMemory memory{.gates = recurrent_.sums_of(inputs[3].data, index),
                                   .memory = recurrent_.state_of(inputs[2], index),
                                   .dstate = recurrent_.state_of(inputs[4], index),
                                   .product = is_last ? nullptr : through.data,
                                   .carried = reinterpret_cast<float*>(workspace.data() + carried_),
                                   .has_carried = !is_last,
                                   .dx = recurrent_.sums_of(outputs[0].data, index),
                                   .factor = factor.data};
    if (recurrent_.step.gru) memory.inner = recurrent_.state_of({&all_states_, workspace.data() + inner_}, index);
    if (turn > 0) {
      const std::int64_t before = recurrent_.index(turn - 1);
      memory.previous = recurrent_.state_of(recurrent_.carried(inputs[1], inputs[2]), before);
      memory.kept = recurrent_.sums_of(workspace.data() + kept_, before);
    }
    check(launch_recurrent_gradient_step(on, recurrent_.step, memory), op_);
    if (turn == 0) return;
    const std::array factors{factor, inputs[0]};
    product_->run(stream, factors, std::span(&through, 1), rest);
  }

  std::string op_;
  Recurrent recurrent_;
  int multiprocessors_;
  TensorType all_states_, all_sums_;
  std::unique_ptr<Kernel> product_, kernel_product_, bias_sum_;
  Layout layout_;
  std::size_t factor_, through_product_, carried_, kept_, inner_ = 0, inner_workspace_ = 0;
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
