-- Functions of tensors against keras.ops (functions_values.lua, written by functions.py): eagerly, and compiled.
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/functions_values.lua"
local close = compare.close

-- What is no method of the first input.
local calls = {
  pad = gb.pad, scatter = gb.scatter, arange = gb.arange, linspace = gb.linspace, eye = gb.eye,
  stop_gradient = function(x) return x:stop_gradient() * x end,
  slice_at = function(x, at, shape) return x:slice(at, shape) end,
  slice_from = function(x, t, shape) return x:slice({ 0, t, 0 }, shape) end,
  slice_update = function(x, updates, at) return x:slice_update(at, updates) end,
  slice_update_at = function(x, at, updates) return x:slice_update(at, updates) end,
}

local function inputs_of(case)
  local inputs, sources = {}, {}
  for index, dtype in ipairs(case.types) do
    inputs[index] = gb.tensor(case.inputs[index], { dtype = dtype })
    if dtype == "float32" then sources[#sources + 1] = inputs[index] end
  end
  return inputs, sources
end

-- The results as a list.
local function apply(case, inputs)
  if case.class == "einsum" then return { gb.einsum(case.arguments[1], table.unpack(inputs)) } end
  local arguments = { table.unpack(inputs) }
  table.move(case.arguments, 1, #case.arguments, #arguments + 1, arguments)
  local method = calls[case.class] or function(first, ...) return first[case.class](first, ...) end
  local results = table.pack(method(table.unpack(arguments)))
  return type(results[1]) == "table" and results[1] or { table.unpack(results, 1, results.n) }
end

local function total_of(outputs)
  local total
  for _, output in ipairs(outputs) do
    if output.dtype == "float32" then
      local sum = output:square():sum()
      total = total and total + sum or sum
    end
  end
  return total
end

compare.run(reference.functions, function(case)
  local inputs, sources = inputs_of(case)
  local tape <close> = gb.tape()
  local outputs = apply(case, inputs)
  for index, expected in ipairs(case.outputs) do close(outputs[index], expected, 1e-5, "output " .. index) end
  testing.equal(#outputs, #case.outputs)
  local function check(gradients, how)
    for index, expected in ipairs(case.gradients) do
      close(gradients[index], expected, 5e-5, how .. "gradient " .. index)
    end
  end
  if #case.gradients > 0 then check(tape:gradient(total_of(outputs), sources), "") end
  if #inputs == 0 then return end
  local compiled = gb.compile(function(...)
    local own <close> = gb.tape()
    local given, floating = { ... }, {}
    for _, one in ipairs(given) do
      if one.dtype == "float32" then floating[#floating + 1] = one end
    end
    local results = apply(case, given)
    if #case.gradients == 0 then return table.unpack(results) end
    local gradients = own:gradient(total_of(results), floating)
    table.move(gradients, 1, #gradients, #results + 1, results)
    return table.unpack(results)
  end)
  local results = table.pack(compiled(table.unpack(inputs)))
  for index, expected in ipairs(case.outputs) do
    close(results[index], expected, 1e-5, "compiled output " .. index)
  end
  check({ table.unpack(results, #case.outputs + 1, results.n) }, "compiled ")
end)
