// Model:load_weights: weights of our own, and of other programs by a map of names.
#include <fmt/format.h>
#include <map>

#include "core/base/error.h"
#include "core/train/compress/mapped_weights.h"
#include "core/train/files/model_files.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

struct OriginTable {
  std::vector<std::string> tensors;
  std::int64_t part = 1, of = 1;
  static constexpr auto fields = std::tuple{positional("tensors", &OriginTable::tensors),
                                            field("part", &OriginTable::part), field("of", &OriginTable::of)};
};
using Origin = std::variant<std::string, OriginTable>;

struct LoadTable {
  std::vector<std::string> file;
  std::variant<std::monostate, LuaFunction, std::map<std::string, Origin>> names;
  std::string layout = "keras";
  static constexpr auto fields = std::tuple{positional("file", &LoadTable::file), field("names", &LoadTable::names),
                                            field("layout", &LoadTable::layout)};
};

WeightOrigin native(const Origin& given, const std::string& weight) {
  if (const auto* name = std::get_if<std::string>(&given)) return {{*name}};
  const auto& table = std::get<OriginTable>(given);
  if (table.of < 1 || table.part < 1 || table.part > table.of) {
    throw Error(fmt::format("load_weights: weight '{}': part {} of {}; parts are 1 to {}", weight, table.part, table.of,
                            std::max<std::int64_t>(table.of, 1)));
  }
  return {table.tensors, table.part, table.of};
}

/// A function is asked for every weight; weights that a table leaves out have their own names.
WeightMap map_of(const LoadTable& table) {
  if (const auto* function = std::get_if<LuaFunction>(&table.names)) {
    return [function](const std::string& weight) {
      const auto origin = function->call<std::optional<Origin>>(weight);
      return origin ? native(*origin, weight) : WeightOrigin{};
    };
  }
  const auto* names = std::get_if<std::map<std::string, Origin>>(&table.names);
  return [names](const std::string& weight) -> WeightOrigin {
    if (names == nullptr) return {{weight}};
    const auto found = names->find(weight);
    return found == names->end() ? WeightOrigin{{weight}} : native(found->second, weight);
  };
}

/// A weight in a table of names that the model does not have is a mistake in writing.
void check_names(const Model& model, const LoadTable& table) {
  const auto* names = std::get_if<std::map<std::string, Origin>>(&table.names);
  if (names == nullptr) return;
  for (const auto& [name, origin] : *names) {
    const std::vector<VariablePtr> variables = model.variables();
    const auto is_named = [&wanted = name](const VariablePtr& variable) { return variable->name == wanted; };
    if (std::ranges::any_of(variables, is_named)) continue;
    throw Error(fmt::format("load_weights: `names` has '{}', and model '{}' has no weight of that name; it has {}{}",
                            name, model.name(), variables.empty() ? "none" : variables.front()->name,
                            variables.size() > 1 ? fmt::format(" to {}", variables.back()->name) : ""));
  }
}

}  // namespace

int load_model_weights(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto from = Value<std::variant<std::string, LoadTable>>::read(L, 2);
  if (const auto* path = std::get_if<std::string>(&from)) {
    load_weights(self->world->runtime, *self->model, *path);
    return 0;
  }
  const auto& table = std::get<LoadTable>(from);
  if (table.file.size() != 1) {
    throw ArgumentError(fmt::format("argument #1: one file is expected, got {}", table.file.size()));
  }
  check_names(*self->model, table);
  load_mapped_weights(self->world->runtime, *self->model, table.file.front(), map_of(table),
                      parse_weight_layout(table.layout));
  return 0;
}

}  // namespace gpubench::lua
