// gb.data: sources that need no files.
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "core/data/source/range.h"
#include "core/data/source/synthetic.h"
#include "core/data/types.h"
#include "lua/api/data/dataset.h"
#include "lua/api/data/generator.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

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
