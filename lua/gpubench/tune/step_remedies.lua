-- Remedies for steps: how they are planned, launched and called (remedies.lua says what a row is).
local gb = require "gpubench.native"
local change = require "gpubench.tune.change"

-- The option of the calls of compile that have it: holds(options) says which.
local function compile_option(facts, name, value, value_text, holds, otherwise)
  local changes, why = {}, "the script compiles no model"
  for _, one in ipairs(facts.compiles) do
    local options = one.arguments[1]
    if not one.site or type(options) ~= "table" then
      why = "the model is not compiled by the script itself"
    elseif holds(options) then
      changes[#changes + 1] = change.field(one.site, 1, name, value, value_text)
    else
      why = otherwise
    end
  end
  if #changes > 0 then return changes end
  return nil, why
end

local function graph(facts)
  local changes, why = compile_option(facts, "execution", "graph", '"graph"', function(options)
    return options.run_eagerly == true or options.execution == "eager"
  end, "the model runs as a graph already")
  for index = 1, changes and #changes or 0 do
    changes[#changes + 1] = change.field(changes[index].site, 1, "run_eagerly", false, "false")
  end
  return changes, why
end

local function fused_kernels(facts)
  return compile_option(facts, "passes", {}, "{}", function(options)
    for _, on in pairs(type(options.passes) == "table" and options.passes or {}) do
      if on == false then return true end
    end
    return false
  end, "no pass is switched off")
end

local function pinned_memory(facts)
  if not facts.has_own_memory then return nil, "the model's device works in the host's memory" end
  return compile_option(facts, "pin_inputs", true, "true", function(options) return options.pin_inputs == false end,
    "batches are made in page-locked memory already")
end

local function input_slots(facts)
  if not facts.has_own_memory then return nil, "the model's device works in the host's memory" end
  return compile_option(facts, "input_slots", 2, "2", function(options) return options.input_slots == 1 end,
    "the executor has a second place for inputs already")
end

local function loops(facts)
  local list = {}
  for _, use in ipairs(facts.uses) do
    if use.name == "loop" and use.site then list[#list + 1] = use end
  end
  return list
end

local function compiled_step(facts)
  local changes = {}
  for _, use in ipairs(loops(facts)) do
    if type(use.arguments[1]) == "table" and use.arguments[1].is == "function" then
      changes[#changes + 1] = change.argument(use.site, 1, "gb.compile", gb.compile, function(source, call)
        return source:wrap_argument(call, 1, source:library_name() .. ".compile(", ")")
      end)
    end
  end
  if #changes > 0 then return changes end
  return nil, #loops(facts) > 0 and "the step is compiled already" or "the script measures no loop of its own"
end

-- The function that a table of callbacks has for the end of a batch, under either of its names.
local function batch_end(one)
  return type(one) == "table" and (one.on_batch_end or one.on_train_batch_end) or nil
end

-- What calls back after every batch does so at the end of the epoch instead, with the figures of the epoch.
local function by_epoch(callbacks)
  local list = {}
  for index, one in ipairs(callbacks) do
    list[index] = one
    if batch_end(one) then
      local copy = {}
      for name, fn in pairs(one) do copy[name] = fn end
      local on_batch_end, on_epoch_end = batch_end(one), one.on_epoch_end
      copy.on_batch_end, copy.on_train_batch_end = nil, nil
      copy.on_epoch_end = function(epoch, logs)
        on_batch_end(1, logs)
        if on_epoch_end then return on_epoch_end(epoch, logs) end
      end
      list[index] = copy
    end
  end
  return list
end

local function options_with_callbacks(arguments)
  for number, options in ipairs(arguments) do
    if type(options) == "table" and type(options.callbacks) == "table" then
      for _, one in ipairs(options.callbacks) do
        if batch_end(one) then return number end
      end
    end
  end
end

local function fewer_callbacks(facts)
  local changes = {}
  for _, use in ipairs(facts.uses) do
    local number = use.name == "fit" and use.site and options_with_callbacks(use.arguments)
    if number then
      local one = change.argument(use.site, number, "on_epoch_end instead of on_batch_end", function(options)
        local copy = {}
        for name, value in pairs(options) do copy[name] = value end
        copy.callbacks = by_epoch(options.callbacks)
        return copy
      end)
      one.advice = "call back once an epoch: callbacks = { { on_epoch_end = ... } } instead of on_batch_end"
      changes[#changes + 1] = one
    end
  end
  if #changes > 0 then return changes end
  return nil, "no callback of fit is called after every batch"
end

-- Reads from here on are one in so many; the others give the number that was read last.
local calls_per_read = 100
-- A value that a run reads so often is read in a loop of steps.
local least_reads = 10

local function fewer_synchronizations(facts)
  local changes = {}
  for _, read in ipairs(facts.reads) do
    if read.count >= least_reads then
      local count, value = 0, nil
      local advice = string.format("read it once an epoch, or every %d steps, instead of in every step", calls_per_read)
      changes[#changes + 1] = change.instead(read.site, advice, function(item, ...)
        if count % calls_per_read == 0 then value = item(...) end
        count = count + 1
        return value
      end)
    end
  end
  if #changes > 0 then return changes end
  return nil, "no value is read from the device in every step"
end

-- The first of the devices on which the model ran that the script names.
local function home_of(facts)
  for device in facts.device:gmatch "[^+%s]+" do
    for _, one in ipairs(facts.devices) do
      if one.arguments[1] == device then return device end
    end
  end
  return facts.devices[1] and facts.devices[1].arguments[1]
end

local function one_device(facts)
  local home, changes, differs = home_of(facts), {}, false
  for _, one in ipairs(facts.devices) do
    local name = one.arguments[1]
    differs = differs or name ~= home
    if one.site and name ~= home then
      changes[#changes + 1] = change.argument(one.site, 1, string.format("%q instead of %q", home, name),
        function(value) return value == name and home or value end, function(source, call)
          local text = source:argument_text(call, 1)
          return text and text:find "^['\"]" and source:replace_argument(call, 1, string.format("%q", home)) or nil
        end)
    end
  end
  if #changes > 0 then return changes end
  return nil, differs and "layers are not placed by the script itself" or "everything is on one device"
end

-- A setting that holds for the layers that are made from there on.
local function configuration(facts, text, set, reason)
  if reason then return nil, reason end
  return { change.statement(text, set, facts.layers_line) }
end

local function mixed_precision(facts)
  local reason
  if facts.policies > 0 then reason = "the script chooses the precision itself" end
  if not facts.has_layers then reason = "the script makes no layers" end
  return configuration(facts, 'gb.config.set_dtype_policy "mixed_bfloat16"',
    function() gb.config.set_dtype_policy "mixed_bfloat16" end, reason)
end

local function tensor_float32(facts)
  return configuration(facts, "gb.config.set_tf32(true)", function() gb.config.set_tf32(true) end,
    not facts.device:find "^gpu" and "the model does not run on a GPU" or nil)
end

return {
  { name = "pinned_memory", propose = pinned_memory },
  { name = "input_slots", propose = input_slots },
  { name = "one_device", propose = one_device },
  { name = "graph", propose = graph },
  { name = "compiled_step", propose = compiled_step },
  { name = "fewer_callbacks", propose = fewer_callbacks },
  { name = "fewer_synchronizations", propose = fewer_synchronizations },
  { name = "fused_kernels", propose = fused_kernels },
  { name = "mixed_precision", propose = mixed_precision, changes_results = true },
  { name = "tensor_float32", propose = tensor_float32, changes_results = true },
}
