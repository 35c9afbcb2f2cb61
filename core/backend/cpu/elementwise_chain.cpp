// A chain of element-wise steps, a block of the output at a time. An input lies as float32 in the output's order; it is
// copied only where it is stretched by repetition or of another type.
#include "core/ops/elementwise_chain.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/math/functions.h"

namespace gpubench::cpu {
namespace {

/// Elements of the output that steps work on at once: the value and an operand stay in the first-level cache.
constexpr std::int64_t chain_block = 2048;

struct ChainBuffer {
  alignas(64) float values[chain_block];
};

/// Element i of a block is data[i * stride]; the stride is 1 or 0.
struct BlockOperand {
  const float* data;
  std::int64_t stride;
};

/// Elements [begin, begin + count) of the output as `T` holds them, by runs that are read one after the other or are
/// one element.
template <class T>
void fill_block(const void* memory, const Stretch& stretch, std::int64_t begin, std::int64_t count, float* out) {
  const T* const data = static_cast<const T*>(memory);
  const CastTo<float> to_float;
  for (std::int64_t i = 0; i < count;) {
    if (stretch.repeat == 1 && i >= stretch.period) {  // a whole period stands there: it is repeated
      const std::int64_t run = std::min(i / stretch.period * stretch.period, count - i);
      std::memcpy(out + i, out, static_cast<std::size_t>(run) * sizeof(float));
      i += run;
      continue;
    }
    const std::int64_t element = (begin + i) / stretch.repeat, place = element % stretch.period;
    if (stretch.repeat == 1) {
      const std::int64_t run = std::min({stretch.period - place, stretch.period - i, count - i});
#pragma omp simd
      for (std::int64_t k = 0; k < run; ++k) out[i + k] = to_float(data[place + k]);
      i += run;
    } else {
      const std::int64_t run = std::min((element + 1) * stretch.repeat - (begin + i), count - i);
      std::fill_n(out + i, run, to_float(data[place]));
      i += run;
    }
  }
}

class ChainOperand {
 public:
  ChainOperand(const TensorType& type, const Shape& output)
      : stretch_(*ops::stretch_of(type.shape, output)),
        dtype_(type.dtype),
        whole_(stretch_.period == element_count(output)),
        fill_(fill_of(Everything{}, type.dtype)) {}

  /// `buffer` is used where the memory itself will not do.
  BlockOperand read(const TensorView& view, std::int64_t begin, std::int64_t count, ChainBuffer& buffer) const {
    if (dtype_ == Dtype::f32 && stretch_.period == 1) return {view.as<float>(), 0};
    if (dtype_ == Dtype::f32 && whole_) return {view.as<float>() + begin, 1};
    if (stretch_.period == 1) {
      fill_(view.data, stretch_, 0, 1, buffer.values);
      return {buffer.values, 0};
    }
    if (dtype_ == Dtype::f32 && stretch_.repeat == 1 && begin % stretch_.period + count <= stretch_.period) {
      return {view.as<float>() + begin % stretch_.period, 1};
    }
    fill_(view.data, stretch_, begin, count, buffer.values);
    return {buffer.values, 1};
  }

 private:
  using Fill = void (*)(const void*, const Stretch&, std::int64_t, std::int64_t, float*);

  template <class... T>
  static Fill fill_of(Types<T...>, Dtype dtype) {
    Fill fill = nullptr;
    ((dtype_of<T> == dtype ? (void)(fill = &fill_block<T>) : (void)0), ...);
    return fill;
  }

  Stretch stretch_;
  Dtype dtype_;
  bool whole_;
  Fill fill_;
};

/// out = f(a) or f(a, b) for a block, by the loops of the ops that were joined.
using StepLoop = void (*)(std::int64_t count, float* out, BlockOperand a, BlockOperand b);

template <class F>
void step_loop(std::int64_t count, float* out, BlockOperand a, BlockOperand b) {
  const F f;
  const std::array in{reinterpret_cast<const std::byte*>(a.data), reinterpret_cast<const std::byte*>(b.data)};
  if constexpr (std::is_invocable_v<F, float>) {
    choose_loop<float(F, float)>(std::array{a.stride})(&f, {.count = count}, out, in.data());
  } else {
    choose_loop<float(F, float, float)>(std::array{a.stride, b.stride})(&f, {.count = count}, out, in.data());
  }
}

struct Function {
  StepLoop loop;
  std::int64_t flops;
};

constexpr std::array functions{
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) Function{&step_loop<math::Type>, cost},
    GPUBENCH_FLOAT_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
};

const Function& function_of(const ChainStep& step) {
  return functions[static_cast<std::size_t>(step.function)];
}

/// The output of a block in its own type.
template <class Out>
class ChainLoop {
 public:
  ChainLoop(const ElementwiseChain& op, const Signature& signature)
      : steps_(op.steps), elements_(signature.outputs[0].elements()) {
    std::int64_t bytes = static_cast<std::int64_t>(signature.outputs[0].bytes()), flops = 0;
    for (const TensorType& input : signature.inputs) {
      operands_.emplace_back(input, signature.outputs[0].shape);
      bytes += static_cast<std::int64_t>(input.bytes());
    }
    constexpr std::int64_t step_bytes = 8;  // in the first-level cache, which takes time too
    for (const ChainStep& step : steps_) flops += function_of(step).flops + step_bytes;
    blocks_ = (elements_ + chain_block - 1) / chain_block;
    threads_ = threads_for_stream(blocks_, bytes, elements_ * flops);
  }

  void operator()(Views inputs, Views outputs) const {
    parallel_ranges(threads_, blocks_, [&](int, std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        const std::int64_t begin = b * chain_block;
        run_block(inputs, begin, std::min(chain_block, elements_ - begin), outputs[0].as<Out>() + begin);
      }
    });
  }

 private:
  /// The output may be the memory of an input: an element is written after everything that is read for it.
  void run_block(Views inputs, std::int64_t begin, std::int64_t count, Out* out) const {
    ChainBuffer values, other;
    BlockOperand value = operands_[0].read(inputs[0], begin, count, values);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const ChainStep& step = steps_[s];
      float* to = values.values;
      if constexpr (std::is_same_v<Out, float>) {
        if (s + 1 == steps_.size()) to = out;
      }
      BlockOperand operand{nullptr, 0};
      if (step.operand >= 0) {
        const auto input = static_cast<std::size_t>(step.operand);
        operand = operands_[input].read(inputs[input], begin, count, other);
      }
      // A lone element would be overwritten while it is read; loops read it before they write.
      function_of(step).loop(count, to, step.reversed ? operand : value, step.reversed ? value : operand);
      value = {to, 1};
    }
    if (std::is_same_v<Out, float> && !steps_.empty()) return;
    const CastTo<Out> narrow;
    for (std::int64_t i = 0; i < count; ++i) out[i] = narrow(value.data[i * value.stride]);
  }

  std::vector<ChainStep> steps_;
  std::vector<ChainOperand> operands_;
  std::int64_t elements_, blocks_;
  int threads_;
};

std::unique_ptr<Kernel> plan_elementwise_chain(const ElementwiseChain& op, const Signature& signature, Device&) {
  return dispatch(Floating{}, op.name(), op.dtype,
                  [&]<class Out>() { return loop_kernel(ChainLoop<Out>(op, signature)); });
}

}  // namespace

void add_elementwise_chain(KernelTable& table) {
  add_row<&plan_elementwise_chain>(table);
}

std::unique_ptr<Kernel> plan_as_chain(const Op& op, const Signature& signature, Device& device) {
  const std::optional<math::Function> function = ops::function_of(op);
  const TensorType& output = signature.outputs[0];
  if (!function || !is_floating(output.dtype)) return nullptr;
  const auto stretches = [&](const TensorType& input) {
    return ops::stretch_of(input.shape, output.shape).has_value();
  };
  if (!std::ranges::all_of(signature.inputs, stretches)) return nullptr;
  const ChainStep step{*function, signature.inputs.size() == 2 ? 1 : -1};
  return plan_elementwise_chain(ElementwiseChain({step}, output.dtype, 0), signature, device);
}

}  // namespace gpubench::cpu
