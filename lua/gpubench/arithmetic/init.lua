-- `gpubench doctor --verify`: computes each family of ops on a device, in float32 and 16 bits, and compares it with
-- plain loops in double precision, of fresh random inputs.
local gb = require "gpubench.native"
local cases = require "gpubench.arithmetic.cases"
local native = gb._native
local seconds = native.system.seconds

local arithmetic = {}

-- Largest error relative to the largest value; sums of a few dozen products.
local tolerances = { float32 = 2e-5, float16 = 4e-3, bfloat16 = 3.2e-2 }
-- Of one device; most take less than a second, and a device that hangs is not waited for between two families.
local limit_s = 20

local function flatten(value, list)
  if type(value) ~= "table" then
    list[#list + 1] = value
    return list
  end
  for _, item in ipairs(value) do flatten(item, list) end
  return list
end

-- Makers of inputs in a type: each returns a tensor, and its elements as the type has rounded them.
local function maker(dtype)
  local make = { dtype = dtype, seed = math.random(1 << 30) }
  function make.values(tensor) return flatten(tensor:to_table(), {}) end
  local function of(shape, draw)
    local count, list = 1, {}
    for _, extent in ipairs(shape) do count = count * extent end
    for index = 1, count do list[index] = draw() end
    local tensor = gb.tensor(list):reshape(shape):cast(dtype)
    return tensor, make.values(tensor)
  end
  function make.float(shape, low, high)
    return of(shape, function() return low + (high - low) * math.random() end)
  end
  function make.whole(shape, low, high)
    return of(shape, function() return math.random(low, high) end)
  end
  return make
end

-- Why a result is wrong; nil where it is right.
local function difference(case, dtype)
  local got = flatten(case.got:to_table(), {})
  if #got ~= #case.want then return string.format("%d elements, %d expected", #got, #case.want) end
  local largest, worst, at = 0, 0, 1
  for _, value in ipairs(case.want) do largest = math.max(largest, math.abs(value)) end
  for index, value in ipairs(case.want) do
    local error = math.abs(got[index] - value)
    if not (error <= worst) then worst, at = error, index end  -- what is no number is the worst
    if worst ~= worst then break end
  end
  local allowed = case.exact and 0 or (case.tolerance or tolerances[dtype]) * math.max(largest, 1e-30)
  if worst <= allowed then return nil end
  return string.format("element %d is %.9g, %.9g expected", at, got[at], case.want[at])
end

-- Why a family is wrong in a type, nil where it is right; then, where the device lacks the type or an op, why.
local function fault_of(family, dtype)
  local ok, list, reason = native.protect(family.run, maker(dtype))
  native.check_interrupt()
  if not ok then
    if reason:find "not supported" then return nil, reason end
    return reason
  end
  for _, case in ipairs(list) do
    local text = difference(case, dtype)
    if text then return text end
  end
end

local function result(device, state, found)
  local one = { name = "arithmetic", device = device, state = state, found = found, problem = state == "wrong" }
  if one.problem then
    one.consequence = "what is trained or measured on this device is wrong"
    one.remedy = "run gpubench doctor --verify again; if it is wrong again, another driver, library or card"
  end
  return one
end

-- The result of the check `arithmetic` for a device. `families`: for tests; by default all.
function arithmetic.verify(device, families)
  local began, checked, missing = seconds(), 0, {}
  for _, family in ipairs(families or cases) do
    for _, dtype in ipairs(family.sixteen_bits and { "float32", "bfloat16", "float16" } or { "float32" }) do
      if seconds() - began > limit_s then
        return result(device, "unknown", string.format("only %d of the ops were checked within %d s", checked, limit_s))
      end
      local fault, lacks = gb.device(device, function() return fault_of(family, dtype) end)
      if fault then return result(device, "wrong", string.format("%s in %s: %s", family.name, dtype, fault)) end
      checked = checked + (lacks and 0 or 1)
      if lacks then missing[#missing + 1] = family.name .. " in " .. dtype end
    end
  end
  return result(device, "ok", string.format("%d of the families and types are right%s", checked,
    missing[1] and "; not supported: " .. table.concat(missing, ", ") or ""))
end

return arithmetic
