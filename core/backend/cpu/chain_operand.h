// One input of a chain of element-wise steps, a block of the output at a time: where it lies as float32 in the output's
// order. It is copied only where it is stretched by repetition or of another type.
#pragma once
#include <algorithm>
#include <cstring>

#include "core/backend/cpu/stored.h"
#include "core/ops/elementwise_chain.h"

namespace gpubench::cpu {

/// Elements of the output that steps work on at once: the value and an operand stay in the first-level cache.
inline constexpr std::int64_t chain_block = 2048;

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

}  // namespace gpubench::cpu
