#include "core/nn/architecture.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/json_limits.h"
#include "core/base/shown_text.h"
#include "core/nn/layer_function.h"
#include "core/nn/layer_kind.h"

namespace gpubench {
namespace {

using Json = nlohmann::ordered_json;
constexpr int format_version = 1;

Json to_json(const ConfigValue& value) {
  if (const auto* const function = std::get_if<LayerFunctionPtr>(&value)) return Json::parse((*function)->stored());
  return std::visit(
      []<class T>(const T& held) {
        if constexpr (std::is_same_v<T, LayerFunctionPtr>)
          return Json();
        else
          return Json(held);
      },
      value);
}

// ---- Fields, whose mistakes are told in our own words

std::string shown(const Json& json) {
  return shown_text(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

const Json& field_of(const Json& json, const char* name) {
  if (!json.is_object()) throw Error(fmt::format("an object with '{}' is expected, got {}", name, shown(json)));
  const auto found = json.find(name);
  if (found == json.end()) throw Error(fmt::format("'{}' is missing in {}", name, shown(json)));
  return *found;
}

const Json& field_of(const Json& json, const char* name, Json::value_t kind, std::string_view expected) {
  const Json& field = field_of(json, name);
  if (field.type() != kind) throw Error(fmt::format("'{}' must be {}, got {}", name, expected, shown(field)));
  return field;
}

std::string text_of(const Json& json, const char* name) {
  return field_of(json, name, Json::value_t::string, "a text").get<std::string>();
}

const Json& list_of(const Json& json, const char* name) {
  return field_of(json, name, Json::value_t::array, "a list");
}

// A cast of another number would be undefined where it is out of range.
template <class Item>
const Item& item_of(const std::vector<Item>& items, const Json& index, std::string_view what) {
  if (!index.is_number_unsigned()) throw Error(fmt::format("an index is expected, got {}", shown(index)));
  if (index.get<std::uint64_t>() < items.size()) return items[index.get<std::size_t>()];
  throw Error(fmt::format("{} {} is used, one that is not there: {} are in front of it, counted from 0", what,
                          shown(index), items.size()));
}

ConfigValue config_value(const std::string& name, const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const auto is_integer = [](const Json& entry) { return entry.is_number_integer(); };
  if (json.is_array() && std::ranges::all_of(json, is_integer)) return json.get<Shape>();
  const auto is_number = [](const Json& entry) { return entry.is_number(); };
  if (json.is_array() && std::ranges::all_of(json, is_number)) return json.get<std::vector<double>>();
  throw Error(fmt::format("option '{}' has a value of no known type: {}", shown_text(name), shown(json)));
}

Json layer_to_json(const Layer& layer) {
  Json options = Json::object();
  for (const auto& [name, value] : layer.config().entries()) {
    if (name != "name") options[name] = to_json(value);
  }
  return {{"name", layer.name()}, {"kind", layer.kind()}, {"options", std::move(options)}};
}

LayerPtr layer_from_json(const Json& json, const DeviceId& device, const FindFunction& find_function) {
  const std::string layer = text_of(json, "name");
  ConfigEntries options = {{"name", layer}};
  for (const auto& [name, value] : field_of(json, "options", Json::value_t::object, "an object").items()) {
    if (!value.is_object()) {
      options.emplace_back(name, config_value(name, value));
    } else if (find_function) {
      options.emplace_back(name, find_function(layer, value.dump()));
    } else {
      throw Error(fmt::format("layer '{}' needs a function of a script, and none are at hand", shown_text(layer)));
    }
  }
  return make_layer(text_of(json, "kind"), options, device);
}

constexpr std::int64_t most_outputs = 1 << 10;  // states of stacked cells; also arguments of one call

std::int64_t number_within(const Json& value, const char* name, std::int64_t least, std::int64_t most) {
  const bool fits = value.is_number_integer() && value >= least && value <= most;
  if (!fits) throw Error(fmt::format("'{}' is {} to {}, got {}", name, least, most, shown(value)));
  return value.get<std::int64_t>();
}

/// A number of a call, `fallback` if it is not there.
std::int64_t number_of(const Json& call, const char* name, std::int64_t least, std::int64_t most,
                       std::int64_t fallback) {
  const auto found = call.find(name);
  return found == call.end() ? fallback : number_within(*found, name, least, most);
}

CallForm form_of(const Json& call) {
  CallForm form;
  if (const auto found = call.find("training"); found != call.end()) {
    if (!found->is_boolean()) throw Error(fmt::format("training is true or false, got {}", shown(*found)));
    form.training = found->get<bool>();
  }
  if (call.contains("masks")) {
    for (const Json& input : list_of(call, "masks")) {
      form.masks.push_back(static_cast<std::size_t>(number_within(input, "masks", 0, most_outputs)));
    }
  }
  if (const auto found = call.find("reverse"); found != call.end()) {
    if (!found->is_boolean()) throw Error(fmt::format("reverse is true or false, got {}", shown(*found)));
    form.reverse = found->get<bool>();
  }
  form.states = static_cast<std::size_t>(number_of(call, "states", 0, most_outputs, 0));
  return form;
}

/// The description of a layer inside of another, or of several.
Json layer_json(std::string_view text) {
  constexpr std::size_t longest = 1 << 16;  // each level of layers around layers escapes the text of the inner one
  if (text.size() > longest) throw Error("too many layers around each other");
  check_json_limits(text, "a layer's description");
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw Error(fmt::format("no layer: '{}'", shown_text(text)));
  }
}

/// None if they are not there.
std::vector<std::string> names_of(const Json& json, const char* name) {
  std::vector<std::string> names;
  if (!json.contains(name)) return names;
  for (const Json& entry : list_of(json, name)) {
    if (!entry.is_string()) throw Error(fmt::format("'{}' is a list of texts, got {} in it", name, shown(entry)));
    names.push_back(entry.get<std::string>());
  }
  return names;
}

ModelPtr functional_from_json(const Json& json, const std::vector<LayerPtr>& layers) {
  std::vector<SymbolPtr> symbols;
  const auto selected = [&](const Json& owner, const char* name) {
    std::vector<SymbolPtr> found;
    for (const Json& index : list_of(owner, name)) found.push_back(item_of(symbols, index, "call"));
    return found;
  };
  Reapplication applied;
  for (const Json& call : list_of(json, "calls")) {
    const auto at = static_cast<std::int64_t>(symbols.size());
    const std::int64_t application = number_of(call, "application", 0, at, at);
    const std::int64_t output = number_of(call, "output", Symbol::mask_output, most_outputs, 0);
    const LayerPtr& layer = item_of(layers, field_of(call, "layer"), "layer");
    symbols.push_back(applied.apply(static_cast<std::size_t>(application), static_cast<int>(output), layer,
                                    selected(call, "inputs"), form_of(call)));
  }
  return std::make_shared<Model>(text_of(json, "name"), selected(json, "inputs"), selected(json, "outputs"), layers,
                                 ModelNames{names_of(json, "input_names"), names_of(json, "output_names")});
}

}  // namespace

std::string architecture_to_json(const Model& model) {
  if (!model.defined()) {
    throw Error(fmt::format("model '{}': its input's shape is not known yet, so it cannot be saved", model.name()));
  }
  const std::vector<LayerPtr> layers = model.layers();
  Json json = {{"gpubench_model", format_version}, {"name", model.name()}, {"sequential", model.sequential()}};
  for (const LayerPtr& layer : layers) json["layers"].push_back(layer_to_json(*layer));
  for (const Model::Call& call : model.calls()) {
    const auto index = std::find(layers.begin(), layers.end(), call.layer) - layers.begin();
    Json saved = {{"layer", index}, {"inputs", call.inputs}};
    if (call.form.training) saved["training"] = *call.form.training;
    if (!call.form.masks.empty()) saved["masks"] = call.form.masks;
    if (call.form.states > 0) saved["states"] = call.form.states;
    if (call.form.reverse) saved["reverse"] = true;
    if (call.output != 0) saved["output"] = call.output;
    if (call.application != json["calls"].size()) saved["application"] = call.application;
    json["calls"].push_back(std::move(saved));
  }
  json["inputs"] = model.inputs();
  json["outputs"] = model.outputs();
  if (!model.given_names().inputs.empty()) json["input_names"] = model.given_names().inputs;
  if (!model.given_names().outputs.empty()) json["output_names"] = model.given_names().outputs;
  return json.dump(2) + "\n";
}

ModelPtr architecture_from_json(std::string_view text, const DeviceId& device, const FindFunction& find_function) {
  check_json_limits(text, "model architecture");
  try {
    const Json json = Json::parse(text);
    const Json& version = field_of(json, "gpubench_model");
    if (version != format_version) {
      throw Error(
          fmt::format("format version {} is not known; this program reads version {}", shown(version), format_version));
    }
    std::vector<LayerPtr> layers;
    for (const Json& layer : list_of(json, "layers")) layers.push_back(layer_from_json(layer, device, find_function));
    if (!field_of(json, "sequential", Json::value_t::boolean, "true or false").get<bool>())
      return functional_from_json(json, layers);
    return std::make_shared<Model>(text_of(json, "name"), std::move(layers));
  } catch (const Error& error) {
    throw Error(fmt::format("model architecture: {}", error.what()));
  } catch (const Json::parse_error& error) {
    throw Error(fmt::format("model architecture: no JSON: it breaks off or is damaged at byte {}", error.byte));
  } catch (const Json::exception&) {
    throw Error("model architecture: it has a number that is out of range");
  }
}

std::string layer_to_text(const Layer& layer) {
  return layer_to_json(layer).dump();
}

std::string layers_to_text(const std::vector<LayerPtr>& layers) {
  Json all = Json::array();
  for (const LayerPtr& layer : layers) all.push_back(layer_to_json(*layer));
  return all.dump();
}

LayerPtr layer_from_text(std::string_view text, const DeviceId& device) {
  const Json json = layer_json(text);
  return layer_from_json(json, device, {});
}

std::vector<LayerPtr> layers_from_text(std::string_view text, const DeviceId& device) {
  const Json json = layer_json(text);
  if (!json.is_array()) throw Error(fmt::format("a list of layers is expected, got {}", shown(json)));
  std::vector<LayerPtr> layers;
  for (const Json& layer : json) layers.push_back(layer_from_json(layer, device, {}));
  return layers;
}

}  // namespace gpubench
