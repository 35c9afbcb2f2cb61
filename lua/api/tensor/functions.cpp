// gb.tensor, gb.zeros, gb.Variable and the functions of several tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/ops/attention.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/random.h"
#include "core/ops/shape_ops.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/numbers.h"
#include "lua/api/tensor/ops.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/tensor/trace.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct TensorOptions {
  std::optional<Dtype> dtype;
  static constexpr auto fields = std::tuple{field("dtype", &TensorOptions::dtype)};
};

int tensor(lua_State* L) {
  const auto options = Value<TensorOptions>::read(L, 2);
  if (Value<Tensor>::matches(L, 1)) {
    Tensor given = Value<Tensor>::read(L, 1);
    if (options.dtype && *options.dtype != given.type().dtype) {
      const OpPtr cast = std::make_shared<const Cast>(*options.dtype);
      given = world_of(L).dispatcher.apply_one(cast, std::array{given});
    }
    Value<Tensor>::push(L, given);
    return 1;
  }
  Value<Tensor>::push(L, world_of(L).dispatcher.constant(read_host_tensor(L, 1, options.dtype)));
  return 1;
}

void check_shape(const Shape& shape) {
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw ArgumentError(fmt::format("the shape {} has a negative extent", to_string(shape)));
  }
}

Tensor full(lua_State* L, Shape shape, PlainNumber value, const TensorOptions& options) {
  check_shape(shape);
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const Tensor scalar = scalar_constant(L, value, options.dtype.value_or(Dtype::f32));
  if (shape.empty()) return scalar;
  return dispatcher.apply_one(std::make_shared<const BroadcastTo>(std::move(shape)), std::array{scalar});
}

Tensor zeros(lua_State* L, Shape shape, const TensorOptions& options) {
  return full(L, std::move(shape), std::int64_t{0}, options);
}
Tensor ones(lua_State* L, Shape shape, const TensorOptions& options) {
  return full(L, std::move(shape), std::int64_t{1}, options);
}

/// How many numbers arange has of this range.
std::int64_t count_between(std::int64_t first, std::int64_t stop, std::int64_t step) {
  using Unsigned = std::uint64_t;
  if (step > 0 ? stop <= first : stop >= first) return 0;
  const Unsigned low = static_cast<Unsigned>(step > 0 ? first : stop),
                 high = static_cast<Unsigned>(step > 0 ? stop : first);
  const Unsigned width = step > 0 ? static_cast<Unsigned>(step) : Unsigned{0} - static_cast<Unsigned>(step);
  constexpr auto most = static_cast<Unsigned>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min((high - low - 1) / width + 1, most));
}
std::int64_t count_between(double first, double stop, double step) {
  const double count = std::ceil((stop - first) / step);
  if (std::isnan(count))
    throw ArgumentError(fmt::format("from {} to {} in steps of {} is no range", first, stop, step));
  return count > 0 ? static_cast<std::int64_t>(std::min(count, 0x1p62)) : 0;
}

template <class T>
Tensor range_of(lua_State* L, T first, T stop, T step) {
  if (step == T{0}) throw ArgumentError("a step of 0 never arrives");
  using Element = std::conditional_t<std::is_integral_v<T>, std::int64_t, float>;
  HostTensor values(TensorType{{count_between(first, stop, step)}, dtype_of<Element>});
  T index{0};
  for (Element& value : values.values<Element>()) value = static_cast<Element>(first + step * index++);
  return world_of(L).dispatcher.constant(values);
}

/// first, first + step, ... up to before stop: int64 where all are whole, else float32. One number is the stop.
Tensor arange(lua_State* L, PlainNumber first, std::optional<PlainNumber> stop, std::optional<PlainNumber> step) {
  if (!stop) {
    if (const auto* const count = std::get_if<std::int64_t>(&first)) check_shape({*count});
    stop = std::exchange(first, std::int64_t{0});
  }
  const std::array numbers{first, *stop, step.value_or(std::int64_t{1})};
  const auto is_whole = [](const PlainNumber& number) { return std::holds_alternative<std::int64_t>(number); };
  if (std::ranges::all_of(numbers, is_whole)) {
    return range_of(L, std::get<std::int64_t>(numbers[0]), std::get<std::int64_t>(numbers[1]),
                    std::get<std::int64_t>(numbers[2]));
  }
  const auto real = [](const PlainNumber& number) {
    return std::visit([](auto value) { return static_cast<double>(value); }, number);
  };
  return range_of(L, real(numbers[0]), real(numbers[1]), real(numbers[2]));
}

/// `count` numbers from start to stop, both included unless `endpoint` is false.
Tensor linspace(lua_State* L, double start, double stop, std::optional<std::int64_t> count,
                std::optional<bool> endpoint) {
  constexpr std::int64_t usual_count = 50;
  check_shape({count.value_or(usual_count)});
  HostTensor values(TensorType{{count.value_or(usual_count)}, Dtype::f32});
  const auto intervals = static_cast<double>(values.elements() - (endpoint.value_or(true) ? 1 : 0));
  double index = 0;
  for (float& value : values.values<float>()) {
    value = static_cast<float>(intervals > 0 ? start + (stop - start) * (index++ / intervals) : start);
  }
  return world_of(L).dispatcher.constant(values);
}

/// 1 on a diagonal, else 0.
Tensor eye(lua_State* L, std::int64_t rows, std::optional<std::int64_t> columns, std::optional<std::int64_t> diagonal) {
  check_shape({rows, columns.value_or(rows)});
  HostTensor values = HostTensor::zeros(TensorType{{rows, columns.value_or(rows)}, Dtype::f32});
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t column = row + diagonal.value_or(0);
    if (column < 0 || column >= values.shape()[1]) continue;
    values.values<float>()[static_cast<std::size_t>(row * values.shape()[1] + column)] = 1;
  }
  return world_of(L).dispatcher.constant(values);
}

struct UniformOptions {
  double low = 0, high = 1;
  std::optional<std::uint64_t> seed;
  static constexpr auto fields = std::tuple{field("low", &UniformOptions::low), field("high", &UniformOptions::high),
                                            field("seed", &UniformOptions::seed)};
};

struct NormalOptions {
  double mean = 0, stddev = 1;
  std::optional<std::uint64_t> seed;
  static constexpr auto fields =
      std::tuple{field("mean", &NormalOptions::mean), field("stddev", &NormalOptions::stddev),
                 field("seed", &NormalOptions::seed)};
};

Tensor draw(lua_State* L, const OpPtr& op) {
  return world_of(L).dispatcher.apply_one(op, std::array{step_of_draw(L)});
}

Tensor random_uniform(lua_State* L, Shape shape, const UniformOptions& o) {
  check_shape(shape);
  const std::uint64_t seed = o.seed ? *o.seed : session_of(L).random.next_seed();
  return draw(L, std::make_shared<const RandomUniform>(std::move(shape), o.low, o.high, seed));
}

Tensor random_normal(lua_State* L, Shape shape, const NormalOptions& o) {
  check_shape(shape);
  const std::uint64_t seed = o.seed ? *o.seed : session_of(L).random.next_seed();
  return draw(L, std::make_shared<const RandomNormal>(std::move(shape), o.mean, o.stddev, seed));
}

Tensor concat(lua_State* L, const std::vector<Tensor>& parts, std::optional<std::int64_t> axis) {
  if (parts.empty()) throw ArgumentError("concat needs at least one tensor");
  return world_of(L).dispatcher.apply_one(std::make_shared<const Concat>(axis.value_or(0)), parts);
}

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
  static constexpr auto fields =
      std::tuple{field("transpose_a", &MatmulOptions::transpose_a), field("transpose_b", &MatmulOptions::transpose_b)};
};

Tensor matmul(lua_State* L, const Tensor& a, const Tensor& b, const MatmulOptions& o) {
  const MatmulAttributes attributes{.transpose_a = o.transpose_a, .transpose_b = o.transpose_b};
  return world_of(L).dispatcher.apply_one(std::make_shared<const Matmul>(attributes), std::array{a, b});
}

/// Elements of `a` where the condition holds, else of `b`. A plain number takes the other's dtype.
Tensor where(lua_State* L, const Tensor& condition, TensorOperand a, TensorOperand b) {
  std::optional<Dtype> dtype;
  for (const TensorOperand operand : {a, b}) {
    if (dtype || !Value<Tensor>::matches(L, operand.index)) continue;
    dtype = world_of(L).dispatcher.dtype_of(Value<Tensor>::read(L, operand.index));
  }
  return apply<Select>(L, std::array{condition, read_tensor(L, a.index, dtype), read_tensor(L, b.index, dtype)});
}

struct AttentionCallOptions {
  std::variant<std::monostate, Tensor> mask;
  std::optional<double> scale;
  bool is_causal = false;
  static constexpr auto fields =
      std::tuple{field("mask", &AttentionCallOptions::mask), field("scale", &AttentionCallOptions::scale),
                 field("is_causal", &AttentionCallOptions::is_causal)};
};

Tensor dot_product_attention(lua_State* L, const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionCallOptions& o) {
  std::vector<Tensor> inputs{query, key, value};
  const Tensor* const mask = std::get_if<Tensor>(&o.mask);
  if (mask != nullptr) inputs.push_back(*mask);
  const Shape& shape = query.type().shape;
  const double width = shape.empty() ? 1 : static_cast<double>(std::max<std::int64_t>(1, shape.back()));
  const AttentionOptions options{
      .scale = o.scale.value_or(1 / std::sqrt(width)), .causal = o.is_causal, .mask = mask != nullptr};
  return world_of(L).dispatcher.apply_one(std::make_shared<const Attention>(options), inputs);
}

struct VariableOptions {
  std::string name = "variable";
  bool trainable = true;
  std::optional<Dtype> dtype;
  static constexpr auto fields =
      std::tuple{field("name", &VariableOptions::name), field("trainable", &VariableOptions::trainable),
                 field("dtype", &VariableOptions::dtype)};
};

int variable(lua_State* L) {
  const auto options = Value<VariableOptions>::read(L, 2);
  World& world = world_of(L);
  if (world.dispatcher.trace() != nullptr) throw Error("gb.Variable: make variables before the function is compiled");
  const HostTensor initial = Value<Tensor>::matches(L, 1) ? world.dispatcher.eager().download(Value<Tensor>::read(L, 1))
                                                          : read_host_tensor(L, 1, options.dtype);
  const VariablePtr made =
      world.runtime.variables().create(options.name, initial, world.dispatcher.device(), options.trainable);
  Value<Tensor>::push(L, world.dispatcher.variable(made));
  return 1;
}

}  // namespace

void open_tensor_functions(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&tensor, 2>("tensor")
      .function<&full>("full")
      .function<&zeros>("zeros")
      .function<&ones>("ones")
      .function<&arange>("arange")
      .function<&linspace>("linspace")
      .function<&eye>("eye")
      .function<&concat>("concat")
      .function<&dot_product_attention>("dot_product_attention")
      .function<&matmul>("matmul")
      .function<&where>("where")
      .function<&variable, 2>("Variable");
  add_composed(gb);
  add_places(gb);
  add_einsum(gb);
  const Module random = gb.submodule("random");
  random.function<&random_uniform>("uniform").function<&random_normal>("normal");
}

}  // namespace gpubench::lua
