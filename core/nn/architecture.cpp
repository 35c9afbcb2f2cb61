#include "core/nn/architecture.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/json_nesting.h"
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

ConfigValue config_value(const std::string& name, const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const auto is_integer = [](const Json& entry) { return entry.is_number_integer(); };
  if (json.is_array() && std::ranges::all_of(json, is_integer)) return json.get<Shape>();
  throw Error(fmt::format("option '{}' has a value of no known type: {}", name, json.dump()));
}

Json layer_to_json(const Layer& layer) {
  Json options = Json::object();
  for (const auto& [name, value] : layer.config().entries()) {
    if (name != "name") options[name] = to_json(value);
  }
  return {{"name", layer.name()}, {"kind", layer.kind()}, {"options", std::move(options)}};
}

LayerPtr layer_from_json(const Json& json, const DeviceId& device, const FindFunction& find_function) {
  const auto layer = json.at("name").get<std::string>();
  ConfigEntries options = {{"name", layer}};
  for (const auto& [name, value] : json.at("options").items()) {
    if (!value.is_object()) {
      options.emplace_back(name, config_value(name, value));
    } else if (find_function) {
      options.emplace_back(name, find_function(layer, value.dump()));
    } else {
      throw Error(fmt::format("layer '{}' needs a function of a script, and none are at hand", layer));
    }
  }
  return make_layer(json.at("kind").get<std::string>(), options, device);
}

// A cast of another number would be undefined where it is out of range.
std::size_t index_from_json(const Json& json) {
  if (!json.is_number_unsigned()) throw Error(fmt::format("an index is expected, got {}", json.dump()));
  return json.get<std::size_t>();
}

const Json& list_from_json(const Json& json) {
  if (!json.is_array()) throw Error(fmt::format("a list of indices is expected, got {}", json.dump()));
  return json;
}

ModelPtr functional_from_json(const Json& json, const std::vector<LayerPtr>& layers) {
  std::vector<SymbolPtr> symbols;
  for (const Json& call : json.at("calls")) {
    std::vector<SymbolPtr> inputs;
    for (const Json& input : list_from_json(call.at("inputs"))) inputs.push_back(symbols.at(index_from_json(input)));
    symbols.push_back(apply_layer(layers.at(index_from_json(call.at("layer"))), std::move(inputs)));
  }
  const auto select = [&](const char* key) {
    std::vector<SymbolPtr> selected;
    for (const Json& index : list_from_json(json.at(key))) selected.push_back(symbols.at(index_from_json(index)));
    return selected;
  };
  return std::make_shared<Model>(json.at("name").get<std::string>(), select("inputs"), select("outputs"));
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
    json["calls"].push_back({{"layer", index}, {"inputs", call.inputs}});
  }
  json["inputs"] = model.inputs();
  json["outputs"] = model.outputs();
  return json.dump(2) + "\n";
}

ModelPtr architecture_from_json(std::string_view text, const DeviceId& device, const FindFunction& find_function) {
  check_json_nesting(text, "model architecture");
  try {
    const Json json = Json::parse(text);
    if (json.at("gpubench_model") != format_version) {
      throw Error(fmt::format("format version {} is not known; this program reads version {}",
                              json.at("gpubench_model").dump(), format_version));
    }
    std::vector<LayerPtr> layers;
    for (const Json& layer : json.at("layers")) layers.push_back(layer_from_json(layer, device, find_function));
    if (!json.at("sequential").get<bool>()) return functional_from_json(json, layers);
    return std::make_shared<Model>(json.at("name").get<std::string>(), std::move(layers));
  } catch (const Error& error) {
    throw Error(fmt::format("model architecture: {}", error.what()));
  } catch (const Json::parse_error& error) {
    throw Error(fmt::format("model architecture: no JSON: it breaks off or is damaged at byte {}", error.byte));
  } catch (const std::out_of_range&) {
    throw Error(
        "model architecture: a call, an input or an output has the number of a layer or call that is not there");
  } catch (const Json::exception& error) {
    const std::string_view reason = error.what();  // behind a number of the library's own
    throw Error(fmt::format("model architecture: no valid description: {}", reason.substr(reason.find("] ") + 2)));
  }
}

std::string layer_to_text(const Layer& layer) {
  return layer_to_json(layer).dump();
}

LayerPtr layer_from_text(std::string_view text, const DeviceId& device) {
  constexpr std::size_t longest = 1 << 16;  // each level of layers around layers escapes the text of the inner one
  if (text.size() > longest) throw Error("too many layers around each other");
  check_json_nesting(text, "a layer's description");
  try {
    return layer_from_json(Json::parse(text), device, {});
  } catch (const Json::exception&) {
    throw Error(fmt::format("no layer: '{}'", text));
  }
}

}  // namespace gpubench
