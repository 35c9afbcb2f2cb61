#include "core/backend/cpu/pool.h"

#include <array>
#include <cstring>

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/pool_window.h"

namespace gpubench::cpu {
namespace {

/// Channels that are handled together; the compiler keeps such a block in vector registers.
constexpr std::int64_t block = 32;

struct Plan {
  Plan(std::string_view op, const Pool2DAttributes& options, const TensorType& image, Device& device)
      : window(op, options, image.shape) {
    require_float32(op, image);
    device.bind_to_thread();
    lines = window.batch * window.out_height;
    cost = image.elements() * 2;
  }

  PoolWindow window;
  std::int64_t lines = 0, cost = 0;
};

/// The maximum of a window for `count` channels from `x` (the window's first channel block in its image).
template <class Winner>
void max_window(const PoolWindow& w, const PoolWindow::Place& at, const float* x, std::int64_t count, float* y,
                Winner* winners) {
  std::array<float, block> best;
  std::array<std::int32_t, block> who;
  bool first = true;
  for (std::int64_t row = at.top; row < at.bottom; ++row) {
    for (std::int64_t column = at.left; column < at.right; ++column) {
      const float* const here = x + (row * w.width + column) * w.channels;
      const auto index = static_cast<std::int32_t>((row - at.first_row) * w.size[1] + column - at.first_column);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const bool better = first || here[i] > best[i];
        best[i] = better ? here[i] : best[i];
        who[i] = better ? index : who[i];
      }
      first = false;
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    y[i] = best[i];
    winners[i] = static_cast<Winner>(who[i]);
  }
}

template <class Winner>
std::unique_ptr<Kernel> plan_max(const Plan& plan) {
  const int threads = threads_for(plan.lines, plan.cost);
  return loop_kernel([plan, threads](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    float* const y = outputs[0].as<float>();
    Winner* const winners = outputs[1].as<Winner>();
    const PoolWindow& w = plan.window;
    parallel_ranges(threads, plan.lines, [&](int, std::int64_t begin, std::int64_t end) {
      w.for_rows(begin, end, [&](std::int64_t image, std::int64_t index, const PoolWindow::Place& at) {
        const float* const from = x + image * w.image_elements();
        std::int64_t c = 0;
        for (; c + block <= w.channels; c += block) {
          max_window(w, at, from + c, block, y + index * w.channels + c, winners + index * w.channels + c);
        }
        if (c == w.channels) return;
        max_window(w, at, from + c, w.channels - c, y + index * w.channels + c, winners + index * w.channels + c);
      });
    });
  });
}

/// Calls scatter(image's dx, window's index, place) for all windows, image by image. dx holds zeros before, unless
/// every element of it will be written.
template <class Scatter>
void scatter_windows(const Plan& plan, bool covered, float* dx, Scatter&& scatter) {
  const PoolWindow& w = plan.window;
  const int threads = threads_for(w.batch, plan.cost);
  parallel_ranges(threads, w.batch, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t image = begin; image < end; ++image) {
      float* const to = dx + image * w.image_elements();
      if (!covered) std::memset(to, 0, static_cast<std::size_t>(w.image_elements()) * sizeof(float));
      w.for_rows(image * w.out_height, (image + 1) * w.out_height,
                 [&](std::int64_t, std::int64_t index, const PoolWindow::Place& at) { scatter(to, index, at); });
    }
  });
}

/// Calls body(first element of the image's channels, index inside the window) for each element of the window.
template <class Body>
void for_each_element(const PoolWindow& w, const PoolWindow::Place& at, Body&& body) {
  for (std::int64_t row = at.top; row < at.bottom; ++row) {
    for (std::int64_t column = at.left; column < at.right; ++column) {
      body((row * w.width + column) * w.channels,
           static_cast<std::int32_t>((row - at.first_row) * w.size[1] + column - at.first_column));
    }
  }
}

template <class Winner>
std::unique_ptr<Kernel> plan_max_gradient(const Plan& plan) {
  return loop_kernel([plan, disjoint = plan.window.disjoint()](Views inputs, Views outputs) {
    const float* const dy = inputs[0].as<float>();
    const Winner* const winners = inputs[1].as<Winner>();
    const PoolWindow& w = plan.window;
    const auto scatter = [&](float* dx, std::int64_t index, const PoolWindow::Place& at) {
      const float* const slope = dy + index * w.channels;
      const Winner* const winner = winners + index * w.channels;
      for_each_element(w, at, [&](std::int64_t offset, std::int32_t element) {
        float* const to = dx + offset;
        for (std::int64_t c = 0; c < w.channels; ++c) {
          const float part = static_cast<std::int32_t>(winner[c]) == element ? slope[c] : 0.0F;
          to[c] = disjoint ? part : to[c] + part;
        }
      });
    };
    scatter_windows(plan, w.tiles(), outputs[0].as<float>(), scatter);
  });
}

float elements_of(const PoolWindow::Place& at) {
  return static_cast<float>((at.bottom - at.top) * (at.right - at.left));
}

}  // namespace

std::unique_ptr<Kernel> plan_max_pool2d(const MaxPool2D& op, const Signature& signature, Device& device) {
  const Plan plan(op.name(), op.options, signature.inputs[0], device);
  if (signature.outputs[1].dtype == Dtype::u8) return plan_max<std::uint8_t>(plan);
  return plan_max<std::int32_t>(plan);
}

std::unique_ptr<Kernel> plan_max_pool2d_gradient(const MaxPool2DGradient& op, const Signature& signature,
                                                 Device& device) {
  const Plan plan(op.name(), op.options, signature.outputs[0], device);
  if (signature.inputs[1].dtype == Dtype::u8) return plan_max_gradient<std::uint8_t>(plan);
  return plan_max_gradient<std::int32_t>(plan);
}

std::unique_ptr<Kernel> plan_average_pool2d(const AveragePool2D& op, const Signature& signature, Device& device) {
  const Plan plan(op.name(), op.options, signature.inputs[0], device);
  const int threads = threads_for(plan.lines, plan.cost);
  return loop_kernel([plan, threads](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    float* const y = outputs[0].as<float>();
    const PoolWindow& w = plan.window;
    parallel_ranges(threads, plan.lines, [&](int, std::int64_t begin, std::int64_t end) {
      w.for_rows(begin, end, [&](std::int64_t image, std::int64_t index, const PoolWindow::Place& at) {
        const float* const from = x + image * w.image_elements();
        float* const to = y + index * w.channels;
        std::fill_n(to, w.channels, 0.0F);
        for_each_element(w, at, [&](std::int64_t offset, std::int32_t) {
          for (std::int64_t c = 0; c < w.channels; ++c) to[c] += from[offset + c];
        });
        const float scale = 1.0F / elements_of(at);
        for (std::int64_t c = 0; c < w.channels; ++c) to[c] *= scale;
      });
    });
  });
}

std::unique_ptr<Kernel> plan_average_pool2d_gradient(const AveragePool2DGradient& op, const Signature& signature,
                                                     Device& device) {
  const Plan plan(op.name(), op.options, signature.outputs[0], device);
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const dy = inputs[0].as<float>();
    const PoolWindow& w = plan.window;
    const auto scatter = [&](float* dx, std::int64_t index, const PoolWindow::Place& at) {
      const float* const slope = dy + index * w.channels;
      const float scale = 1.0F / elements_of(at);
      for_each_element(w, at, [&](std::int64_t offset, std::int32_t) {
        for (std::int64_t c = 0; c < w.channels; ++c) dx[offset + c] += slope[c] * scale;
      });
    };
    scatter_windows(plan, false, outputs[0].as<float>(), scatter);
  });
}

}  // namespace gpubench::cpu
