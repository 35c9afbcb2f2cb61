// Pooling in loops over channels, which lie next to each other: oneDNN's kernels were measured at half the speed.
#include "core/ops/pool.h"

#include <array>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/pool_loops.h"
#include "core/backend/cpu/widened.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

struct Plan {
  Plan(std::string_view op, const Pool2DAttributes& options, const TensorType& image, Device& device)
      : window(op, options, image.shape), cost(image.elements() * 2) {
    device.bind_to_thread();
  }
  int threads_for_images() const { return threads_for(window.batch, cost); }

  /// body(image, first result row, last result row), in the device's threads.
  template <class Body>
  void for_rows(Body&& body) const {
    const std::int64_t lines = window.batch * window.out_height;
    parallel_ranges(threads_for(lines, cost), lines, [&](int, std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t image = begin / window.out_height, start = image * window.out_height;
        const std::int64_t last = std::min(end, start + window.out_height);
        body(image, begin - start, last - start);
        begin = last;
      }
    });
  }

  /// body(image, thread), in the device's threads.
  template <class Body>
  void for_images(Body&& body) const {
    parallel_ranges(threads_for_images(), window.batch, [&](int thread, std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) body(image, thread);
    });
  }

  PoolWindow window;
  std::int64_t cost;
};

template <class Winner>
std::unique_ptr<Kernel> plan_max(const Plan& plan) {
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    float* const y = outputs[0].as<float>();
    Winner* const winners = outputs[1].as<Winner>();
    const PoolWindow& w = plan.window;
    plan.for_rows([&](std::int64_t image, std::int64_t first, std::int64_t last) {
      const std::int64_t to = image * w.result_elements();
      max_pool_rows(w, first, last, x + image * w.image_elements(), y + to, winners + to);
    });
  });
}

template <class Winner>
std::unique_ptr<Kernel> plan_max_gradient(const Plan& plan) {
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const dy = inputs[0].as<float>();
    const Winner* const winners = inputs[1].as<Winner>();
    float* const dx = outputs[0].as<float>();
    const PoolWindow& w = plan.window;
    plan.for_images([&](std::int64_t image, int) {
      const std::int64_t from = image * w.result_elements();
      max_pool_gradient(w, dy + from, winners + from, dx + image * w.image_elements());
    });
  });
}

float elements_of(const PoolWindow::Place& at) {
  return static_cast<float>((at.bottom - at.top) * (at.right - at.left));
}

/// Number of channels that are summed at a time, in float32 for every image type.
constexpr std::int64_t channels_at_once = 64;

/// The mean of a window of the image `x`, by channels, into `y`.
template <class T>
void mean_of_window(const PoolWindow& w, const PoolWindow::Place& at, const T* x, T* y) {
  const float scale = 1.0F / elements_of(at);
  for (std::int64_t first = 0; first < w.channels; first += channels_at_once) {
    const std::int64_t count = std::min(channels_at_once, w.channels - first);
    std::array<float, channels_at_once> sums{};
    for_each_element(w, at, [&](std::int64_t offset, std::int32_t) {
      const T* const from = x + offset + first;
      for (std::int64_t c = 0; c < count; ++c) sums[static_cast<std::size_t>(c)] += widen(from[c]);
    });
    for (std::int64_t c = 0; c < count; ++c) y[first + c] = CastTo<T>{}(sums[static_cast<std::size_t>(c)] * scale);
  }
}

/// Adds the slopes `dy` of an image's means to the float32 slopes `dx` of its elements.
template <class T>
void spread_means(const PoolWindow& w, const T* dy, float* dx) {
  w.for_rows(0, w.out_height, [&](std::int64_t index, const PoolWindow::Place& at) {
    const T* const slope = dy + index * w.channels;
    const float scale = 1.0F / elements_of(at);
    for_each_element(w, at, [&](std::int64_t offset, std::int32_t) {
      for (std::int64_t c = 0; c < w.channels; ++c) dx[offset + c] += widen(slope[c]) * scale;
    });
  });
}

std::unique_ptr<Kernel> plan_max_pool2d(const MaxPool2D& op, const Signature& signature, Device& device) {
  require_float32(op.name(), signature.inputs[0]);
  const Plan plan(op.name(), op.options, signature.inputs[0], device);
  if (signature.outputs[1].dtype == Dtype::u8) return plan_max<std::uint8_t>(plan);
  return plan_max<std::int32_t>(plan);
}

std::unique_ptr<Kernel> plan_max_pool2d_gradient(const MaxPool2DGradient& op, const Signature& signature,
                                                 Device& device) {
  require_float32(op.name(), signature.outputs[0]);
  const Plan plan(op.name(), op.options, signature.outputs[0], device);
  if (signature.inputs[1].dtype == Dtype::u8) return plan_max_gradient<std::uint8_t>(plan);
  return plan_max_gradient<std::int32_t>(plan);
}

std::unique_ptr<Kernel> plan_average_pool2d(const AveragePool2D& op, const Signature& signature, Device& device) {
  const Plan plan(op.name(), op.options, signature.inputs[0], device);
  return dispatch(Floating{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return loop_kernel([plan](Views inputs, Views outputs) {
      const T* const x = inputs[0].as<T>();
      T* const y = outputs[0].as<T>();
      const PoolWindow& w = plan.window;
      plan.for_rows([&](std::int64_t image, std::int64_t first, std::int64_t last) {
        const T* const from = x + image * w.image_elements();
        T* const to = y + image * w.result_elements();
        w.for_rows(first, last, [&](std::int64_t index, const PoolWindow::Place& at) {
          mean_of_window(w, at, from, to + index * w.channels);
        });
      });
    });
  });
}

std::unique_ptr<Kernel> plan_average_pool2d_gradient(const AveragePool2DGradient& op, const Signature& signature,
                                                     Device& device) {
  const Plan plan(op.name(), op.options, signature.outputs[0], device);
  return dispatch(Floating{}, op.name(), signature.outputs[0].dtype, [&]<class T>() {
    // Windows overlap: sums of 16-bit types are kept in float32, an image at a time.
    constexpr bool is_sum = std::is_same_v<T, float>;
    const auto sums = static_cast<std::size_t>(plan.threads_for_images() * plan.window.image_elements());
    return loop_kernel(
        [plan](Views inputs, Views outputs, std::span<std::byte> workspace) {
          const T* const dy = inputs[0].as<T>();
          T* const gradient = outputs[0].as<T>();
          const PoolWindow& w = plan.window;
          plan.for_images([&](std::int64_t image, int thread) {
            T* const dx = gradient + image * w.image_elements();
            float* sum = nullptr;
            if constexpr (is_sum) {
              sum = dx;
            } else {
              sum = reinterpret_cast<float*>(workspace.data()) + thread * w.image_elements();
            }
            std::fill_n(sum, w.image_elements(), 0.0F);
            spread_means(w, dy + image * w.result_elements(), sum);
            if constexpr (!is_sum) std::transform(sum, sum + w.image_elements(), dx, CastTo<T>{});
          });
        },
        is_sum ? 0 : sums * sizeof(float));
  });
}

}  // namespace

void add_pool(KernelTable& table) {
  add_float32_row<&plan_max_pool2d>(table);
  add_float32_row<&plan_max_pool2d_gradient>(table);
  add_row<&plan_average_pool2d>(table);
  add_row<&plan_average_pool2d_gradient>(table);
}

}  // namespace gpubench::cpu
