-- Training steps of M1, M2, M3 and ResNet-50, and what each optional pass gains: one line of JSON behind "data: " for
-- each model, as soon as it is measured, and behind them one for each pass that changes its kernels. Nothing is
-- traced, unless GPU_CHECK_TRACED is set: then each model's line has its kernels by time with flops and bytes and what
-- the diagnosis says of them, or the reason why nothing can be traced. GPU_CHECK_KERNELS_OF chooses models,
-- GPU_CHECK_SMALL their small sizes. With GPU_CHECK_SEARCH=N no pass is measured, and products are searched among N
-- algorithms.
local gb = require "gpubench"
local workload = require "gpubench.zoo.workload"
local native = gb._native

local small = os.getenv "GPU_CHECK_SMALL" ~= nil
local search = math.tointeger(os.getenv "GPU_CHECK_SEARCH" or "0")
local traced = (os.getenv "GPU_CHECK_TRACED" or "") ~= ""
local seconds = small and 0.05 or 0.5
local limits = { budget = 2 * seconds, min_time = seconds, warmup = seconds, resident = true, profile = traced }
if not traced then limits.trace = false end
local classes = 10

-- Passes of training on one GPU that may be switched off; each must gain time to be on by default.
local optional_passes = {
  "fuse_epilogue", "fuse_conv_pool", "fuse_activation_gradient", "fuse_bias_gradient", "fuse_metrics",
  "fuse_elementwise", "fuse_softmax_cross_entropy", "fuse_batch_norm", "merge_casts", "batch_casts", "turn_filters",
  "shrink_pool_gradient", "overlap_recorded",
}
-- It orders the kernels, and leaves their number as it is.
local same_kernels = { overlap_recorded = true }

local function digits(batch)
  local data = gb.data.Dataset.synthetic { types = { "float32[784]", "int64[]" }, classes = classes, seed = 1 }
  return data:batch(batch, { drop_remainder = true })
end

-- On images of digits: layers of these widths, or one convolution where there are none.
local function of_digits(name, batch, dtype, widths)
  return {
    name = name, batch = batch, dtype = dtype,
    data = function() return digits(batch) end,
    build = function(passes)
      local before = gb.config.floatx()
      gb.config.set_floatx(dtype)
      local layers = {}
      if #widths == 0 then
        layers = { gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
          gb.layers.Conv2D(32, 3, { activation = "relu" }), gb.layers.MaxPooling2D(2), gb.layers.Flatten() }
      end
      for index, width in ipairs(widths) do
        layers[index] = gb.layers.Dense(width, { activation = "relu", input_shape = index == 1 and { 784 } or nil })
      end
      layers[#layers + 1] = gb.layers.Dense(classes, { activation = "softmax" })
      local model = gb.Sequential(layers)
      gb.config.set_floatx(before)
      model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.001 },
        loss = "sparse_categorical_crossentropy", passes = passes }
      return model
    end,
  }
end

local function resnet50()
  local options = small and workload.options("resnet50", true) or {}
  local batch, shape = small and 4 or 256, options.input_shape or { 224, 224, 3 }
  return {
    name = "ResNet-50", batch = batch, dtype = "mixed_bfloat16",
    data = function()
      return workload.batches("resnet50", { input_shape = shape, classes = options.classes }, batch)
    end,
    build = function(passes)
      local before = gb.config.dtype_policy()
      gb.config.set_dtype_policy "mixed_bfloat16"
      local model = gb.zoo.resnet50(options)
      gb.config.set_dtype_policy(before)
      model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.1, momentum = 0.9 },
        loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true }, passes = passes }
      return model
    end,
  }
end

local wide = small and 64 or 8192
local models = {
  of_digits("M1", small and 8 or 32, "float32", { small and 16 or 128 }),
  of_digits("M2", small and 32 or 8192, "bfloat16", { wide, wide, wide }),
  of_digits("M3", small and 8 or 256, "float32", {}),
  resnet50(),
}
local chosen = os.getenv "GPU_CHECK_KERNELS_OF"
local function is_chosen(model)
  if not chosen then return true end
  for name in chosen:gmatch "[^,]+" do
    if name == model.name then return true end
  end
  return false
end

local function give(fields)
  print("data: " .. native.results.json(fields))
  io.stdout:flush()  -- what is printed is kept when time ends
end

local function measure(model, passes)
  local row = gb.measure.training(model.build(passes), model.data(), limits)
  collectgarbage()
  return row
end

-- Of the entries of a profile those of kernels, longest first.
local function kernels_of(entries)
  local kernels = {}
  for _, entry in ipairs(entries) do
    if entry.class == "compute" and entry.op then kernels[#kernels + 1] = entry end
  end
  return kernels
end

local function step_of(model, row)
  return { model = model.name, batch = model.batch, dtype = model.dtype, kernels = row.kernels,
    step_time_s = row.step_time_s, step_time_low_s = row.step_time_low_s, step_time_high_s = row.step_time_high_s }
end

-- The row alone, without its samples and its profile.
local function cells_of(row)
  local cells = {}
  for name, value in pairs(row) do
    if type(value) ~= "table" and type(value) ~= "userdata" then cells[name] = value end
  end
  return cells
end

local function add_diagnosis(fields, row)
  fields.verdict, fields.findings = row.verdict, native.findings(cells_of(row))
end

local function check_passes(model, kernels)
  for _, pass in ipairs(optional_passes) do
    local row = measure(model, { [pass] = false })
    if row.kernels ~= kernels or same_kernels[pass] then
      local fields = step_of(model, row)
      fields.without = pass
      give(fields)
    end
  end
end

-- The number of the step's kernels.
local function check_step(model)
  local row = measure(model)
  local fields = step_of(model, row)
  if search > 0 then
    fields.search = search
  else
    fields.mfu, fields.flops_per_s, fields.device = row.mfu, row.flops_per_s, row.device
    fields.peaks, fields.copies = native.matmul_peaks(), native.copy_peaks()
    add_diagnosis(fields, row)
  end
  give(fields)
  return row.kernels
end

local no_trace
local function check_kernels(model)
  local fields = { model = model.name, traced = true, search = search > 0 and search or nil }
  local done, row = false, nil
  if not no_trace then done, row = pcall(measure, model) end
  if done then
    fields.profiled_s, fields.doubt, fields.entries = row.profile.step_s, row.profile.doubt,
      kernels_of(row.profile.entries)
    fields.ops = kernels_of(row.profile.ops)
    add_diagnosis(fields, row)
  else
    no_trace = no_trace or tostring(row):gsub("^[^:]*%.lua:%d+: ", "")
    fields.no_trace = no_trace
  end
  give(fields)
end

-- A model that fails does not keep the others from being measured.
local failures = {}
local function attempt(model, what, check, ...)
  local ok, result = pcall(check, model, ...)
  if ok then return result end
  local failure = what .. ": " .. tostring(result)
  failures[#failures + 1] = model.name .. ": " .. failure
  give { model = model.name, failure = failure }
end

if search > 0 then gb.config.set_matmul_search(search) end
local kernels = {}
for _, model in ipairs(models) do
  if is_chosen(model) then
    kernels[model] = attempt(model, "its kernels", traced and check_kernels or check_step)
  end
end
for _, model in ipairs((traced or search > 0) and {} or models) do
  if kernels[model] then attempt(model, "its passes", check_passes, kernels[model]) end
end
if failures[1] then error(table.concat(failures, "; "), 0) end
