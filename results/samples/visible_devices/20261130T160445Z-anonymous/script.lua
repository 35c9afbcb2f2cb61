-- The CPU, and the first GPU where there is one, is split into four logical devices first. A device is recognised by
-- its memory limit, because its number changes: the first has 32 MiB, the second 33, and so on. At "environment"
-- nothing is split: what CUDA_VISIBLE_DEVICES said when the program started is what is looked at.
local gb = require "gpubench"

local environment = os.getenv "CUDA_VISIBLE_DEVICES"
local gpus = gb.config.list_physical_devices "GPU"
local start_with_it = "start it as CUDA_VISIBLE_DEVICES=0 gpubench visible_devices"

-- GPUs that the variable names: CUDA reads numbers and names up to the first empty or negative one.
local function named_in(text)
  local count = 0
  for name in (text .. ","):gmatch "([^,]*)," do
    if not name:find "%S" or name:find "^%s*%-" then break end
    count = count + 1
  end
  return count
end

local function undecided_by_environment()
  if #gpus == 0 then return "there is no GPU here that CUDA_VISIBLE_DEVICES could show" end
  if not environment then return "CUDA_VISIBLE_DEVICES is not set: " .. start_with_it end
end

local parts = 4
local function limit_of(index) return (32 + index) << 20 end

-- "3+1" on cpu: { "cpu:3", "cpu:1" }, { 3, 1 }.
local function chosen(kind, visible)
  local names, numbers = {}, {}
  for number in visible:gmatch "%d+" do
    names[#names + 1], numbers[#numbers + 1] = kind .. ":" .. number, math.tointeger(number)
  end
  return names, numbers
end

-- Trains a small model on a device, and returns it so that its memory stays in use.
local function trained_on(device)
  return gb.device(device, function()
    local model = gb.Sequential { gb.layers.Dense(64, { input_shape = { 64 } }), gb.layers.Dense(1) }
    model:compile { optimizer = "adam", loss = "mean_squared_error" }
    model:fit(gb.random.uniform { 256, 64 }, gb.random.uniform { 256, 1 }, { verbose = 0 })
    return model
  end)
end

local function in_use(devices)
  local bytes = {}
  for index, device in ipairs(devices) do bytes[index] = gb.config.memory_info(device).in_use end
  return bytes
end

-- How many of the devices hold a model, and how many of the models are on the device meant for them and on no other.
local function train_on_each(devices)
  local models, alone, used = {}, 0, 0
  for index, device in ipairs(devices) do
    local before = in_use(devices)
    models[index] = trained_on(device)
    local stays = true
    for other, bytes in ipairs(in_use(devices)) do stays = stays and (bytes > before[other]) == (other == index) end
    if stays then alone = alone + 1 end
  end
  for _, bytes in ipairs(in_use(devices)) do used = used + (bytes > 0 and 1 or 0) end
  return used, alone
end

local function counted(names, others)
  for index, name in ipairs(names) do names[index] = gb.column(name, { kind = "counted" }) end
  return table.move(others, 1, #others, #names + 1, names)
end

local no_shares = "no shares: fit trains, and no step is traced"

-- One number behind those that are visible must name nothing.
local function seen_in_environment()
  local devices = gb.config.list_logical_devices "GPU"
  local row = { detail = no_shares, chosen_by = "environment", made_visible = named_in(environment), listed = #devices,
    hidden = 1, refused = 0 }
  if not pcall(gb.device, "gpu:" .. #devices, function() end) then row.refused = 1 end
  row.used, row.models_in_place = train_on_each(devices)
  return row
end

-- Only where it holds in every row.
local function visible_ones_only(rows)
  for _, row in ipairs(rows) do
    local recognised = row.chosen_by == "environment" or row.recognised == row.made_visible
    local holds = row.status == "ok" and recognised and row.used == row.made_visible and row.refused == row.hidden
    if not holds and row.status ~= "skipped" then return nil end
  end
  return "Name the devices in CUDA_VISIBLE_DEVICES, or by gb.config.set_visible_devices before the first tensor: those "
    .. "named are listed and used, in that order, and the others are refused"
end

gb.experiment {
  name  = "visible_devices",
  topic = "devices",
  title = "What is visible decides what is listed and used",
  answer = visible_ones_only,
  question = "Which devices does a program use, and who decides that?",
  cause    = "A program uses the wrong devices, or all of them, because all are visible to it.",
  remedy   = "CUDA_VISIBLE_DEVICES before the program starts, or gb.config.set_visible_devices before its first "
    .. "tensor.",
  reading  = "Devices listed, and devices that hold a model, over what was made visible: both as many as its names.",
  axes  = {
    gb.axis("kind", { "gpu", "cpu" }),
    gb.axis("visible", { "0", "3", "3+1", "0+1+2+3", "environment" }),
  },
  columns = counted({ "made_visible", "listed", "recognised", "used", "models_in_place", "hidden", "refused" },
    { gb.column("chosen_by", { kind = "setting" }) }),
  skip = function(point)
    if #gb.config.list_physical_devices(point.kind:upper()) == 0 then return "there is no GPU here" end
    if point.visible == "environment" then
      return point.kind == "cpu" and "CUDA_VISIBLE_DEVICES names GPUs only" or undecided_by_environment()
    end
  end,
  seconds = function() return 0.1 end,
  run = function(point)
    if point.visible == "environment" then return seen_in_environment() end
    local logical = {}
    for index = 1, parts do logical[index] = { memory_limit = limit_of(index - 1) } end
    gb.config.set_logical_devices(point.kind .. ":0", logical)
    local names, numbers = chosen(point.kind, point.visible)
    gb.config.set_visible_devices(names, point.kind:upper())

    local devices = gb.config.list_logical_devices(point.kind:upper())
    local row = { detail = no_shares, chosen_by = "script", made_visible = #names, listed = #devices, recognised = 0,
      hidden = parts - #names, refused = 0 }
    for index, number in ipairs(numbers) do
      local limit = devices[index] and gb.config.memory_info(devices[index]).limit
      if limit == limit_of(number) then row.recognised = row.recognised + 1 end
    end
    -- The visible ones are numbered from 0; the numbers after theirs name nothing any more.
    for number = #names, parts - 1 do
      if not pcall(gb.device, point.kind .. ":" .. number, function() end) then row.refused = row.refused + 1 end
    end
    row.used, row.models_in_place = train_on_each(devices)
    return row
  end,
  charts = {
    gb.chart.bar { x = "visible", y = "listed", series = "kind" },
    gb.chart.bar { x = "visible", y = "used", series = "kind" },
  },
  expect = {
    gb.expect.agree {
      y = "listed", with = "made_visible", where = { chosen_by = "script" },
      claim = "as many devices are listed as were made visible",
    },
    gb.expect.agree {
      y = "recognised", with = "made_visible", where = { chosen_by = "script" },
      claim = "those listed are the ones named, in the order named",
    },
    gb.expect.agree {
      y = "listed", with = "made_visible", where = { chosen_by = "environment" },
      unmeasurable = undecided_by_environment(),
      claim = "as many GPUs are listed as CUDA_VISIBLE_DEVICES names",
    },
    gb.expect.agree { y = "refused", with = "hidden", claim = "a hidden device is refused" },
    gb.expect.agree { y = "used", with = "made_visible", claim = "every visible device can be used" },
    gb.expect.agree { y = "models_in_place", with = "made_visible", claim = "each model stays on its own device" },
  },
}
