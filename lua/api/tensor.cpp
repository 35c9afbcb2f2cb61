// The class Tensor: arithmetic, slicing, reductions, conversion. Every function goes through the dispatcher, so that it
// works eagerly, inside gb.compile and maps, and under tapes.
#include "lua/api/tensor.h"

#include <algorithm>
#include <array>
#include <climits>
#include <fmt/format.h>
#include <memory>
#include <variant>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/softmax.h"
#include "core/ops/state.h"
#include "lua/api/element_values.h"
#include "lua/api/openers.h"
#include "lua/api/tensor_axes.h"
#include "lua/api/tensor_composed.h"
#include "lua/api/tensor_conditions.h"
#include "lua/api/tensor_numbers.h"
#include "lua/api/tensor_ops.h"
#include "lua/api/tensor_shape.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

Tensor gelu(lua_State* L, const Tensor& x, std::optional<bool> approximate) {
  return approximate.value_or(false) ? unary<GeluTanh>(L, x) : unary<Gelu>(L, x);
}

template <class O>
Tensor reduction(lua_State* L, const Tensor& x, Axes axes, std::optional<bool> keepdims) {
  return apply<O>(L, std::array{x}, axes_of(axes), keepdims.value_or(false));
}

Tensor argmax(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis) {
  return apply<ArgMax>(L, std::array{x}, axis.value_or(-1));
}

Tensor cumsum(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis, std::optional<bool> reverse) {
  return apply<Cumsum>(L, std::array{x}, axis.value_or(0), reverse.value_or(false));
}

Tensor reshape(lua_State* L, const Tensor& x, Shape shape) {
  return apply<Reshape>(L, std::array{x}, std::move(shape));
}

Tensor transpose(lua_State* L, const Tensor& x, std::optional<std::vector<std::int64_t>> permutation) {
  return apply<Transpose>(L, std::array{x}, permutation.value_or(std::vector<std::int64_t>{}));
}

Tensor cast(lua_State* L, const Tensor& x, Dtype dtype) {
  if (x.type().dtype == dtype) return x;
  return apply<Cast>(L, std::array{x}, dtype);
}

Tensor one_hot(lua_State* L, const Tensor& x, std::int64_t depth, std::optional<Dtype> dtype) {
  return apply<OneHot>(L, std::array{x}, depth, dtype.value_or(Dtype::f32));
}

Tensor matmul_method(lua_State* L, const Tensor& a, const Tensor& b) {
  return apply<Matmul>(L, std::array{a, b});
}

Tensor to_device(lua_State* L, const Tensor& x, const DeviceId& device) {
  if (x.symbolic()) throw Error("to: a traced tensor is placed by gb.device, not moved");
  world_of(L).devices.device(device);
  return world_of(L).dispatcher.eager().transfer(x, device);
}

Tensor pin_memory(lua_State* L, const Tensor& x) {
  if (x.symbolic()) throw Error("pin_memory: a traced tensor has no memory yet");
  return world_of(L).dispatcher.eager().pin(x);
}

// Slicing is 1-based and inclusive, as in Lua. The op checks the bounds, since a traced function meets other extents.

/// Adds the range of a dimension: where Lua's `first` and `last` lie, negative ones from the end.
void add_range(SliceRange& range, std::int64_t first, std::int64_t last, std::int64_t stride) {
  if (first == 0 || last == 0) throw ArgumentError("index 0 is out of range: elements are numbered from 1");
  range.begin.push_back(first > 0 ? first - 1 : first);
  range.end.push_back(last == -1 ? SliceRange::to_end : last > 0 ? std::min(last, SliceRange::to_end - 1) : last + 1);
  range.stride.push_back(stride);
  if (range.begin.back() == range.end.back()) {
    throw ArgumentError(fmt::format("the range {{{}, {}}} holds nothing", first, last));
  }
}

void add_row(SliceRange& range, std::int64_t number) {
  add_range(range, number, number, 1);
}

void add_range(SliceRange& range, const std::vector<std::int64_t>& bounds) {
  if (bounds.size() > 3) throw ArgumentError("a range is {first, last, stride}, {first, last}, {index} or {}");
  const std::int64_t first = bounds.empty() ? 1 : bounds[0];
  const std::int64_t last = bounds.empty() ? -1 : bounds.size() == 1 ? first : bounds[1];
  add_range(range, first, last, bounds.size() == 3 ? bounds[2] : 1);
}

Tensor rows(lua_State* L, const Tensor& x, std::int64_t first, std::int64_t last) {
  if (x.type().rank() == 0) throw ArgumentError("a scalar cannot be sliced");
  SliceRange range;
  add_range(range, first, last, 1);
  return apply<Slice>(L, std::array{x}, std::move(range));
}

/// One range for the first dimension, {first, last}, or a list of them, one per dimension.
SliceRange read_ranges(lua_State* L, int key, const Shape& shape) {
  using Bounds = std::vector<std::int64_t>;
  SliceRange range;
  lua_rawgeti(L, key, 1);
  const bool one_per_dimension = lua_istable(L, -1);
  lua_pop(L, 1);
  if (!one_per_dimension) {
    add_range(range, Value<Bounds>::read(L, key));
    return range;
  }
  const auto ranges = Value<std::vector<Bounds>>::read(L, key);
  if (ranges.size() > shape.size()) {
    throw ArgumentError(fmt::format("{} ranges for a tensor of {} dimensions", ranges.size(), shape.size()));
  }
  for (const Bounds& bounds : ranges) add_range(range, bounds);
  return range;
}

/// x[i]: row i; nil behind the last row, which ends ipairs. x[{first, last}]: rows. x[{{a, b}, {}, {c}}]: a range per
/// dimension.
int index(lua_State* L) {
  const Tensor x = Value<Tensor>::read(L, 1);
  const Shape& shape = x.type().shape;
  if (shape.empty()) throw ArgumentError("a scalar cannot be indexed; item() gives its value");
  if (lua_istable(L, 2)) {
    Value<Tensor>::push(L, apply<Slice>(L, std::array{x}, read_ranges(L, 2, shape)));
    return 1;
  }
  const auto number = Value<std::int64_t>::read(L, 2);
  if (!x.symbolic() && number == shape[0] + 1) {
    lua_pushnil(L);
    return 1;
  }
  SliceRange range;
  add_row(range, number);
  const Tensor row = apply<Slice>(L, std::array{x}, std::move(range));
  Value<Tensor>::push(L, reshape(L, row, with_open_extent({shape.begin() + 1, shape.end()})));
  return 1;
}

/// The rows that x[key] names, numbered from 0: one, or the elements of a range.
struct Rows {
  std::int64_t first, count;
  bool one;  ///< x[i], whose values lack the first dimension
};

Rows rows_named(lua_State* L, int key, const TensorType& type) {
  SliceRange range;
  const bool one = !lua_istable(L, key);
  if (one)
    add_row(range, Value<std::int64_t>::read(L, key));
  else
    range = read_ranges(L, key, type.shape);
  const ResolvedSlice found = Slice(range).resolve(type);
  for (std::size_t i = 1; i < type.shape.size(); ++i) {
    if (found.shape[i] != type.shape[i]) {
      throw ArgumentError("whole rows are assigned: x[i] = row or x[{first, last}] = rows; a part of a row cannot be");
    }
  }
  if (found.stride[0] != 1 && found.shape[0] > 1) throw ArgumentError("rows with gaps cannot be assigned in one go");
  return {found.begin[0], found.shape[0], one};
}

/// Values of `type`; a single number fills it.
Tensor read_values(lua_State* L, int index, const TensorType& type) {
  const Tensor values = read_tensor(L, index, type.dtype);
  if (values.type().rank() != 0 || type.rank() == 0) return values;
  return apply<BroadcastTo>(L, std::array{values}, type.shape);
}

/// x[i] = row, x[{first, last}] = rows: of a variable, or of a tensor in memory of its own, which is copied first where
/// another tensor or a dataset reads it, so that theirs keeps its values.
int assign_rows(lua_State* L) {
  const auto x = Value<std::shared_ptr<Tensor>>::read(L, 1);
  Dispatcher& dispatcher = world_of(L).dispatcher;
  if (x->symbolic() || dispatcher.trace() != nullptr) {
    throw ArgumentError("rows cannot be assigned in a traced function; gb.concat and gb.where make a new tensor");
  }
  if (dispatcher.recording()) {
    throw ArgumentError(
        "rows cannot be assigned while a tape records, because that has no gradient; gb.concat and "
        "gb.where make a new tensor");
  }
  if (x->type().rank() == 0) throw ArgumentError("a scalar has no rows");
  const Rows rows = rows_named(L, 2, x->type());
  Shape shape = x->type().shape;
  shape[0] = rows.count;
  const std::size_t row_bytes = rows.count == 0 ? 0 : TensorType{shape, x->type().dtype}.bytes() / rows.count;
  if (rows.one) shape.erase(shape.begin());
  const TensorType type{std::move(shape), x->type().dtype};
  const Tensor values = read_values(L, 3, type);
  if (values.type() != type) {
    throw ArgumentError(fmt::format("the rows are {}, got {}", to_string(type), to_string(values.type())));
  }
  if (rows.count == 0) return 0;
  Eager& eager = dispatcher.eager();
  if (x->variable() == nullptr && !x->alone()) *x = eager.copy(*x);
  const Tensor target(type, *x, static_cast<std::size_t>(rows.first) * row_bytes);
  eager.apply(std::make_shared<const Assign>(), std::array{target, values}, x->device(), "assign");
  return 0;
}

Number item(lua_State* L, const Tensor& x) {
  if (!x.symbolic() && x.type().elements() != 1) {
    throw ArgumentError(fmt::format("item() needs one element, {} has {}", to_string(x.type()), x.type().elements()));
  }
  return element_of(download(L, x), 0);
}

void push_table(lua_State* L, const HostTensor& values, std::size_t depth, std::int64_t& next) {
  if (depth == values.shape().size()) {
    Value<Number>::push(L, element_of(values, next++));
    return;
  }
  luaL_checkstack(L, 3, "nested tables");
  lua_createtable(L, static_cast<int>(std::min<std::int64_t>(values.shape()[depth], INT_MAX)), 0);
  for (std::int64_t i = 1; i <= values.shape()[depth]; ++i) {
    push_table(L, values, depth + 1, next);
    lua_rawseti(L, -2, i);
  }
}

int to_table(lua_State* L) {
  const HostTensor values = download(L, Value<Tensor>::read(L, 1));
  require_few_tables(values.type());
  std::int64_t next = 0;
  push_table(L, values, 0, next);
  return 1;
}

std::string to_text(lua_State* L, const Tensor& x) {
  if (x.symbolic()) return fmt::format("Tensor({}, traced on {})", to_string(x.type()), to_string(x.device()));
  return fmt::format("Tensor({}, {})\n{}", to_string(x.type()), to_string(x.device()), format_values(download(L, x)));
}

std::string dtype_of_tensor(const Tensor& x) {
  return std::string(to_string(x.type().dtype));
}
std::string device_of(const Tensor& x) {
  return to_string(x.device());
}
int rank_of(const Tensor& x) {
  return x.type().rank();
}
std::optional<std::string> name_of(const Tensor& x) {
  if (x.variable() == nullptr) return std::nullopt;
  return x.variable()->name;
}

std::int64_t length(lua_State* L, const Tensor& x) {
  if (x.type().rank() == 0) throw ArgumentError("a scalar has no length");
  return read_extent(L, x, 0);
}

template <class O>
int update(lua_State* L) {
  const Tensor variable = Value<Tensor>::read(L, 1);
  if (variable.variable() == nullptr) throw ArgumentError("only variables (gb.Variable) can be assigned to");
  const Tensor value = read_tensor(L, 2, variable.type().dtype);
  apply<O>(L, std::array{variable, value});
  lua_settop(L, 1);
  return 1;
}

}  // namespace

void open_tensor(lua_State* L) {
  Class<Tensor> tensor(L);
  tensor.property<&push_shape>("shape")
      .property<&dtype_of_tensor>("dtype")
      .property<&device_of>("device")
      .property<&rank_of>("rank")
      .property<&name_of>("name")
      .method<&item>("item")
      .method<&to_table>("to_table")
      .method<&to_device>("to")
      .method<&pin_memory>("pin_memory")
      .method<&reshape>("reshape")
      .method<&transpose>("transpose")
      .method<&rows>("rows")
      .method<&cast>("cast")
      .method<&one_hot>("one_hot")
      .method<&matmul_method>("matmul")
      .method<&reduction<ReduceSum>>("sum")
      .method<&reduction<ReduceMean>>("mean")
      .method<&reduction<ReduceMax>>("max")
      .method<&reduction<ReduceMin>>("min")
      .method<&argmax>("argmax")
      .method<&cumsum>("cumsum")
      .method<&gelu>("gelu")
      .method<&unary<Softmax>>("softmax")
      .method<&unary<LogSoftmax>>("log_softmax")
      .method<&binary<Maximum>>("maximum")
      .method<&binary<Minimum>>("minimum")
      .method<&update<Assign>>("assign")
      .method<&update<AssignAdd>>("assign_add")
      .meta<&binary<Add>>("__add")
      .meta<&binary<Sub>>("__sub")
      .meta<&binary<Mul>>("__mul")
      .meta<&binary<Div>>("__div")
      .meta<&binary<Pow>>("__pow")
      .meta<&binary<FloorDiv>>("__idiv")
      .meta<&binary<FloorMod>>("__mod")
      .meta<&unary<Neg>>("__unm")
      .meta<&length>("__len")
      .meta<&to_text>("__tostring")
      .index<&index, &assign_rows>();
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) tensor.method<&unary<Type>>(#name);
  GPUBENCH_METHOD_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
  add_composed(tensor);
  add_conditions(tensor);
}

}  // namespace gpubench::lua
