-- Decoders as in Touvron et al.: LLaMA: Open and Efficient Foundation Language Models, 2023: root mean square
-- normalization, rotary positions, heads of queries that share keys and values, gated expansion. A net and its
-- generator (generator.lua) compute with the same layers and differ in the attention.
local gb = require "gpubench.native"
local transformer = require "gpubench.zoo.transformer"

local llama = {
  -- By model: { layers, options }, for generators.
  nets = setmetatable({}, { __mode = "k" }),
}

local function dense(units, name, activation)
  return gb.layers.Dense(units, {
    activation = activation, use_bias = false, kernel_initializer = transformer.initializer(), name = name,
  })
end

local function norm(name) return gb.layers.RMSNormalization { epsilon = 1e-5, name = name } end

local function block_of(options, name)
  local dim = options.width // options.heads
  return {
    norm1 = norm(name .. "_norm1"), norm2 = norm(name .. "_norm2"),
    query = dense(options.width, name .. "_query"), key = dense(options.key_value_heads * dim, name .. "_key"),
    value = dense(options.key_value_heads * dim, name .. "_value"), output = dense(options.width, name .. "_output"),
    gate = dense(options.hidden, name .. "_gate", "silu"), up = dense(options.hidden, name .. "_up"),
    down = dense(options.width, name .. "_down"),
  }
end

-- The blocks in a list, the others by name.
function llama.layers(options)
  local layers = {
    norm = norm "norm",
    tokens = transformer.tokens(options),
  }
  for i = 1, options.depth do layers[i] = block_of(options, "block" .. i) end
  if options.tied then
    local tokens = layers.tokens
    layers.logits = function(hidden) return tokens(hidden, { reverse = true }) end
  else
    layers.logits = dense(options.vocabulary, "logits")
  end
  return layers
end

-- The last hidden states [batch, time, width] of tokens; attend(i, query, key, value) is the attention of block i.
function llama.hidden(layers, tokens, attend)
  local x = layers.tokens(tokens)
  for i, block in ipairs(layers) do
    local y = block.norm1(x)
    x = x + block.output(attend(i, block.query(y), block.key(y), block.value(y)))
    y = block.norm2(x)
    x = x + block.down(block.gate(y) * block.up(y))
  end
  return layers.norm(x)
end

-- Su et al.: RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021: turns channels i and i + dim / 2 of
-- [batch, time, heads, dim] by position / rope_max_wavelength^(2 i / dim).
local function rotated(x, positions, options)
  local time, half = x.shape[2], x.shape[4] // 2
  local rate = (gb.arange(half):cast "float32" * (-math.log(options.rope_max_wavelength) / half)):exp()
  local angle = positions:cast("float32"):reshape { time, 1, 1 } * rate
  local cos, sin = angle:cos():cast(x.dtype), angle:sin():cast(x.dtype)
  local first, second = table.unpack(x:split(2, -1))
  return gb.concat({ first * cos - second * sin, second * cos + first * sin }, -1)
end

-- Queries, keys and values [batch, time, heads, dim] of the projections, at these positions [time].
function llama.heads(options, positions, query, key, value)
  local dim = options.width // options.heads
  local function split(x) return x:reshape { -1, x.shape[2], x.shape[3] // dim, dim } end
  return rotated(split(query), positions, options), rotated(split(key), positions, options), split(value)
end

return llama
