-- A small GPT generates tokens with a cache of keys and values, or from the whole text anew for each token.
local gb = require "gpubench"
local L = gb.layers
local vocabulary, context, width, heads, depth = 64, 32, 48, 4, 3
local dim = width // heads
local embed, place = L.Embedding(vocabulary, width), L.Embedding(context, width)
local blocks, last, logits = {}, L.LayerNormalization(), L.Dense(vocabulary)
for i = 1, depth do
  blocks[i] = { first = L.RMSNormalization(), qkv = L.Dense(3 * width), mix = L.Dense(width),
    second = L.LayerNormalization(), up = L.Dense(4 * width, { activation = "gelu" }), down = L.Dense(width) }
end

-- The most likely next token; attend(i, query, key, value) is the attention of block i.
local function next_token(tokens, places, attend)
  local time = tokens.shape[2]
  local x = embed(tokens) * 20 + place(places) * 20
  for i, block in ipairs(blocks) do
    local q, k, v = table.unpack(block.qkv(block.first(x)):reshape({ 1, time, 3 * heads, dim }):split(3, 2))
    x = x + block.mix(attend(i, q, k, v):reshape { 1, time, width })
    x = x + block.down(block.up(block.second(x)))
  end
  local _, best = logits(last(x[{ {}, -1 }])):top_k(1)
  return best:cast "int32"
end

local function anew(first, count)
  local tokens, list = gb.tensor({ { first } }, { dtype = "int32" }), {}
  for n = 1, count do
    local token = next_token(tokens, gb.arange(n), function(_, q, k, v)
      return gb.dot_product_attention(q, k, v, { is_causal = true })
    end)
    list[n], tokens = token:item(), gb.concat({ tokens, token }, 1)
  end
  return list
end

local keys, values = {}, {}
for i = 1, depth do
  for _, cache in ipairs { keys, values } do
    cache[i] = gb.Variable(gb.zeros { 1, context, heads, dim }, { trainable = false })
  end
end

local step = gb.compile(function(token, position)
  local seen = gb.arange(context):le(position):reshape { 1, 1, 1, context }
  return next_token(token, position:reshape { 1 }, function(i, q, k, v)
    keys[i]:assign(keys[i]:slice_update({ 0, position, 0, 0 }, k))
    values[i]:assign(values[i]:slice_update({ 0, position, 0, 0 }, v))
    return gb.dot_product_attention(q, keys[i], values[i], { mask = seen })
  end)
end)

local function cached(first, count)
  local token, list = gb.tensor({ { first } }, { dtype = "int32" }), {}
  for n = 1, count do
    token = step(token, gb.tensor(n - 1, { dtype = "int64" }))
    list[n] = token:item()
  end
  return list
end

return function() return cached, anew end
