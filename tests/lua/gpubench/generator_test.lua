-- gb.zoo.generator: with the cache, logits and tokens are those of the whole text computed anew.
local gb = require "gpubench"
local testing = require "testing"

local batch_size, prompt_length, length = 3, 4, 12

-- Weights large enough that tokens differ from each other and depend on all before them.
local function made(options)
  gb.config.set_seed(5)
  local sizes = { vocabulary = 60, context = 16, length = length, width = 48, hidden = 80, depth = 3, heads = 6,
    key_value_heads = 2, rope_max_wavelength = 1000.0 }
  for key, value in pairs(options or {}) do sizes[key] = value end
  local model = gb.zoo.llama_small(sizes)
  for _, variable in ipairs(model.variables) do variable:assign(gb.random.normal(variable.shape) * 0.5) end
  return model
end

local function prompts()
  return gb.tensor({ { 1, 2, 3, 4 }, { 50, 3, 3, 9 }, { 7, 0, 59, 30 } }, { dtype = "int32" })
end

-- Logits [batch, vocabulary] behind the last token, from all of the text, which zeros fill up behind it.
local function anew(model, text)
  local time = text.shape[2]
  if time < length then text = gb.concat({ text, gb.zeros({ batch_size, length - time }, { dtype = "int32" }) }, 1) end
  return model(text)[{ {}, time }]
end

local function most_likely(logits)
  local _, token = logits:top_k(1)
  return token:cast "int32"
end

local nets = { tied = {}, untied = { tied = false }, ["a head for each query"] = { key_value_heads = 6 } }

for name, options in pairs(nets) do
  testing.case("the cache changes neither logits nor tokens: " .. name, function()
    local model = made(options)
    local generator = gb.zoo.generator(model, { batch_size = batch_size, length = length })
    local text, seen = prompts(), {}
    local logits, token = generator:prefill(text)
    for time = prompt_length, length do
      local expected = anew(model, text)
      testing.is_true((logits - expected):abs():max():item() < 1e-5 * expected:abs():max():item(), "logits " .. time)
      testing.equal(token:to_table(), most_likely(expected):to_table())
      for _, row in ipairs(token:to_table()) do seen[row[1]] = true end
      text = gb.concat({ text, token }, 1)
      testing.equal(generator.position, time)
      if time < length then logits, token = generator:decode(token) end
    end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    testing.is_true(count > 5, "tokens differ")
    testing.equal(generator:generate(prompts(), length + 1 - prompt_length):to_table(),
      text[{ {}, { prompt_length + 1, -1 } }]:to_table())
  end)
end

testing.case("a generator computes with the weights that the model has now", function()
  local model = made()
  local generator = gb.zoo.generator(model, { batch_size = batch_size, length = length })
  local before = generator:prefill(prompts())
  model.variables[1]:assign(gb.random.normal(model.variables[1].shape))
  local after = generator:prefill(prompts())
  testing.is_true((after - before):abs():max():item() > 0.1)
  testing.is_true((after - anew(model, prompts())):abs():max():item() < 1e-3)
end)

testing.case("under mixed_bfloat16 the cache is of 16 bits", function()
  gb.config.set_dtype_policy "mixed_bfloat16"
  local model = made()
  gb.config.set_dtype_policy "float32"
  local generator = gb.zoo.generator(model, { batch_size = batch_size, length = length })
  local _, token = generator:prefill(prompts())
  local logits = generator:decode(token):cast "float32"
  local expected = anew(model, gb.concat({ prompts(), token }, 1)):cast "float32"
  testing.is_true((logits - expected):abs():mean():item() < 0.05 * expected:abs():mean():item())
end)

testing.case("what does not fit is refused", function()
  local model = made()
  local token = gb.zeros({ batch_size, 1 }, { dtype = "int32" })
  testing.raises("gb.zoo.generator: argument #1: a model of gb.zoo.llama_small expected", gb.zoo.generator,
    gb.zoo.lstm_text { vocabulary = 10, length = 4, width = 4, units = 4 })
  testing.raises("gb.zoo.generator: option 'length': from 1 to the model's 'context' of 16, got 17", gb.zoo.generator,
    model, { length = 17 })
  testing.raises("gb.zoo.generator: option 'batch_size': from 1 to 65536 is expected, got 0", gb.zoo.generator, model,
    { batch_size = 0 })
  testing.raises("gb.zoo.generator: unknown option 'size' (known: batch_size, length)", gb.zoo.generator, model,
    { size = 1 })
  local generator = gb.zoo.generator(model, { batch_size = batch_size, length = 5 })
  testing.raises("Generator:decode: nothing precedes the token; call prefill first", generator.decode, generator, token)
  testing.raises("Generator:prefill: argument #1: Tensor expected, got number", generator.prefill, generator, 3)
  testing.raises("Generator:prefill: tokens [3, time] expected, got [1, 4]", generator.prefill, generator,
    gb.zeros { 1, 4 })
  testing.raises("Generator:prefill: tokens [3, time] expected, got [3, 0]", generator.prefill, generator,
    gb.zeros { 3, 0 })
  testing.raises("Generator:prefill: 6 tokens behind position 0 are beyond the 'length' of 5", generator.prefill,
    generator, gb.zeros { 3, 6 })
  generator:prefill(prompts())
  testing.raises("Generator:decode: tokens [3, 1] expected, got [3, 4]", generator.decode, generator, prompts())
  generator:decode(token)
  testing.raises("Generator:decode: 1 tokens behind position 5 are beyond the 'length' of 5", generator.decode,
    generator, token)
  testing.raises("Generator:generate: argument #2: at least 1 token is expected, got 0", generator.generate, generator,
    prompts(), 0)
  testing.raises("Generator:generate: argument #2: with the 'length' of 5, at most 2 tokens follow these, got 3",
    generator.generate, generator, prompts(), 3)
  testing.equal(generator.position, 5)
end)

testing.case("a step that fails leaves the position", function()
  local generator = gb.zoo.generator(made(), { batch_size = batch_size })
  local unknown = prompts() + 60
  testing.raises("is outside the vocabulary of 60", generator.prefill, generator, unknown)
  testing.raises("nothing precedes the token", generator.decode, generator, unknown[{ {}, { 1, 1 } }])
  local _, token = generator:prefill(prompts())
  testing.raises("is outside the vocabulary of 60", generator.decode, generator, token + 60)
  testing.equal(generator.position, prompt_length)
end)

testing.case("a net without blocks has a generator", function()
  local generator = gb.zoo.generator(made { depth = 0 }, { batch_size = batch_size })
  testing.equal(generator:generate(prompts(), 2).shape, { batch_size, 2 })
end)
