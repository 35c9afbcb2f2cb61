// Kernels over all variables of a model in one fork; their elements are divided evenly among the threads.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/math/optimizer.h"
#include "core/ops/optimizer.h"

namespace gpubench::cpu {

using Shares = std::vector<std::vector<Segment>>;

/// body(share, segment) for every segment, on the device's threads.
template <class Body>
void for_each_segment(const Shares& shares, const Body& body) {
  const auto count = static_cast<std::int64_t>(shares.size());
  parallel_ranges(static_cast<int>(count), count, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      for (const Segment& segment : shares[static_cast<std::size_t>(s)]) body(s, segment);
    }
  });
}

/// A sum over each of many tensors; the order of additions depends only on the division.
class TensorSums {
 public:
  TensorSums(std::size_t tensors, std::size_t shares) : size_(tensors), shares_(shares) {}

  std::size_t workspace_bytes() const { return shares_ * size_ * sizeof(double); }

  /// part(segment) gives the segment's sum. The sums of all tensors lie in the workspace.
  template <class Part>
  const double* compute(const Shares& shares, std::span<std::byte> workspace, const Part& part) const {
    auto* const totals = reinterpret_cast<double*>(workspace.data());
    std::fill_n(totals, shares_ * size_, 0.0);
    for_each_segment(shares, [&](std::int64_t share, const Segment& segment) {
      totals[static_cast<std::size_t>(share) * size_ + segment.tensor] += part(segment);
    });
    for (std::size_t share = 1; share < shares_; ++share) {
      for (std::size_t i = 0; i < size_; ++i) totals[i] += totals[share * size_ + i];
    }
    return totals;
  }

 private:
  std::size_t size_, shares_;
};

/// A gradient that no limit changes.
struct AsItIs {
  float operator()(float g) const { return g; }
};

/// Where the tensors and scalars of an update are among its inputs.
class UpdateInputs {
 public:
  explicit UpdateInputs(const OptimizerUpdate& op)
      : first_(static_cast<std::size_t>(op.leading())),
        count_(static_cast<std::size_t>(op.variables)),
        squares_(static_cast<std::size_t>(op.squares_input())),
        skippable_(op.skippable),
        clips_(op.clips()),
        limits_norm_(op.limits_norm()),
        global_(op.clip.global),
        limit_(static_cast<float>(op.clip.value)),
        norm_(static_cast<float>(op.clip.norm)) {}

  std::span<const TensorType> variables(const Signature& signature) const {
    return signature.inputs.subspan(first_, count_);
  }
  bool skipped(Views inputs) const { return skippable_ && *inputs[first_ - 1].as<bool>(); }
  /// Groups: the variables, their gradients, then the slots.
  template <class T>
  T* at(Views inputs, std::size_t group, const Segment& segment) const {
    return inputs[first_ + group * count_ + segment.tensor].template as<T>() + segment.begin;
  }
  /// body(gradient, clip) with the segment's gradient in its type, and the function to apply to an element of it.
  template <class Body>
  void with_gradient(Views inputs, const Segment& segment, const Body& body) const {
    if (!clips_) return with_type(inputs, segment, body, AsItIs{});
    math::ClipGradient clip{1, limit_};
    if (limits_norm_) {
      const float* const squares = inputs[squares_].as<float>();
      clip.factor = math::factor_of_norm(squares[global_ ? 0 : segment.tensor], norm_);
    }
    with_type(inputs, segment, body, clip);
  }

 private:
  template <class Body, class Clip>
  void with_type(Views inputs, const Segment& segment, const Body& body, const Clip& clip) const {
    const Dtype dtype = inputs[first_ + count_ + segment.tensor].type->dtype;
    if (dtype == Dtype::f16) return body(at<math::Float16>(inputs, 1, segment), clip);
    if (dtype == Dtype::bf16) return body(at<math::Bfloat16>(inputs, 1, segment), clip);
    body(at<float>(inputs, 1, segment), clip);
  }

  std::size_t first_, count_, squares_;
  bool skippable_, clips_, limits_norm_, global_;
  float limit_, norm_;
};

}  // namespace gpubench::cpu
