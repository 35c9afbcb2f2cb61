#include "core/nn/weight_options.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

std::vector<ConfigField> weight_option_fields(const std::vector<ConfigField>& fields) {
  constexpr std::string_view initializer_end = "_initializer";
  std::vector<ConfigField> options;
  for (const ConfigField& field : fields) {
    if (!field.name.ends_with(initializer_end)) continue;
    const std::string variable = field.name.substr(0, field.name.size() - initializer_end.size());
    for (const std::string_view end : {regularizer_end, constraint_end})
      options.push_back({variable + std::string(end), std::string()});
  }
  return options;
}

std::vector<WeightOption> weight_options(const Config& config, std::string_view end) {
  std::vector<WeightOption> given;
  for (const auto& [name, value] : config.entries()) {
    const auto* const text = std::get_if<std::string>(&value);
    if (text == nullptr || text->empty() || !name.ends_with(end)) continue;
    given.push_back({name, std::string_view(name).substr(0, name.size() - end.size()), *text});
  }
  return given;
}

void check_weight_options(const Config& config, std::string_view end,
                          const std::function<void(std::string_view text)>& parse) {
  for (const WeightOption& given : weight_options(config, end)) {
    try {
      parse(given.text);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: option '{}': {}", config.owner(), given.option, error.what()));
    }
  }
}

bool holds_for(std::string_view option_of, const Variable& variable) {
  // Of "dense/kernel" and "attention/query/kernel": "kernel".
  const std::string_view last = std::string_view(variable.name).substr(variable.name.rfind('/') + 1);
  if (last == option_of) return true;
  if (last == "kernel") return option_of == "depthwise";
  return last.starts_with(option_of) && last.substr(option_of.size()) == "_kernel";
}

}  // namespace gpubench
