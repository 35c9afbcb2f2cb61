-- gb.zoo: published nets, by default in their published sizes.
local check = require "gpubench.check"

local zoo = {}

local names = {
  "bert_small", "gpt2_small", "llama_small", "lstm_text", "mobilenet_v2", "mobilenet_v3", "resnet18", "resnet50",
  "unet", "vgg16", "vit_b16",
}

local function check_sizes(where, value)
  if type(value) == "number" and value < 0 then check.fail("%s: at least 0 is expected, got %s", where, value) end
  for _, size in ipairs(type(value) == "table" and value or {}) do
    if math.type(size) ~= "integer" or size < 1 then
      check.fail("%s: a list of integers of at least 1 is expected, got %s in it", where, size)
    end
  end
end

-- The options with their defaults, which also name the known ones and their types.
local function with_defaults(name, options, defaults)
  local fields = {}
  for _, key in ipairs(check.sorted_keys(defaults)) do
    local kind = math.type(defaults[key]) or type(defaults[key])
    fields[#fields + 1] = { key, kind == "table" and "array" or kind == "float" and "number" or kind }
  end
  local merged = {}
  for key, value in pairs(defaults) do merged[key] = value end
  for key, value in pairs(check.options("gb.zoo." .. name, options or {}, fields, "option gb.zoo." .. name)) do
    check_sizes(string.format("gb.zoo.%s: option '%s'", name, key), value)
    merged[key] = value
  end
  if merged.input_shape and #merged.input_shape ~= 3 then
    check.fail("gb.zoo.%s: option 'input_shape': { height, width, channels } expected, got %d sizes", name,
      #merged.input_shape)
  end
  return merged
end

for _, name in ipairs(names) do
  local net = require("gpubench.zoo." .. name)
  zoo[name] = function(options) return net.build(with_defaults(name, options, net.defaults)) end
end

zoo.generator = require "gpubench.zoo.generator"

return zoo
