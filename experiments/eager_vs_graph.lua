local gb = require "gpubench"

local batch_size = 32
local digits = gb.datasets.mnist "train"
local epoch = digits.size // batch_size
local no_gpu = #gb.config.list_physical_devices "GPU" == 0
  and "there is no GPU here: a CPU computes while it launches" or nil

local function key_of(row)
  return string.format("%sdepth %d, width %d", #gb.devices() > 1 and row.device .. ", " or "", row.depth, row.width)
end

-- Steps after which the first step of a graph, which plans it, has paid for itself: at best, at worst. Without an end
-- where a step of the graph may be no faster.
local function break_even(eager, graph)
  local first_eager, why = gb.expect.figure(eager, "first_step_s")
  local first_graph, why_graph = gb.expect.figure(graph, "first_step_s")
  local step, why_step = gb.expect.figure(eager, "step_time_s")
  local ratio, why_ratio = gb.expect.compare(graph, eager, "step_time_s")
  if not first_eager or not first_graph or not step or not ratio then
    return nil, why or why_graph or why_step or why_ratio
  end
  local least_planning = math.max(first_graph.low - first_eager.high, 0)
  local most_planning = math.max(first_graph.high - first_eager.low, 0)
  local most_gain, least_gain = step.high * (1 - ratio.low), step.low * (1 - ratio.high)
  return {
    least = most_gain > 0 and least_planning / most_gain or math.huge,
    most = least_gain > 0 and most_planning / least_gain or math.huge,
  }
end

-- Where the gain of a step is too unsure to tell, a point does not count, unless all are such.
local function pays_within_an_epoch(rows)
  local eager, verdict, reasons, unclear = {}, "confirmed", {}, {}
  local slowest, paid = 0, 0
  for _, row in ipairs(rows) do
    if row.execution == "eager" then eager[key_of(row)] = row end
  end
  for _, row in ipairs(rows) do
    local other = row.execution == "graph" and eager[key_of(row)]
    if other then
      local steps, why = break_even(other, row)
      if steps and steps.least <= epoch and steps.most > epoch then
        unclear[#unclear + 1] = key_of(row)
      elseif not steps or steps.least > epoch then
        if steps or verdict ~= "refuted" then verdict = steps and "refuted" or "inconclusive" end
        reasons[#reasons + 1] = string.format("%s: %s", key_of(row),
          why or string.format("after %.0f to %.0f steps, of %d in an epoch", steps.least, steps.most, epoch))
      else
        slowest, paid = math.max(slowest, steps.most), paid + 1
      end
    end
  end
  if #rows == 0 then return "not measurable here", "there are no rows" end
  if verdict ~= "confirmed" then return verdict, table.concat(reasons, "; ", 1, math.min(3, #reasons)) end
  if paid == 0 then return "inconclusive", "the gain of a step is too unsure at " .. table.concat(unclear, "; ") end
  local text = string.format("the plan has paid for itself after %.0f steps or fewer, of %d in an epoch",
    math.ceil(slowest), epoch)
  if #unclear > 0 then
    text = text .. "; left out, because the gain of a step is too unsure there: " .. table.concat(unclear, "; ")
  end
  return verdict, text, (text:gsub("^t", "T"))
end

gb.experiment {
  name  = "eager_vs_graph",
  topic = "launching",
  title = "Eager execution pays for every op; a graph pays once",
  question = "What does eager execution cost, and when does it matter?",
  cause    = "Eager execution handles each op by itself, in every step again: it looks up a kernel, takes memory "
    .. "and launches. For small layers this can take longer than the kernel.",
  remedy   = "Graph execution: ops are fused and planned once, so that a step only has to launch them.",
  reading  = "Step time over the width of the layers, both logarithmic: the gap between the two lines is what "
    .. "eager execution costs; it narrows as the kernels grow. The first step shows what planning costs.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("depth", { 2, 8 }),
    gb.axis("width", { 32, 128, 512, 1024 }),
    gb.axis("execution", { "eager", "graph" }),
  },
  columns = { "first_step_s" },
  run = function(point)
    return gb.device(point.device, function()
      local layers = { gb.layers.Dense(point.width, { activation = "relu", input_shape = { 784 } }) }
      for _ = 2, point.depth do
        layers[#layers + 1] = gb.layers.Dense(point.width, { activation = "relu" })
      end
      layers[#layers + 1] = gb.layers.Dense(10, { activation = "softmax" })
      local model = gb.Sequential(layers)
      model:compile {
        optimizer = "adam", loss = "categorical_crossentropy", execution = point.execution,
      }
      local input = digits:batch(batch_size, { drop_remainder = true })
      local started = gb.clock()
      model:fit(input:take(1), { verbose = 0 })
      local first_step_s = gb.clock() - started
      local row = gb.measure.training(model, input)
      row.first_step_s = first_step_s
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "width", y = "step_time_s", series = "execution", log_x = 2, log_y = 10 },
    gb.chart.line { x = "width", y = "first_step_s", series = "execution", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "step_time_s", of = { execution = "graph" }, over = { execution = "eager" }, at_most = 1,
      claim = "a planned graph is never slower than eager execution",
      answer = "Run the model as a graph: a step takes {less} less time than eagerly",
    },
    gb.expect.decreasing {
      x = "width", y = "step_time_s", of = { execution = "eager" }, over = { execution = "graph" }, tolerance = 0.1,
      claim = "the gain shrinks as the layers grow",
      answer = "It matters for small layers: an eager step takes {over} times as long as a graph's at width {first}, "
        .. "{of} times at width {x}",
    },
    gb.expect.ratio {
      y = "kernels", of = { execution = "graph" }, over = { execution = "eager" }, at_most = 0.95,
      claim = "a planned graph launches fewer kernels in a step",
      answer = "A graph launches {less} fewer kernels in a step",
    },
    gb.expect.ratio {
      y = "launch_share", of = { execution = "graph" }, over = { execution = "eager" }, at_most = 1,
      claim = "of a graph's step a smaller share is spent on launching", unmeasurable = no_gpu,
      answer = "Launching takes {of} of a graph's step, {over} of an eager one",
    },
    gb.expect.that {
      claim = "planning has paid for itself within one epoch", reads = { "step_time_s", "first_step_s" },
      judge = pays_within_an_epoch,
    },
  },
}
