-- Made-up texts, whose numbers of words are spread as those of reviews: most are short, few are very long. An encoder
-- (attention, whose cost grows with every position) shows what padding costs, a mean of word vectors, which hardly
-- computes, what tokenizing costs.
local gb = require "gpubench"

local Dataset = gb.data.Dataset
-- With the work of a CPU, a GPU takes the time of its launches, whatever a batch holds.
local is_gpu = not gb.device():find "^cpu"
local batch_size = is_gpu and 256 or gb.quick and 16 or 32
local longest = is_gpu and 512 or gb.quick and 128 or 256
local count = math.max(512, 16 * batch_size)
local steps = count // batch_size
local words, width, heads = 5000, is_gpu and 256 or 64, 4
local path = string.format("%s/results/texts_%d_%d.txt", gb._native.options.out, count, longest)

-- Words of each text: log-normal.
local function lengths()
  local list = gb.random.normal({ count }, { seed = 1 }):to_table()
  for i, z in ipairs(list) do list[i] = math.max(1, math.min(longest, math.floor(math.exp(3.4 + 0.8 * z)))) end
  return list
end

-- Word `index`, of letters.
local function word(index)
  local text = ""
  repeat
    text = text .. string.char(97 + index % 26)
    index = index // 26
  until index == 0
  return text
end

-- Frequent words have small numbers, as in Zipf's law. A run that ends meanwhile leaves no file of this name.
local function write()
  local draws = gb.random.uniform({ count, longest }, { seed = 2 }):to_table()
  local file = assert(io.open(path .. ".new", "w"))
  for i, length in ipairs(lengths()) do
    local text = {}
    for j = 1, length do text[j] = word(math.floor(words ^ draws[i][j])) end
    file:write(table.concat(text, " "), ".\n")
  end
  file:close()
  assert(os.rename(path .. ".new", path))
end

-- Writes the texts unless they are there.
local function prepare()
  local file = io.open(path)
  if file then file:close() return end
  gb.device("cpu:0", write)
end

local function tokenizer()
  local vocabulary = {}
  for i = 1, words do vocabulary[i] = word(i) end
  return gb.layers.TextVectorization { vocabulary = vocabulary }
end

local function labels() return Dataset.synthetic { types = { "float32[1]" }, seed = 3 } end

-- How texts of different lengths become batches.
local padded = {}

function padded.dataset(texts)
  return texts:padded_batch(batch_size, { padded_shapes = { { longest }, { 1 } } })
end

function padded.batch(texts) return texts:padded_batch(batch_size) end

function padded.bucket(texts)
  local boundaries, sizes, length = {}, {}, 16
  while length < longest do
    boundaries[#boundaries + 1], length = length + 1, 2 * length
  end
  boundaries[#boundaries + 1] = longest + 1
  for i = 1, #boundaries + 1 do sizes[i] = batch_size end
  return texts:bucket_by_sequence_length {
    bucket_boundaries = boundaries, bucket_batch_sizes = sizes, pad_to_bucket_boundary = true,
  }
end

-- Where texts become tokens, (int64[?], float32[1]).
local tokenized = {}

-- One text after the other, by the script, in the thread that trains.
function tokenized.script()
  local tokenize = tokenizer()
  local function begin()
    local next_line, next_label = io.lines(path), labels():iter()
    return function()
      local line = next_line()
      if line then return tokenize(line), next_label() end
    end
  end
  return Dataset.from_generator(begin, { types = { "int64[?]", "float32[1]" } }):repeated()
end

local function mapped()
  local texts = Dataset.zip { Dataset.text_lines(path), labels():take(count) }
  return texts:map(tokenizer(), { num_parallel_calls = gb.AUTOTUNE })
end

function tokenized.map() return mapped():repeated() end

-- Once, in the first epoch.
function tokenized.cached() return mapped():cache():repeated() end

local function batches_of(point)
  local batches = padded[point.padding](tokenized[point.tokenizing]())
  return point.tokenizing == "script" and batches or batches:prefetch(gb.AUTOTUNE)
end

-- Nets give a logit for each text of tokens [batch, time]; the mask hides padding from both.
local nets = {}

function nets.encoder()
  local embed, attend = gb.layers.Embedding(words + 2, width), gb.layers.MultiHeadAttention(heads, width // heads)
  local up, down = gb.layers.Dense(4 * width, { activation = "relu" }), gb.layers.Dense(width)
  local norm1, norm2 = gb.layers.LayerNormalization(), gb.layers.LayerNormalization()
  local pool, logit = gb.layers.GlobalAveragePooling1D(), gb.layers.Dense(1)
  return { embed, attend, up, down, norm1, norm2, logit }, function(tokens)
    local mask, x = tokens:ne(0), embed(tokens)
    x = norm1(x + attend { x, x, mask })
    x = norm2(x + down(up(x)))
    return logit(pool(x, { mask = mask }))
  end
end

function nets.mean()
  local embed, logit = gb.layers.Embedding(words + 2, width), gb.layers.Dense(1)
  local pool = gb.layers.GlobalAveragePooling1D()
  return { embed, logit }, function(tokens) return logit(pool(embed(tokens), { mask = tokens:ne(0) })) end
end

local function step_of(point)
  local layers, forward = nets[point.net]()
  forward(gb.zeros({ 1, 1 }, { dtype = "int64" }))
  local weights = {}
  for _, layer in ipairs(layers) do
    table.move(layer.trainable_variables, 1, #layer.trainable_variables, #weights + 1, weights)
  end
  local loss_of, optimizer = gb.losses.BinaryCrossentropy { from_logits = true }, gb.optimizers.SGD(0.01)
  return gb.compile(function(tokens, label)
    local tape <close> = gb.tape()
    local loss = loss_of(label, forward(tokens))
    optimizer:apply_gradients(tape:gradient(loss, weights), weights)
    return loss
  end)
end

-- Of the first texts, the sum of the logits of a net that is not trained: neither their order nor padding counts in it.
local function result_of(point)
  local _, forward = nets[point.net]()
  local sum, texts = 0, tokenized.cached():take(2 * batch_size)
  for tokens in padded[point.padding](texts):iter() do sum = sum + forward(tokens):sum():item() end
  return sum
end

-- Of the batches of an epoch: words, positions, and how many lengths they have.
local function sizes_of(point)
  local found, positions, shapes, is_known = 0, 0, 0, {}
  gb.device("cpu:0", function()
    for tokens in batches_of(point):take(steps):iter() do
      local length = tokens.shape[2]
      positions, found = positions + batch_size * length, found + tokens:ne(0):cast("float32"):sum():item()
      if not is_known[length] then shapes = shapes + 1 end
      is_known[length] = true
    end
  end)
  return found, positions, shapes
end

-- The same in all rounds.
local function counted(point)
  local key = table.concat({ point.device, point.net, point.padding, point.tokenizing }, " ")
  return gb.once(key, function() return result_of(point), sizes_of(point) end)
end

-- Seconds of so many epochs. Steps of different shapes take different times: an epoch has all of them.
local function train(step, batches, epochs)
  local started, loss = gb.clock(), nil
  for tokens, label in batches:take(epochs * steps):iter() do loss = step(tokens, label) end
  loss:item()  -- waits for the device
  return gb.clock() - started
end

gb.experiment {
  name  = "text",
  topic = "feeding",
  title = "Padding and tokenizing cost more than the words of a text",
  question = "What do texts of different lengths cost, and where should they become tokens?",
  cause    = "A batch is as long as its longest text. Padded to the longest of the data, most positions hold no token, "
    .. "and a net computes all of them. A script that makes tokens between the steps lets the device wait for them.",
  remedy   = "Batch texts of similar length (bucket_by_sequence_length, padded to the bucket's boundary, so that few "
    .. "shapes are planned), and hide padding by a mask. Tokenize in the pipeline, by map with several workers, or "
    .. "once, with cache behind the map.",
  reading  = "Share of the positions that are padding, and words/s of the encoder, by what texts are padded to: less "
    .. "padding, more words. Texts/s of the mean of word vectors, by the place where texts become tokens: more is "
    .. "better.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("net", { "encoder", "mean" }, { closed = true }),
    gb.axis("padding", { "dataset", "batch", "bucket" }, { closed = true }),
    gb.axis("tokenizing", { "script", "map", "cached" }, { closed = true }),
  },
  columns = {
    gb.column("padding_share", { kind = "counted", better = "lower" }),
    gb.column("shapes", { kind = "counted", better = "lower" }), "words_per_s", "texts_per_s",
    gb.column("result", { kind = "counted" }),
  },
  skip = function(point)
    if point.net == "encoder" and point.tokenizing ~= "cached" then return "the encoder shows what padding costs" end
    if point.net == "mean" and point.padding ~= "batch" then return "the mean shows what tokenizing costs" end
  end,
  seconds = function() return gb.quick and 1 or 2 end,
  run = function(point)
    gb.config.set_seed(1)
    prepare()
    return gb.device(point.device, function()
      local result, found, positions, shapes = counted(point)
      gb.config.set_seed(1)
      local step, batches = step_of(point), batches_of(point)
      local epochs = point.net == "mean" and 4096 // count or 1
      train(step, batches, 1)  -- plans the step for each shape, and fills the cache
      local epoch_s = train(step, batches, epochs) / epochs
      return {
        result = result, padding_share = 1 - found / positions, shapes = shapes, words_per_s = found / epoch_s,
        texts_per_s = steps * batch_size / epoch_s,
      }
    end)
  end,
  charts = {
    gb.chart.bar {
      x = "padding", y = "padding_share", where = { net = "encoder", tokenizing = "cached" },
      title = "share of positions that are padding",
    },
    gb.chart.bar {
      x = "padding", y = "words_per_s", where = { net = "encoder", tokenizing = "cached" },
      title = "words/s of the encoder",
    },
    gb.chart.bar {
      x = "tokenizing", y = "texts_per_s", where = { net = "mean", padding = "batch" },
      title = "texts/s of the mean of word vectors",
    },
  },
  expect = {
    gb.expect.equal {
      x = "padding", y = "result", tolerance = 1e-3, where = { net = "encoder" },
      claim = "with masks, padding changes no result",
    },
    gb.expect.ratio {
      y = "padding_share", of = { padding = "bucket" }, over = { padding = "dataset" }, at_most = 0.5,
      where = { net = "encoder" },
      claim = "buckets have at most half the share of padding that texts padded to the longest of the data have",
      answer = "Batch texts of similar length: {of} of all positions are padding, {over} where the longest text of the "
        .. "data decides",
    },
    gb.expect.ratio {
      y = "words_per_s", of = { padding = "bucket" }, over = { padding = "dataset" }, at_least = 1.5,
      where = { net = "encoder" },
      claim = "in buckets, the encoder trains on at least 1.5 times as many words a second",
      answer = "The encoder then trains on {times} as many words a second",
    },
    gb.expect.ratio {
      y = "shapes", of = { padding = "bucket" }, over = { padding = "batch" }, at_most = 0.5,
      where = { net = "encoder" },
      claim = "padded to boundaries of buckets, batches have at most half the shapes of those padded to their longest",
      answer = "Pad to the boundaries of buckets: a step is planned for {of} shapes instead of {over}",
    },
    gb.expect.ratio {
      y = "texts_per_s", of = { tokenizing = "map" }, over = { tokenizing = "script" }, at_least = 1.1,
      where = { net = "mean" },
      claim = "with tokens from a map of the pipeline, training is at least 1.1 times as fast as with a script's",
      answer = "Tokenize in the pipeline: a light net trains {times} as fast as with tokens that the script makes",
    },
    gb.expect.ratio {
      y = "texts_per_s", of = { tokenizing = "cached" }, over = { tokenizing = "script" }, at_least = 1.1,
      where = { net = "mean" },
      claim = "with tokens that are made once and cached, training is at least 1.1 times as fast too",
    },
  },
}
