-- The experiments about what a training is given: their points run by themselves, and their claims judge rows by what
-- the rows say, however fast the machine is.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

local declared, row_of, with = experiments.of, experiments.row_of, experiments.with

gb._native.keep_configuration()

testing.case("hyperparameters: early stopping does stop early, with --quick too", function()
  local declaration = declared "hyperparameters"
  local rows = {}
  for index, stops in ipairs { false, true } do
    rows[index] = row_of(declaration,
      { device = gb.devices()[1], learning_rate = 0.01, batch_size = 32, early_stopping = stops })
  end
  testing.equal(rows[2].status .. (rows[2].detail or ""):gsub("^no shares: .*", ""), "ok")
  testing.is_true(rows[2].epochs_run < rows[1].epochs_run, "stops early")
  local judged = experiments.judge(declaration, rows)
  testing.equal(judged[5].verdict, "confirmed")
  -- Had it run as long, there would be nothing to confirm.
  rows[2].epochs_run = rows[1].epochs_run
  testing.equal(experiments.judge(declaration, rows)[5].verdict, "refuted")
end)

testing.case("hyperparameters: the fastest pair is named, and those that never got there", function()
  local declaration = declared "hyperparameters"
  local rows = {}
  for _, rate in ipairs { 0.0001, 0.001, 0.01, 0.1 } do
    for _, batch in ipairs { 32, 256 } do
      rows[#rows + 1] = {
        device = "cpu:0", learning_rate = rate, batch_size = batch, early_stopping = false, status = "ok",
        quality = "ok",
        time_to_target_s = rate < 0.1 and 0.1 / rate * batch / 256 or nil, val_accuracy = rate < 0.1 and 0.9 or 0.2,
      }
    end
  end
  local judged = experiments.judge(declaration, rows)
  for index = 1, 4 do testing.equal(judged[index].verdict, "confirmed") end
  testing.contains(judged[1].answer,
    "Use learning rate 0.01 with batch 32: it reaches 85 % of the validation digits in 1.25 s")
  testing.contains(judged[1].answer, "never: learning rate 0.1 with batch 32, learning rate 0.1 with batch 256")
  for _, row in ipairs(rows) do row.time_to_target_s = row.time_to_target_s and 1 end
  testing.equal(experiments.judge(declaration, rows)[1].verdict, "refuted")
  for _, row in ipairs(rows) do row.time_to_target_s = nil end
  testing.equal(experiments.judge(declaration, rows)[1].verdict, "inconclusive")
end)

testing.case("batch_size: memory ends the sweep, and the answer has the largest batch that fits", function()
  local declaration = declared "batch_size"
  local rows, device = {}, gb.devices()[1]
  with(gb.measure,
      { training = function(model, input) model:fit(input:take(1), { verbose = 0 }) return {} end }, function()
    for _, size in ipairs { 64, 4096, 16384 } do
      rows[#rows + 1] = row_of(declaration, { device = device, batch_size = size })
    end
  end)
  testing.equal({ rows[1].status, rows[2].status, rows[3].status }, { "ok", "ok", "out_of_memory" })
  local judged = experiments.judge(declaration, rows)[4]
  testing.equal({ judged.verdict, judged.answer },
    { "confirmed", "Memory sets the upper end: within 16 MiB batch 4096 fits and 16384 does not (" .. device .. ")" })
  testing.equal(experiments.judge(declaration, { rows[1] })[4].verdict, "inconclusive")
  rows[1].status = "out_of_memory"
  testing.equal(experiments.judge(declaration, rows)[4].verdict, "refuted")
end)

testing.case("batch_size: the knee is the first answer; with a busy largest batch, what batches gain", function()
  local headlines = require "gpubench.expect.headlines"
  local declaration, device = declared "batch_size", gb.devices()[1]
  local function lines(quality)
    local rows = {}
    for index, rate in ipairs { 10, 20, 40, 80, 90, 91 } do
      rows[index] = {
        status = "ok", quality = "ok", device = device, batch_size = ({ 1, 16, 64, 256, 1024, 4096 })[index],
        examples_per_s = rate, examples_low_per_s = rate - 0.1, examples_high_per_s = rate + 0.1,
      }
    end
    rows[6].quality = quality
    return headlines.of(experiments.judge(declaration, rows), declaration.expect)
  end
  testing.contains(lines("ok")[1].answer, "Use a batch of 1024 or more: 9 times the examples/s of batch 1")
  local open = lines "unreliable: other programs took 27 % of the processor time that it wanted"
  testing.contains(open[1].answer, "Train in batches: batch 64 already reaches 4 times the examples/s of batch 1")
end)

testing.case("eager_vs_graph: the break-even follows from first steps and steps", function()
  local declaration = declared "eager_vs_graph"
  local function rows_with(first, step)
    local rows = {}
    for index, execution in ipairs { "eager", "graph" } do
      rows[index] = {
        device = "cpu:0", depth = 2, width = 32, execution = execution, status = "ok", quality = "ok",
        first_step_s = first[index], step_time_s = step[index],
      }
    end
    return rows
  end
  local function judged(...) return experiments.judge(declaration, rows_with(...))[5] end
  local one = judged({ 0.010, 0.020 }, { 0.003, 0.001 })
  testing.equal(one.verdict, "confirmed")
  testing.contains(one.answer, "The plan has paid for itself after 5 steps or fewer, of ")
  testing.equal(judged({ 0.010, 10 }, { 0.003, 0.001 }).verdict, "refuted")
  testing.equal(judged({ 0.010, 0.020 }, { 0.001, 0.001 }).verdict, "refuted")
  testing.equal(judged({ 0.020, 0.010 }, { 0.003, 0.001 }).verdict, "confirmed")
  -- A step that may be slower or faster has no break-even.
  local unclear = rows_with({ 0.010, 0.020 }, { 0.003, 0.002 })
  unclear[2].calls = {}
  for round = 1, 6 do
    unclear[2].calls[round] = { first_step_s = 0.020, step_time_s = round % 2 == 0 and 0.001 or 0.004 }
  end
  testing.equal(experiments.judge(declaration, unclear)[5].verdict, "inconclusive")
  local row = row_of(declaration, { device = gb.devices()[1], depth = 2, width = 8, execution = "graph" })
  testing.equal(row.status .. (row.detail or ""):gsub("^no shares: .*", ""), "ok")
  testing.is_true(row.first_step_s > 0, "first step")
end)

testing.case("shuffling: sorted data has its classes in order, and its last fifth has others than the rest", function()
  local declaration = declared "shuffling"
  local seen = {}
  local fit = { fit = function(_, input, options) seen[#seen + 1] = { input, options.validation_data } end }
  local function classes(dataset)
    local found, changes, before = {}, 0, nil
    for _, label in dataset do
      for _, class in ipairs(label.rank == 0 and { label:item() } or label:to_table()) do
        found[class] = true
        if before and class ~= before then changes = changes + 1 end
        before = class
      end
    end
    return found, changes
  end
  local function looked_at(order, validation)
    local sequential = gb.Sequential
    with(gb, { Sequential = function(layers)
      local model = sequential(layers)
      return setmetatable({}, { __index = function(_, name)
        if name == "compile" then return function(_, options) model:compile(options) end end
        return function(_, input, options)
          fit.fit(model, input, options)
          return { history = { val_accuracy = { 1, 1, 1 }, loss = { 1, 1, 1 } } }
        end
      end })
    end }, function()
      local row = row_of(declaration, { order = order, validation = validation, buffer_size = 1 })
      testing.equal(row.status .. (row.detail or ""):gsub("^no shares: .*", ""), "ok")
    end)
    return table.unpack(seen[#seen])
  end
  local train, validation = looked_at("sorted", "last fifth")
  local trained, changes = classes(train)
  testing.is_true(changes <= 9, "in order: " .. changes)
  local held = classes(validation)
  testing.equal({ trained[0], trained[9], held[9], held[0] }, { true, nil, true, nil })
  train = looked_at("mixed", "apart")
  local _, mixed = classes(train)
  testing.is_true(mixed > 1000, "mixed: " .. mixed)
end)
