// The gru whose reset gate comes before the product: in each step, the product of the state for z and r, a kernel, the
// product of the reset state for g, and another kernel. The weights of g are copied to an aligned address, as products
// need one, and so is their gradient.
#include <algorithm>
#include <array>
#include <optional>

#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/recurrent_plan.h"
#include "core/backend/cuda/status.h"

namespace gpubench::cuda {
namespace {

class ResetBefore : public Kernel {
 public:
  ResetBefore(const Op& op, const Recurrent& recurrent, Device& device)
      : op_(op.name()),
        recurrent_(recurrent),
        multiprocessors_(cuda_device(device).properties().multiprocessors),
        weights_(recurrent.of({recurrent.extents.units, recurrent.extents.units})),
        own_weights_(layout_.add(weights_.bytes())) {}
  std::string_view implementation() const final { return product_->implementation(); }
  std::size_t workspace_bytes() const final {
    return layout_.bytes() +
           std::max({product_->workspace_bytes(), reset_product_->workspace_bytes(), inner_workspace_});
  }

 protected:
  /// The weights of g behind those of z and r.
  std::byte* weights_of(const TensorView& kernel) const { return kernel.data + 2 * weights_.bytes(); }
  void copy(Stream& stream, void* to, const void* from) const {
    check(cudaMemcpyAsync(to, from, weights_.bytes(), cudaMemcpyDeviceToDevice, handle_of(stream)), op_);
  }
  void multiply(Kernel& product, Stream& stream, const TensorView& a, const TensorView& b, const TensorView& c,
                std::span<std::byte> workspace) const {
    const std::array inputs{a, b};
    product.run(stream, inputs, std::span(&c, 1), workspace.subspan(layout_.bytes()));
  }

  std::string op_;
  Recurrent recurrent_;
  int multiprocessors_;
  TensorType weights_;
  RecurrentLayout layout_;
  std::size_t own_weights_;
  std::unique_ptr<Kernel> product_, reset_product_;  // of the state and of the reset state
  std::size_t inner_workspace_ = 0;
};

class ResetBeforeKernel final : public ResetBefore {
 public:
  ResetBeforeKernel(const Op& op, const Recurrent& recurrent, Device& device)
      : ResetBefore(op, recurrent, device),
        factor_(layout_.add(recurrent.factor.bytes())),
        sums_(layout_.add(recurrent.sums.bytes())),
        reset_factor_(layout_.add(recurrent.state.bytes())),
        reset_sums_(layout_.add(recurrent.state.bytes())) {
    product_ = plan_step_product({}, recurrent.factor, recurrent.kernel, recurrent.sums, device);
    reset_product_ = plan_step_product({}, recurrent.state, weights_, recurrent.state, device);
  }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const TensorView factor{&recurrent_.factor, workspace.data() + factor_};
    const TensorView sums{&recurrent_.sums, workspace.data() + sums_};
    const TensorView reset_factor{&recurrent_.state, workspace.data() + reset_factor_};
    const TensorView reset_sums{&recurrent_.state, workspace.data() + reset_sums_};
    const TensorView kernel{&recurrent_.kernel, inputs[1].data}, weights{&weights_, workspace.data() + own_weights_};
    copy(stream, weights.data, weights_of(inputs[1]));
    const RecurrentExtras<TensorView> extras(recurrent_.options, inputs.subspan(own_inputs(recurrent_.options.cell)));
    for (std::int64_t turn = 0; turn < recurrent_.extents.steps; ++turn) {
      const std::int64_t index = recurrent_.index(turn);
      RecurrentMemory memory{.x = recurrent_.gates_at(inputs[0], index),
                             .dropout = data_of(extras.factors),
                             .mask = recurrent_.mask_of(extras, index),
                             .gates = recurrent_.gates_at(outputs[2], index),
                             .memory = recurrent_.state_of(outputs[1], index),
                             .state = recurrent_.state_of(outputs[0], index),
                             .factor = factor.data,
                             .reset_factor = reset_factor.data};
      if (turn > 0) {
        multiply(*product_, stream, factor, kernel, sums, workspace);
        memory.sums = sums.data;
        memory.state_before = recurrent_.state_of(outputs[0], recurrent_.index(turn - 1));
      }
      check(launch_reset_gates(on, recurrent_.step, memory), op_);
      if (turn > 0) {
        multiply(*reset_product_, stream, reset_factor, weights, reset_sums, workspace);
        memory.reset_sums = reset_sums.data;
      }
      check(launch_reset_state(on, recurrent_.step, memory), op_);
    }
  }

 private:
  std::size_t factor_, sums_, reset_factor_, reset_sums_;
};

class ResetBeforeGradientKernel final : public ResetBefore {
 public:
  ResetBeforeGradientKernel(const Op& op, const Recurrent& recurrent, Device& device)
      : ResetBefore(op, recurrent, device),
        factor_(layout_.add(recurrent.sums.bytes())),
        reset_factor_(layout_.add(recurrent.state.bytes())),
        reset_through_(layout_.add(recurrent.state.bytes())),
        carried_(layout_.add(static_cast<std::size_t>(recurrent.state.elements()) * sizeof(float))),
        kept_(layout_.add(recurrent.all_sums.bytes())),
        kept_candidates_(layout_.add(recurrent.all_states.bytes())),
        through_(layout_.add(recurrent.sums.bytes())) {
    if (recurrent.options.dropout) dropped_ = layout_.add(recurrent.all_factors.bytes());
    product_ = plan_step_product({.transpose_b = true}, recurrent.sums, recurrent.kernel, recurrent.sums, device);
    reset_product_ = plan_step_product({.transpose_b = true}, recurrent.state, weights_, recurrent.state, device);
    kernel_product_ =
        plan_step_product({.transpose_a = true}, recurrent.all_factors, recurrent.all_sums, recurrent.kernel, device);
    weights_product_ =
        plan_step_product({.transpose_a = true}, recurrent.all_states, recurrent.all_states, weights_, device);
    inner_workspace_ = std::max(kernel_product_->workspace_bytes(), weights_product_->workspace_bytes());
  }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const TensorView kept{&recurrent_.all_sums, workspace.data() + kept_};
    const TensorView candidates{&recurrent_.all_states, workspace.data() + kept_candidates_};
    const TensorView resets{&recurrent_.all_states, inputs[2].data};
    const TensorView weights{&weights_, workspace.data() + own_weights_};
    TensorView factors{&recurrent_.all_factors, inputs[1].data};
    check(recurrent_.clear_last(handle_of(stream), kept, recurrent_.sums), op_);
    if (dropped_) {
      factors.data = workspace.data() + *dropped_;
      check(recurrent_.clear_last(handle_of(stream), factors, recurrent_.factor), op_);
    }
    copy(stream, weights.data, weights_of(inputs[0]));
    for (std::int64_t turn = recurrent_.extents.steps - 1; turn >= 0; --turn) {
      run_step(stream, turn, inputs, outputs, workspace);
    }
    multiply(*kernel_product_, stream, factors, kept, {&recurrent_.kernel, outputs[1].data}, workspace);
    multiply(*weights_product_, stream, resets, candidates, weights, workspace);
    copy(stream, weights_of(outputs[1]), weights.data);
  }

 private:
  void run_step(Stream& stream, std::int64_t turn, Views inputs, Views outputs, std::span<std::byte> workspace) {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const TensorView factor{&recurrent_.sums, workspace.data() + factor_};
    const TensorView through{&recurrent_.sums, workspace.data() + through_};
    const TensorView reset_factor{&recurrent_.state, workspace.data() + reset_factor_};
    const TensorView reset_through{&recurrent_.state, workspace.data() + reset_through_};
    const RecurrentExtras<TensorView> extras(recurrent_.options, inputs.subspan(5));
    const std::int64_t index = recurrent_.index(turn);
    const bool is_last = turn == recurrent_.extents.steps - 1;
    RecurrentGradientMemory memory{
        .gates = recurrent_.gates_at(inputs[3], index),
        .memory = recurrent_.state_of(inputs[2], index),
        .dropout = data_of(extras.factors),
        .mask = recurrent_.mask_of(extras, index),
        .dstate = recurrent_.state_of(inputs[4], index),
        .product = is_last ? nullptr : through.data,
        .carried_state = reinterpret_cast<float*>(workspace.data() + carried_),
        .has_carried = !is_last,
        .dx = recurrent_.gates_at(outputs[0], index),
        .factor = factor.data,
        .inner = recurrent_.state_of({&recurrent_.all_states, workspace.data() + kept_candidates_}, index),
        .reset_factor = reset_factor.data};
    if (turn > 0) {
      const int parts = recurrent_.step.parts;
      const std::int64_t before = recurrent_.index(turn - 1);
      memory.state_before = recurrent_.state_of(inputs[1], before);
      memory.kept =
          Recurrent::part_of({&recurrent_.all_sums, workspace.data() + kept_}, recurrent_.sums, before, parts);
      if (dropped_) {
        memory.dropped = Recurrent::part_of({&recurrent_.all_factors, workspace.data() + *dropped_}, recurrent_.factor,
                                            before, parts);
      }
    }
    check(launch_reset_state_gradient(on, recurrent_.step, memory), op_);
    if (turn > 0) {
      const TensorView weights{&weights_, workspace.data() + own_weights_};
      multiply(*reset_product_, stream, reset_factor, weights, reset_through, workspace);
      memory.reset_product = reset_through.data;
    }
    check(launch_reset_gates_gradient(on, recurrent_.step, memory), op_);
    if (turn == 0) return;
    multiply(*product_, stream, factor, {&recurrent_.kernel, inputs[0].data}, through, workspace);
  }

  std::size_t factor_, reset_factor_, reset_through_, carried_, kept_, kept_candidates_, through_;
  std::optional<std::size_t> dropped_;
  std::unique_ptr<Kernel> kernel_product_, weights_product_;  // for the gradients of both kernels
};

}  // namespace

std::unique_ptr<Kernel> plan_reset_before(const Recurrence& op, const Signature& signature, Device& device) {
  return std::make_unique<ResetBeforeKernel>(op, Recurrent(op.options, signature.outputs[0]), device);
}

std::unique_ptr<Kernel> plan_reset_before_gradient(const RecurrenceGradient& op, const Signature& signature,
                                                   Device& device) {
  return std::make_unique<ResetBeforeGradientKernel>(op, Recurrent(op.options, signature.inputs[1]), device);
}

}  // namespace gpubench::cuda
