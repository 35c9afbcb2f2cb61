-- How well the kernel times of an emulated accelerator agree with measured ones: a profile is fitted on a random half
-- of the sizes, and its median error on the other half is printed, for several halves.
--   gpubench tests/truth/gpu_times.lua [--set folder=DIR] [--set halves=N] [--set profiles=true]
-- The measured times are those of NeuSight (see docs/devices.md), in a folder beside the checkout that is not part of
-- it. profiles=true prints the fit on all sizes, which the files of the profiles hold.
local gb = require "gpubench"

local native = gb._native
local folder = gb.param("folder", "../shared/data/gpu_times")
local halves = gb.param("halves", 9)
local prints_profiles = gb.param("profiles", false)

-- The name in the files, and the profile from which the fit starts.
local devices = {
  { name = "Tesla T4", profile = "t4" },
  { name = "Tesla V100-PCIE-32GB", profile = "v100" },
  { name = "NVIDIA A100-PCIE-40GB", profile = "a100" },
  { name = "NVIDIA H100 80GB HBM3", profile = "h100" },
}
local float_bytes = 4
-- Inputs and outputs that an element-wise op moves for each element; an op whose name ends with u takes a number or one
-- tensor alone.
local two_inputs = { add = true, mul = true, div = true, pow = true }

local function rows_of(file)
  local text = io.open(folder .. "/" .. file)
  if not text then return nil end
  local names, rows = {}, {}
  for name in text:read("l"):gmatch "[^,\r]+" do names[#names + 1] = name end
  for line in text:lines() do
    local row, index = {}, 0
    for cell in (line:gsub("\r", "") .. ","):gmatch "([^,]*)," do
      index = index + 1
      row[names[index]] = tonumber(cell) or cell
    end
    rows[#rows + 1] = row
  end
  text:close()
  return rows
end

local function of_product(row)
  return {
    kind = "product", flops = 2 * row.m * row.n * row.k,
    bytes = float_bytes * (row.m * row.k + row.k * row.n + row.m * row.n),
    seconds = row.latency_ms / 1e3,
  }
end

local function of_elements(row)
  local elements = row.rows * row.columns
  return {
    kind = "elements", flops = elements, bytes = float_bytes * elements * (two_inputs[row.op] and 3 or 2),
    seconds = row.latency_ms / 1e3,
  }
end

local function of_rows(kind)
  return function(row)
    local elements = row.rows * row.columns
    return {
      kind = kind, flops = elements, bytes = 2 * float_bytes * elements, row_bytes = float_bytes * row.columns,
      seconds = row.latency_ms / 1e3,
    }
  end
end

local kinds = {
  { name = "linear", file = "linear.csv", sample = of_product, most = 0.08 },
  { name = "element-wise", file = "elem.csv", sample = of_elements, most = 0.12 },
  { name = "softmax", file = "softmax.csv", sample = of_rows "softmax", most = 0.12 },
  { name = "layer norm", file = "ln.csv", sample = of_rows "normalization", most = 0.12 },
}

-- By device and kind, the samples.
local function read()
  local samples = {}
  for _, kind in ipairs(kinds) do
    local rows = rows_of(kind.file)
    if not rows then return nil end
    for _, row in ipairs(rows) do
      samples[row.device] = samples[row.device] or {}
      local list = samples[row.device]
      list[kind.name] = list[kind.name] or {}
      table.insert(list[kind.name], kind.sample(row))
    end
  end
  return samples
end

local function split(list)
  local fitted, held_out = {}, {}
  local order = {}
  for index = 1, #list do order[index] = index end
  for index = #order, 2, -1 do
    local other = math.random(index)
    order[index], order[other] = order[other], order[index]
  end
  for position, index in ipairs(order) do table.insert(position <= #list // 2 and fitted or held_out, list[index]) end
  return fitted, held_out
end

-- By kind, the median error on the half that was not fitted.
local function errors_of(profile, by_kind)
  local all, held_out = {}, {}
  for _, kind in ipairs(kinds) do
    local fitted
    fitted, held_out[kind.name] = split(by_kind[kind.name] or {})
    table.move(fitted, 1, #fitted, #all + 1, all)
  end
  local numbers = native.emulation.fit({ like = profile }, all)
  numbers.like = profile
  local errors = {}
  for name, list in pairs(held_out) do
    if #list > 0 then errors[name] = native.emulation.median_error(numbers, list) end
  end
  return errors
end

local function print_profile(profile, by_kind)
  local all = {}
  for _, list in pairs(by_kind) do table.move(list, 1, #list, #all + 1, all) end
  local numbers = native.emulation.fit({ like = profile }, all)
  print(string.format("%s: float32_flops_per_s %.4g, ramp_s %.3g, memory_bytes_per_s %.4g, row_bytes %.3g", profile,
    numbers.float32_flops_per_s, numbers.ramp_s, numbers.memory_bytes_per_s, numbers.row_bytes))
  local own = {}
  for _, kind in ipairs(kinds) do
    if by_kind[kind.name] then
      own[#own + 1] = string.format("%s %.1f %%", kind.name,
        100 * native.emulation.median_error({ like = profile }, by_kind[kind.name]))
    end
  end
  print("  the file's own numbers: " .. table.concat(own, ", "))
end

local samples = read()
if not samples then error("there are no measured times in " .. folder, 0) end

math.randomseed(native.options.seed)
local failed = 0
-- Each figure is the median error over the sizes of a half: their median and the worst over the halves.
print(string.format("%-24s %-13s %6s %8s %8s %8s", "device", "op", "sizes", "error", "worst", "at most"))
for _, device in ipairs(devices) do
  local by_kind, lists = samples[device.name], {}
  for _ = 1, halves do
    for name, value in pairs(errors_of(device.profile, by_kind)) do
      lists[name] = lists[name] or {}
      table.insert(lists[name], value)
    end
  end
  for _, kind in ipairs(kinds) do
    local list = lists[kind.name]
    if list then
      table.sort(list)
      local middle = list[(#list + 1) // 2]
      if middle > kind.most then failed = failed + 1 end
      print(string.format("%-24s %-13s %6d %7.1f%% %7.1f%% %7.0f%%%s", device.name, kind.name, #by_kind[kind.name],
        100 * middle, 100 * list[#list], 100 * kind.most, middle > kind.most and "  FAILED" or ""))
    end
  end
  if prints_profiles then print_profile(device.profile, by_kind) end
end
if failed > 0 then error(string.format("%d median errors are above what is allowed", failed), 0) end
