// Maximum and mean over sliding windows of images [batch, height, width, channels]. The maximum also returns which
// element of each window won, so that its gradient does not read the image again.
#pragma once
#include "core/graph/graph.h"
#include "core/ops/window.h"

namespace gpubench {

struct Pool2DAttributes {
  Extents size = {2, 2};
  Extents strides = {2, 2};
  Padding padding = Padding::valid;
};

/// How the window slides over the image; throws Error for windows that do not fit.
std::array<WindowAxis, 2> slide(std::string_view op, const Pool2DAttributes& options, const Shape& image);

/// x -> y, winners: the index in the window (row by row) of the largest element, the first of equal ones. uint8 if a
/// window has at most 256 elements, else int32; padding never wins.
class MaxPool2D final : public Op {
 public:
  explicit MaxPool2D(Pool2DAttributes given = {}) : options(given) {}
  std::string_view name() const override { return "max_pool2d"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  /// One comparison per element of each window.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const Pool2DAttributes options;
};

/// dy, winners -> dx of `input_shape`
class MaxPool2DGradient final : public Op {
 public:
  MaxPool2DGradient(Pool2DAttributes given, Shape shape) : options(given), input_shape(std::move(shape)) {}
  std::string_view name() const override { return "max_pool2d_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;

  const Pool2DAttributes options;
  const Shape input_shape;
};

/// x -> y; padding does not count in the mean.
class AveragePool2D final : public Op {
 public:
  explicit AveragePool2D(Pool2DAttributes given = {}) : options(given) {}
  std::string_view name() const override { return "average_pool2d"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  /// One addition per element of each window.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const Pool2DAttributes options;
};

/// dy -> dx of `input_shape`
class AveragePool2DGradient final : public Op {
 public:
  AveragePool2DGradient(Pool2DAttributes given, Shape shape) : options(given), input_shape(std::move(shape)) {}
  std::string_view name() const override { return "average_pool2d_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;

  const Pool2DAttributes options;
  const Shape input_shape;
};

namespace ops {

/// The maxima; the winners are output 1 of the same node.
Value max_pool2d(Graph& graph, Value x, const Pool2DAttributes& options = {});
Value max_pool2d_gradient(Graph& graph, Value dy, Value winners, const Pool2DAttributes& options, Shape input_shape);
Value average_pool2d(Graph& graph, Value x, const Pool2DAttributes& options = {});
Value average_pool2d_gradient(Graph& graph, Value dy, const Pool2DAttributes& options, Shape input_shape);

}  // namespace ops
}  // namespace gpubench
