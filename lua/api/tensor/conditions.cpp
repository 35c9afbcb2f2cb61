#include "lua/api/tensor/conditions.h"

#include <fmt/format.h>
#include <string>

#include "core/base/error.h"
#include "core/ops/elementwise.h"
#include "lua/api/tensor/ops.h"

namespace gpubench::lua {
namespace {

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
      "Tensor: pairs is for tables; ops work on all elements of a Tensor, x[i] is a row and x:to_table() a table");
}

}  // namespace

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

}  // namespace gpubench::lua
