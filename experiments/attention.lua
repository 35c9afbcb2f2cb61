-- One step computes attention of a batch of one and the gradients of queries, keys and values; both ways compute the
-- same from the same numbers. Naive: products and softmax as ops of their own, as one writes them by hand.
local gb = require "gpubench"

local heads, dim = 4, 64
local lengths = gb.quick and { 128, 256, 512, 1024 } or { 128, 256, 512, 1024, 2048, 4096 }
local shortest, longest = lengths[1], lengths[#lengths]

-- The weights of all heads exist as matrices of length x length: products, masked, after softmax, and their gradients.
local function naive(x, length)
  local heads_first = x:transpose { 0, 2, 1, 3 }
  local products = gb.matmul(heads_first, x:transpose { 0, 2, 3, 1 }) * (1 / math.sqrt(dim))
  local times = gb.arange(length)
  local allowed = times:reshape { length, 1 }:ge(times:reshape { 1, length })
  local weights = gb.where(allowed, products, -1e9):softmax()
  return gb.matmul(weights, heads_first):transpose { 0, 2, 1, 3 }
end

local function fused(x)
  return gb.dot_product_attention(x, x, x, { is_causal = true })
end

-- A loss that depends on every output, and a number that depends on every gradient.
local function make_step(kind, length)
  return gb.compile(function(x)
    local tape <close> = gb.tape()
    local y = kind == "naive" and naive(x, length) or fused(x)
    local loss = y:square():mean()
    return loss + tape:gradient(loss, x):square():mean()
  end)
end

local function row_of(rows, kind, length)
  for _, row in ipairs(rows) do
    if row.attention == kind and row.length == length then return row end
  end
end

local function growth(rows, kind)
  local first, last = row_of(rows, kind, shortest), row_of(rows, kind, longest)
  if not (first and last and first.status == "ok" and last.status == "ok") then return nil end
  return last.peak_memory_bytes / first.peak_memory_bytes
end

local function memory_is_linear(rows)
  local of_fused, of_naive = growth(rows, "fused"), growth(rows, "naive")
  if not of_fused then return "inconclusive", "the rows are not there" end
  local times = longest / shortest
  local reason = string.format("%d times the length: fused %.1f times the memory, naive %s", times, of_fused,
    of_naive and string.format("%.1f times", of_naive) or "does not fit")
  return of_fused <= 1.2 * times and "confirmed" or "refuted", reason
end

-- "at length 1024 with 2.1 % of the memory"
local function what_fused_saves(rows)
  local of, over = row_of(rows, "fused", longest), row_of(rows, "naive", longest)
  if not of or of.status ~= "ok" then return nil end
  if not over or over.status ~= "ok" then
    return string.format("Use fused attention: naive does not fit at length %d", longest)
  end
  return string.format("Use fused attention: at length %d it takes %.3g %% of naive's memory", longest,
    100 * of.peak_memory_bytes / over.peak_memory_bytes)
end

gb.experiment {
  name  = "attention",
  topic = "models",
  title = "Attention as one op needs no matrix of weights",
  question = "What does attention cost as the sequence grows, and what does computing it as one op give back?",
  cause    = "Written as products and softmax, attention writes matrices of length x length for each head to memory "
    .. "and reads them again, and keeps them for the gradient: memory and traffic grow with the square of the length.",
  remedy   = "Attention as one op (MultiHeadAttention, gb.dot_product_attention), which computes the weights block by "
    .. "block in the cache, and again in the gradient: the arithmetic stays quadratic, the memory is linear.",
  reading  = "Memory by length: short sequences need little beside the weights of the model; towards long ones fused "
    .. "grows with the length, naive with its square. Step time by length: both grow with "
      .. "the square, fused below naive.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("length", lengths),
    gb.axis("attention", { "naive", "fused" }),
  },
  columns = { gb.column("result", { kind = "counted" }) },
  run = function(point)
    gb.config.set_seed(1)
    return gb.device(point.device, function()
      local type = string.format("float32[%d, %d, %d]", point.length, heads, dim)
      local input = gb.data.Dataset.synthetic { types = { type }, count = 2, seed = 1 }:batch(1)
      local step = make_step(point.attention, point.length)
      local result
      for x in input:take(1):iter() do result = step(x):item() end
      local row = gb.measure.loop(step, input)
      row.result = result
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "length", y = "peak_memory_bytes", series = "attention", log_x = 2, log_y = 10 },
    gb.chart.line { x = "length", y = "step_time_s", series = "attention", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.equal { x = "attention", y = "result", tolerance = 0.001, claim = "both compute the same" },
    gb.expect.that {
      claim = "memory of fused attention grows no faster than the length",
      reads = { "peak_memory_bytes" },
      judge = function(rows)
        local verdict, reason = memory_is_linear(rows)
        return verdict, reason, verdict == "confirmed" and what_fused_saves(rows) or nil
      end,
    },
    gb.expect.faster {
      axis = "attention", value = "fused", than = "naive", y = "step_time_s",
      claim = "fused attention is faster at every length",
      answer = "It is faster too: a step takes {less} less time",
    },
  },
}
