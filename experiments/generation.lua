-- A decoder in the widths of gb.zoo.llama_small, with fewer blocks and a smaller vocabulary. All ways end with the
-- logits behind a text of `length` tokens. prefill: one pass over the text, of which all tokens count. cached: the pass
-- of its last token, with the keys and values of those before. anew: the pass over the text, of which the last token
-- alone counts, since that is what it takes to get another one without a cache.
local gb = require "gpubench"

-- A GPU computes a short text as fast as it launches the kernels of a token.
local is_gpu = not gb.device():find "^cpu"
local is_small = gb.quick and not is_gpu
local lengths = is_gpu and { 64, 4096 } or is_small and { 32, 256 } or { 64, 512 }
local short, long = lengths[1], lengths[#lengths]
local batches = { 1, 4, 16 }
local most = batches[#batches]
local net = is_small and { vocabulary = 2048, width = 256, hidden = 768, depth = 4, heads = 8, key_value_heads = 2 }
  or { vocabulary = 8192, width = 576, hidden = 1536, depth = 2, heads = 9, key_value_heads = 3 }
net.context = long

-- The same batch of random texts again and again, or their last tokens.
local function texts(point, last_only)
  local data = gb.data.Dataset.synthetic {
    types = { "int32[" .. point.length .. "]" }, classes = net.vocabulary, count = point.batch_size, seed = 1,
  }
  data = data:batch(point.batch_size)
  if last_only then data = data:map(function(tokens) return tokens[{ {}, { -1, -1 } }] end) end
  return data:cache()
end

-- What a pass reads whatever it computes: all weights, and the keys and values in the cache.
local function read_bytes(model, point)
  local of_position = 2 * net.depth * net.key_value_heads * (net.width // net.heads)
  local cache = point.way == "cached" and point.batch_size * point.length * of_position or 0
  return 4 * (model:count_params() + cache)
end

-- The step, and the mean of what it gives for the texts.
local function step_of(point, model)
  local generator = gb.zoo.generator(model, { batch_size = point.batch_size, length = point.length })
  local whole = texts(point):iter()()
  if point.way ~= "cached" then
    return function(tokens) return (generator:prefill(tokens)) end, generator:prefill(whole):abs():mean():item()
  end
  generator:prefill(whole[{ {}, { 1, -2 } }])
  local function step(token)
    generator.position = point.length - 1
    return (generator:decode(token))
  end
  return step, step(whole[{ {}, { -1, -1 } }]):abs():mean():item()
end

gb.experiment {
  name  = "generation",
  topic = "models",
  title = "Token by token, a device reads weights and hardly computes",
  question = "Why is a device that reads a prompt fast slow to write an answer, and what do a cache and a batch give?",
  cause    = "A new token depends on the one before, so that a pass computes one token of each text. It reads all "
    .. "weights for it, and has hardly any arithmetic to do with them. Without a cache of keys and values, it also "
    .. "computes the whole text again.",
  remedy   = "Keep keys and values (gb.zoo.generator), and continue many texts in one batch: weights that are read "
    .. "once then serve all of them.",
  reading  = "Tokens/s over the batch, both logarithmic: prefill is what the device computes when a pass has many "
    .. "tokens, cached what it gives a token at a time, anew the same without a cache. Over the length of the text: "
    .. "anew falls, cached keeps its rate as far as reading the weights takes longer than reading the cache.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("way", { "prefill", "cached", "anew" }, { closed = true }),
    gb.axis("length", lengths),
    gb.axis("batch_size", batches),
  },
  columns = {
    "tokens_per_s", gb.column("read_bytes", { kind = "counted", better = "lower" }),
    gb.column("read_share", { kind = "time", better = "higher" }), gb.column("result", { kind = "counted" }),
  },
  skip = function(point)
    if point.length == long and point.batch_size > 1 then return "long texts are measured one by one" end
  end,
  seconds = function(_, measurement_s) return measurement_s + 0.5 end,
  run = function(point)
    gb.config.set_seed(1)
    return gb.device(point.device, function()
      local model = gb.zoo.llama_small(net)
      local step, result = step_of(point, model)
      local row = gb.measure.loop(step, texts(point, point.way == "cached"))
      local tokens = point.way == "prefill" and point.length or 1
      for _, level in ipairs { "", "_low", "_high" } do
        local rate = row["examples" .. level .. "_per_s"]
        row["tokens" .. level .. "_per_s"] = rate and rate * tokens
      end
      row.result, row.read_bytes = result, read_bytes(model, point)
      local best = gb.measure.copies(point.device).on_device_bytes_per_s
      row.read_share = row.examples_per_s and row.read_bytes * row.examples_per_s / point.batch_size / best
      return row
    end)
  end,
  charts = {
    gb.chart.line {
      x = "batch_size", y = "tokens_per_s", series = "way", where = { length = short }, log_x = 2, log_y = 10,
      title = "tokens/s by texts in a batch, of " .. short .. " tokens each",
    },
    gb.chart.line {
      x = "length", y = "tokens_per_s", series = "way", where = { batch_size = 1 }, log_x = 2, log_y = 10,
      title = "tokens/s of a single text, by its length",
    },
    gb.chart.bar {
      x = "way", y = "read_share", where = { batch_size = 1, length = long },
      title = "share of the memory's rate at which weights and cache are read, a single text of " .. long .. " tokens",
    },
  },
  expect = {
    gb.expect.equal {
      x = "way", y = "result", tolerance = 1e-4,  -- a cache that misses a token changes it by 1e-3
      claim = "with the cache and without, the logits of a text's next token are the same",
    },
    gb.expect.ratio {
      y = "tokens_per_s", of = { way = "prefill" }, over = { way = "cached" }, at_least = 4,
      where = { batch_size = 1, length = long },
      claim = "a single text is read at least 4 times as fast as it is continued",
      answer = "Expect a new token of a single text to take {times} as long as one of its prompt",
    },
    gb.expect.ratio {
      y = "tokens_per_s", of = { way = "cached" }, over = { way = "anew" }, at_least = 2,
      where = { batch_size = 1, length = long },
      claim = "behind a long text, the cache makes a token at least twice as fast",
      answer = "Keep keys and values: behind " .. long .. " tokens, {times} as many new ones a second as without",
    },
    gb.expect.ratio {
      y = "tokens_per_s", of = { batch_size = most }, over = { batch_size = 1 }, at_least = 2,
      where = { way = "cached", length = short },
      claim = "a batch of " .. most .. " texts gets at least twice as many tokens a second as a single one",
      answer = "Continue texts together: a batch of " .. most .. " gets {times} as many tokens a second as one text",
    },
    gb.expect.ratio {
      y = "read_share", of = { way = "cached" }, over = { way = "prefill" }, at_least = 2,
      where = { batch_size = 1, length = long },
      claim = "a token at a time, weights are read at least twice as fast as by a pass over a text: arithmetic does "
        .. "not limit it",
    },
  },
}
