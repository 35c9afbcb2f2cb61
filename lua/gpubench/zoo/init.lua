-- gb.zoo: published nets, by default in their published sizes.
local check = require "gpubench.check"

local zoo = {}

local names = {
  "bert_small", "gpt2_small", "llama_small", "lstm_text", "mobilenet_v2", "mobilenet_v3", "resnet18", "resnet50",
  "unet", "vgg16", "vit_b16",
}

-- The largest sizes: far beyond what a machine holds, so that a slip of the keyboard ends here and not in a net of
-- billions of layers. The smallest is 1, and 0 where the default is 0, which leaves a part out.
local most_of = {
  classes = 1 << 24, vocabulary = 1 << 24, context = 1 << 24, length = 1 << 24, input_shape = 1 << 16, width = 1 << 16,
  units = 1 << 16, hidden = 1 << 16, heads = 1 << 16, key_value_heads = 1 << 16, patch = 1 << 16, depth = 1000,
  blocks = 1000,
}
local most_stages = 16
local least_number, below_one = 2.0 ^ -1022, 1 - 2.0 ^ -53
local numbers = {
  alpha = { least_number, 64.0 }, rope_max_wavelength = { least_number, 1e30 },
  dropout = { 0.0, below_one }, attention_dropout = { 0.0, below_one },
}

local function check_sizes(where, list, most)
  for _, size in ipairs(list) do
    if math.type(size) ~= "integer" or size < 1 or size > most then
      check.fail("%s: a list of integers from 1 to %d is expected, got %s in it", where, most, size)
    end
  end
end

local function check_option(where, key, value, default)
  if math.type(default) == "integer" then
    check.within(where, value, (default == 0 or key == "depth") and 0 or 1, most_of[key])
  elseif type(default) == "table" then
    check_sizes(where, value, most_of[key])
  elseif type(default) == "number" then
    local least, most = table.unpack(numbers[key])
    if value >= least and value <= most then return end
    local above = least > 0 and "above 0 and at most " .. most or "at least 0 and below 1"
    check.fail("%s: a number %s is expected, got %s", where, above, value)
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
    check_option(string.format("gb.zoo.%s: option '%s'", name, key), key, value, defaults[key])
    merged[key] = value
  end
  if merged.input_shape and #merged.input_shape ~= 3 then
    check.fail("gb.zoo.%s: option 'input_shape': { height, width, channels } expected, got %d sizes", name,
      #merged.input_shape)
  end
  if merged.blocks then
    check.within(string.format("gb.zoo.%s: option 'blocks': its length", name), #merged.blocks, 1, most_stages)
  end
  return merged
end

for _, name in ipairs(names) do
  local net = require("gpubench.zoo." .. name)
  zoo[name] = function(options) return net.build(with_defaults(name, options, net.defaults)) end
end

zoo.generator = require "gpubench.zoo.generator"

return zoo
