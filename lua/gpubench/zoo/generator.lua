-- gb.zoo.generator: the tokens that a decoder of the zoo finds most likely, one after the other. Keys and values of all
-- positions so far stay in variables, so that a new token costs the work of one position and not of the whole text.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local llama = require "gpubench.zoo.llama"

local Generator = {}
Generator.__index = Generator

-- Variables for each block, [batch, length, key_value_heads, dim] in the type that the net computes in.
local function caches(net, batch_size, length)
  local options, keys, values = net.options, {}, {}
  local dtype = net.layers.norm(gb.zeros { 1, 1, options.width }).dtype
  local shape = { batch_size, length, options.key_value_heads, options.width // options.heads }
  for i = 1, options.depth do
    keys[i] = gb.Variable(gb.zeros(shape, { dtype = dtype }), { trainable = false })
    values[i] = gb.Variable(gb.zeros(shape, { dtype = dtype }), { trainable = false })
  end
  return keys, values
end

-- Logits [batch, vocabulary] of the last position, and its most likely next token [batch, 1].
local function last_of(layers, hidden)
  local logits = layers.logits(hidden[{ {}, { -1, -1 } }]):squeeze(1)
  local _, best = logits:top_k(1)
  return logits, best:cast "int32"
end

-- A step that computes tokens [batch, time] at positions from `first` on and keeps their keys and values; `attend`
-- gets the queries and both, new and kept.
local function step(net, keys, values, attend)
  return gb.compile(function(tokens, first)
    local positions = gb.arange(tokens.shape[2]) + first
    return last_of(net.layers, llama.hidden(net.layers, tokens, function(i, ...)
      local q, k, v = llama.heads(net.options, positions, ...)
      keys[i]:assign(keys[i]:slice_update({ 0, first, 0, 0 }, k))
      values[i]:assign(values[i]:slice_update({ 0, first, 0, 0 }, v))
      return attend(i, q, k, v, first):reshape { -1, tokens.shape[2], net.options.width }
    end))
  end)
end

local function among_new(_, q, k, v) return gb.dot_product_attention(q, k, v, { is_causal = true }) end

local most_rows = 1 << 16

local function new(model, options)
  local where = "gb.zoo.generator"
  local net = llama.nets[model]
  if not net then check.fail("%s: argument #1: a model of gb.zoo.llama_small expected", where) end
  options = check.options(where, options or {}, { { "batch_size", "integer" }, { "length", "integer" } })
  local batch_size, length = options.batch_size or 1, options.length or net.options.context
  check.within(where .. ": option 'batch_size'", batch_size, 1, most_rows)
  if length < 1 or length > net.options.context then
    check.fail("%s: option 'length': from 1 to the model's 'context' of %d, got %d", where, net.options.context, length)
  end
  local keys, values = caches(net, batch_size, length)
  local function among_kept(i, q, _, _, first)
    local seen = gb.arange(length):le(first):reshape { 1, 1, 1, length }
    return gb.dot_product_attention(q, keys[i], values[i], { mask = seen })
  end
  return setmetatable({
    batch_size = batch_size, length = length, position = 0,
    prefill_step = step(net, keys, values, among_new), decode_step = step(net, keys, values, among_kept),
  }, Generator)
end

-- The time of tokens [batch, time], which follow position `first`; `wanted` time, nil for any.
local function time_of(self, name, tokens, first, wanted)
  local has_shape, shape = pcall(function() return tokens.shape end)
  if not has_shape or not shape then check.fail("%s: argument #1: Tensor expected, got %s", name, type(tokens)) end
  local time = shape[2]
  if #shape ~= 2 or shape[1] ~= self.batch_size or time < 1 or (wanted and time ~= wanted) then
    check.fail("%s: tokens [%d, %s] expected, got [%s]", name, self.batch_size, wanted or "time",
      table.concat(shape, ", "))
  end
  if first + time > self.length then
    check.fail("%s: %d tokens behind position %d are beyond the 'length' of %d", name, time, first, self.length)
  end
  return time
end

-- What the step makes of tokens behind position `first`. A step that fails leaves the position.
local function advance(self, compute, tokens, first, time)
  local logits, token = compute(tokens:cast "int32", gb.tensor(first, { dtype = "int64" }))
  self.position = first + time
  return logits, token
end

function Generator:prefill(tokens)
  return advance(self, self.prefill_step, tokens, 0, time_of(self, "Generator:prefill", tokens, 0))
end

function Generator:decode(tokens)
  local name, first = "Generator:decode", self.position
  if first == 0 then check.fail("%s: nothing precedes the token; call prefill first", name) end
  return advance(self, self.decode_step, tokens, first, time_of(self, name, tokens, first, 1))
end

function Generator:generate(tokens, count)
  local name = "Generator:generate"
  if check.kind(name .. ": argument #2", count, "integer") < 1 then
    check.fail("%s: argument #2: at least 1 token is expected, got %d", name, count)
  end
  -- The last token is returned and not computed with.
  local most = self.length + 1 - time_of(self, name, tokens, 0)
  if count > most then
    check.fail("%s: argument #2: with the 'length' of %d, at most %d tokens follow these, got %d", name, self.length,
      most, count)
  end
  local _, token = self:prefill(tokens)
  local list = { token }
  for i = 2, count do
    _, token = self:decode(token)
    list[i] = token
  end
  return gb.concat(list, 1)
end

return new
