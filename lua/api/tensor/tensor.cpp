// The class Tensor: arithmetic, slicing, reductions, conversion. Every function goes through the dispatcher, so that it
// works eagerly, inside gb.compile and maps, and under tapes.
#include "lua/api/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <climits>
#include <fmt/format.h>
#include <memory>
#include <string>
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
#include "lua/api/openers.h"
#include "lua/api/tensor/numbers.h"
#include "lua/api/tensor/ops.h"
#include "lua/api/tensor/plain_values.h"
#include "lua/api/tensor/shape.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"
#include "lua/bind/class.h"

namespace gpubench::lua {
namespace {

// Comparisons of Tensor are methods, because Lua's comparison operators can only return booleans. Branching on a traced
// comparison would silently take one branch, because every tensor is true in Lua. So comparison results are recorded,
// and those that no op uses are reported when the trace ends.

/// Functions of a class keep their qualified name as first upvalue.
std::string called_as(lua_State* L) {
  return lua_tostring(L, lua_upvalueindex(1));
}

const Tensor& noted(lua_State* L, const Tensor& condition) {
  if (condition.symbolic()) {
    condition.trace()->conditions.push_back({condition.value(), script_position(L) + called_as(L)});
  }
  return condition;
}

template <class O>
int compare(lua_State* L) {
  Value<Tensor>::push(L, noted(L, of_operands<O>(L)));
  return 1;
}

Tensor logical_not(lua_State* L, const Tensor& x) {
  return noted(L, unary<LogicalNot>(L, x));
}

/// Comparison operators that throw, because Lua would convert their result to a boolean.
template <const char* symbol, const char* method>
int refuse_operator(lua_State*) {
  throw Error(
      fmt::format("Tensor: Lua's {} gives one boolean; a:{}(b) compares tensors element by element", symbol, method));
}

constexpr char less[] = "<", less_equal[] = "<=", lt[] = "lt", le[] = "le";

/// Two handles of one tensor are equal, as objects of all classes are; what a traced function compares is values.
bool equal(const Tensor& a, const Tensor& b) {
  if (a.symbolic() || b.symbolic()) {
    throw Error("Tensor: Lua's == gives one boolean; a:eq(b) compares tensors element by element");
  }
  return a == b;
}

int refuse_pairs(lua_State*) {
  throw Error(
      "Tensor: pairs is for tables; ops work on all elements of a Tensor, x[i] is a row and x:to_table() a "
      "table");
}

void add_conditions(Class<Tensor>& tensor) {
  tensor.method<&compare<Equal>, 1>("eq")
      .method<&compare<NotEqual>, 1>("ne")
      .method<&compare<Less>, 1>("lt")
      .method<&compare<LessEqual>, 1>("le")
      .method<&compare<Greater>, 1>("gt")
      .method<&compare<GreaterEqual>, 1>("ge")
      .method<&compare<LogicalAnd>, 1>("logical_and")
      .method<&compare<LogicalOr>, 1>("logical_or")
      .method<&logical_not>("logical_not")
      .meta<&equal>("__eq")
      .meta<&refuse_operator<less, lt>>("__lt")
      .meta<&refuse_operator<less_equal, le>>("__le")
      .meta<&refuse_pairs>("__pairs");
}

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
  const DeviceId to = session_of(L).placement.place(device);
  world_of(L).devices.device(to);
  return world_of(L).dispatcher.eager().transfer(x, to);
}

Tensor pin_memory(lua_State* L, const Tensor& x) {
  if (x.symbolic()) throw Error("pin_memory: a traced tensor has no memory yet");
  return world_of(L).dispatcher.eager().pin(x);
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
  // The variable itself, not what a layer's function reads of it.
  const std::shared_ptr<Trace>& trace = world_of(L).dispatcher.trace();
  const auto cast = trace ? std::exchange(trace->variables_as, std::nullopt) : std::nullopt;
  apply<O>(L, std::array{variable, value});
  if (trace) trace->variables_as = cast;
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
      .method<&to_table, 0>("to_table")
      .method<&to_device>("to")
      .method<&pin_memory>("pin_memory")
      .method<&reshape>("reshape")
      .method<&transpose>("transpose")
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
      .method<&binary<Maximum>, 1>("maximum")
      .method<&binary<Minimum>, 1>("minimum")
      .method<&binary<Pow>, 1>("pow")
      .method<&unary<StopGradient>>("stop_gradient")
      .method<&update<Assign>, 1>("assign")
      .method<&update<AssignAdd>, 1>("assign_add")
      .meta<&binary<Add>>("__add")
      .meta<&binary<Sub>>("__sub")
      .meta<&binary<Mul>>("__mul")
      .meta<&binary<Div>>("__div")
      .meta<&binary<Pow>>("__pow")
      .meta<&binary<FloorDiv>>("__idiv")
      .meta<&binary<FloorMod>>("__mod")
      .meta<&unary<Neg>>("__unm")
      .meta<&length>("__len")
      .meta<&to_text>("__tostring");
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) tensor.method<&unary<gpubench::Type>>(#name);
  GPUBENCH_METHOD_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
  add_rows(tensor);
  add_composed(tensor);
  add_axes(tensor);
  add_places(tensor);
  add_conditions(tensor);
}

}  // namespace gpubench::lua
