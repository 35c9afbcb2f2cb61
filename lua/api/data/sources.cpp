// gb.data: sources that need no files.
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/dataset.h"
#include "core/data/produced.h"
#include "core/data/source/range.h"
#include "core/data/source/synthetic.h"
#include "core/data/types.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor/plain_values.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"
#include "lua/bind/function.h"

namespace gpubench::lua {
namespace {

// Datasets whose elements come from a script's function, one call each, in the script's own thread.

constexpr std::string_view stage_name = "from_generator";
/// Tells what the function returns, which comes behind a mark, from what it yields.
constexpr std::string_view marked_coroutine =
    "local wrap, fn, mark = ... return wrap(function() return mark, fn() end)";

class GeneratorCursor final : public Cursor {
 public:
  GeneratorCursor(LuaFunction function, std::shared_ptr<Machine> machine, const std::vector<TensorType>& types)
      : function_(std::move(function)), machine_(std::move(machine)), types_(types), produced_(types_) {}

  bool next(Element& element) override {
    if (ended_) return false;
    check_interrupt();
    lua_State* const L = own_state();
    const int bottom = lua_gettop(L);
    struct Restore {
      lua_State* L;
      int top;
      ~Restore() { lua_settop(L, top); }
    } restore{L, bottom};
    if (!iterator_) start(L);
    call(L);
    bool finished = take_mark(L, bottom + 1);
    if (!returned_ && lua_gettop(L) == bottom + 1 && lua_isfunction(L, -1)) {
      returned_ = true;
      coroutine_ = false;
      finished = false;
      iterator_ = Reference(L, -1);
      lua_settop(L, bottom);
      call(L);
    }
    if (finished) refuse_returned(L, bottom + 1);
    returned_ = true;  // only the first result may be the iterator
    if (lua_gettop(L) == bottom || lua_isnil(L, bottom + 1)) {
      ended_ = true;
      return false;
    }
    read(L, bottom + 1, element);
    produced_.add(element);
    return true;
  }

  std::vector<StageStatistics> statistics() const override { return {produced_.row(stage_name)}; }

 private:
  lua_State* own_state() const {
    if (machine_->on_own_thread()) return machine_->running();
    std::rethrow_exception(refusal_);
  }

  void start(lua_State* L) {
    luaL_checkstack(L, 8, "generator");
    const int bottom = lua_gettop(L);
    if (luaL_loadbufferx(L, marked_coroutine.data(), marked_coroutine.size(), "=gpubench/generator.lua", "t") !=
        LUA_OK) {
      throw OutOfMemory("from_generator: no memory for a coroutine");
    }
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, LUA_COLIBNAME);
    lua_getfield(L, -1, "wrap");
    lua_replace(L, bottom + 2);
    lua_settop(L, bottom + 2);
    function_.reference().push(L);
    lua_pushlightuserdata(L, mark());
    protected_call(L, 3, 1);
    iterator_ = Reference(L, -1);
    lua_settop(L, bottom);
  }

  static void* mark() { return const_cast<char*>(marked_coroutine.data()); }

  /// Whether the function has returned: its results, from `first` on, have lost their mark.
  static bool take_mark(lua_State* L, int first) {
    if (lua_gettop(L) < first || lua_touserdata(L, first) != mark()) return false;
    lua_remove(L, first);
    return true;
  }

  /// The error for a function that returned something else than elements or a function.
  void refuse_returned(lua_State* L, int first) {
    if (lua_gettop(L) < first || lua_isnil(L, first)) return;
    ended_ = true;
    throw Error(fmt::format(
        "from_generator: the function returned a {}; it yields each element (coroutine.yield), or returns a "
        "function that gives the next one at each call",
        type_name_at(L, first)));
  }

  void call(lua_State* L) {
    luaL_checkstack(L, 8, "generator");
    iterator_.push(L);
    try {
      protected_call(L, 0, LUA_MULTRET);
    } catch (...) {
      ended_ = coroutine_;  // one that failed cannot go on
      throw;
    }
  }

  void read(lua_State* L, int first, Element& element) {
    const int count = lua_gettop(L) - first + 1;
    if (count != static_cast<int>(types_.size())) {
      throw Error(fmt::format("from_generator: an element of {} values where {} are expected: {}", count, types_.size(),
                              to_string(types_)));
    }
    element.resize(types_.size());
    for (std::size_t i = 0; i < types_.size(); ++i) element[i] = value_at(L, first + static_cast<int>(i), i);
  }

  HostTensor value_at(lua_State* L, int index, std::size_t i) const {
    const std::string what = fmt::format("from_generator: value {}", i + 1);
    if (!Value<Tensor>::matches(L, index)) return read_plain(L, index, types_[i], what);
    HostTensor tensor = download(L, Value<Tensor>::read(L, index));
    bool fits = tensor.dtype() == types_[i].dtype && tensor.type().rank() == types_[i].rank();
    for (std::size_t axis = 0; fits && axis < tensor.shape().size(); ++axis) {
      fits = types_[i].shape[axis] == varying || types_[i].shape[axis] == tensor.shape()[axis];
    }
    if (!fits) {
      throw Error(fmt::format("{}: {} is expected, got {}", what, to_text(types_[i]), to_string(tensor.type())));
    }
    return tensor;
  }

  const LuaFunction function_;
  const std::shared_ptr<Machine> machine_;
  const std::vector<TensorType> types_;
  /// A single object, so that waiting stages recognize that the source cannot continue.
  const std::exception_ptr refusal_ = std::make_exception_ptr(
      Error("from_generator: the function is the script's and cannot be called by a pipeline's thread; put no prefetch "
            "and no parallel stage after it, or a cache between, read once before"));
  Reference iterator_;
  bool returned_ = false;
  bool coroutine_ = true;
  bool ended_ = false;
  Produced produced_;
};

class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(LuaFunction function, std::vector<TensorType> types)
      : function_(std::move(function)),
        machine_(Machine::shared(function_.reference().machine().main())),
        types_(std::move(types)) {}
  std::string_view stage() const override { return stage_name; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& /*options*/) const override {
    return std::make_unique<GeneratorCursor>(function_, machine_, types_);
  }

 private:
  LuaFunction function_;
  std::shared_ptr<Machine> machine_;
  std::vector<TensorType> types_;
};

/// The function is called once per epoch, as a coroutine: it yields elements, or returns a function that returns the
/// next element at each call and nil at the end. Only the script's thread can read it; threads of the pipeline get an
/// Error.
DatasetPtr from_generator(LuaFunction function, std::vector<TensorType> types) {
  if (types.empty()) throw Error("from_generator: no types given; at least one is needed");
  return std::make_shared<GeneratorDataset>(std::move(function), std::move(types));
}

/// range(stop), range(start, stop) or range(start, stop, step); math.huge as stop never ends.
DatasetPtr ranged(std::variant<std::int64_t, double> first, std::optional<std::variant<std::int64_t, double>> second,
                  std::optional<std::int64_t> step) {
  const auto bound = [](const std::variant<std::int64_t, double>& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
    if (std::get<double>(value) == HUGE_VAL) return endless;
    throw ArgumentError(fmt::format("integer or math.huge expected, got {}", std::get<double>(value)));
  };
  return second ? range(bound(first), bound(*second), step.value_or(1)) : range(0, bound(first), step.value_or(1));
}

std::vector<TensorType> parsed(const std::vector<std::string>& texts, std::string_view what) {
  std::vector<TensorType> types;
  for (const std::string& text : texts) types.push_back(parse_type(text, what));
  return types;
}

struct SyntheticTable {
  std::vector<std::string> types;
  std::optional<std::int64_t> count;
  bool resident = true;
  std::optional<std::uint64_t> seed;
  std::int64_t classes = 10;
  static constexpr auto fields =
      std::tuple{required("types", &SyntheticTable::types), field("count", &SyntheticTable::count),
                 field("resident", &SyntheticTable::resident), field("seed", &SyntheticTable::seed),
                 field("classes", &SyntheticTable::classes)};
};

DatasetPtr synthesized(lua_State* L, const SyntheticTable& table) {
  return synthetic({.types = parsed(table.types, "synthetic"),
                    .count = table.count.value_or(endless),
                    .resident = table.resident,
                    .seed = table.seed ? *table.seed : session_of(L).random.next_seed(),
                    .classes = table.classes});
}

struct GeneratorTable {
  std::vector<std::string> types;
  static constexpr auto fields = std::tuple{required("types", &GeneratorTable::types)};
};

DatasetPtr generated(const LuaFunction& function, const GeneratorTable& table) {
  return from_generator(function, parsed(table.types, "from_generator"));
}

}  // namespace

void open_data_sources(lua_State* L) {
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&ranged>("range").function<&synthesized>("synthetic").function<&generated>("from_generator");
}

}  // namespace gpubench::lua
