-- What stands for what: a script cannot start a second program, so each of the two is a logical device of its own, with
-- its own pool and limit, as each process has on a GPU. The memory that they share is a number, `memory`: neither is
-- refused when it is passed, and they "fit" when what both reserved is no more than that. The limit of a program that
-- was told nothing is the memory itself. What a GPU's driver takes for each process comes on top and is not counted.
local gb = require "gpubench"

local memory = 64 << 20
local moments = { "first number", "model built", "model trained", "second program", "both released" }
local steps = gb.quick and 2 or 20  -- none takes more memory than the first

-- The physical device becomes two, of the same kind and next to each other; emulated devices are two already. growth:
-- true and false for both; "first only".
local function split(device, limit, growth)
  local kind, index = device:match "^(.+):(%d+)$"
  local programs = { device, kind .. ":" .. math.tointeger(index) + 1 }
  if kind:find "^emulated" then
    for _, program in ipairs(programs) do gb.config.set_memory_limit(program, limit) end
  else
    gb.config.set_logical_devices(device, { { memory_limit = limit }, { memory_limit = limit } })
  end
  gb.config.set_memory_growth(programs[1], growth ~= false)
  gb.config.set_memory_growth(programs[2], growth == true)
  return programs
end

local function built()
  local model = gb.Sequential {
    gb.layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(512, { activation = "relu" }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  return model
end

local function train(model)
  model:fit(gb.datasets.mnist("train"):batch(64):take(steps), { verbose = 0 })
end

gb.experiment {
  name  = "memory_growth",
  topic = "memory",
  title = "Only with growth, or with limits, do two programs fit side by side",
  question = "Why does one program hold all of a device's memory, and how do two programs fit side by side?",
  cause    = "Memory taken at the start: a program reserves all that it may have, whatever it uses.",
  remedy   = "Growth, which reserves what is used; or limits that together are no more than the memory. Each device "
    .. "has a setting of its own: unlike in TensorFlow, they need not be equal on all GPUs, but one device without "
    .. "growth is taken whole.",
  reading  = "Memory reserved, and memory used, over the course of two programs, for either way and every limit.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("limit_bytes", { memory // 2, memory }),
    gb.axis("growth", { true, false, "first only" }, { closed = true }),
  },
  columns = { "moment", "in_use_bytes", "reserved_bytes", "first_reserved_bytes", "second_reserved_bytes",
    "limits_bytes" },
  seconds = function() return 0.1 end,
  run = function(point)
    local programs = split(point.device, point.limit_bytes, point.growth)
    local rows, alive = {}, {}
    -- Of both programs together; the limits are those of the programs that have begun.
    local function observe()
      collectgarbage()
      local row = { moment = moments[#rows + 1], in_use_bytes = 0, reserved_bytes = 0, limits_bytes = 0,
        detail = "no shares: fit trains, and no step is traced" }
      for index, program in ipairs(programs) do
        local info = gb.config.memory_info(program)
        row[index == 1 and "first_reserved_bytes" or "second_reserved_bytes"] = info.reserved
        row.in_use_bytes = row.in_use_bytes + info.in_use
        row.reserved_bytes = row.reserved_bytes + info.reserved
        if info.peak > 0 then row.limits_bytes = row.limits_bytes + info.limit end
      end
      rows[#rows + 1] = row
    end

    gb.device(programs[1], function()
      alive.number = gb.ones { 1 }
      observe()
      alive.first = built()
      observe()
      train(alive.first)
      observe()
    end)
    gb.device(programs[2], function()
      alive.second = built()
      train(alive.second)
      observe()
    end)
    alive = {}
    observe()
    return rows
  end,
  charts = {
    gb.chart.bar { x = "moment", y = "reserved_bytes", series = { "growth", "limit_bytes" } },
    gb.chart.bar { x = "moment", y = "in_use_bytes", series = { "growth", "limit_bytes" } },
  },
  expect = {
    gb.expect.agree {
      y = "reserved_bytes", with = "limits_bytes", where = { growth = false },
      claim = "preallocated, a program reserves its whole limit from its first number on",
    },
    gb.expect.agree {
      y = "second_reserved_bytes", with = "limit_bytes", where = { growth = "first only", moment = "second program" },
      claim = "a device without growth is taken whole, also where another one grows",
    },
    gb.expect.ratio {
      y = "first_reserved_bytes", of = { growth = "first only" }, over = { growth = false },
      where = { moment = "second program" }, at_most = 0.9,
      claim = "a device with growth reserves less than its limit, also where another one has none",
    },
    gb.expect.ratio {
      y = "reserved_bytes", of = { growth = true, moment = "model trained" },
      over = { growth = false, moment = "model trained" }, at_most = 0.9,
      claim = "with growth a program reserves at least 10 % less than its limit",
      answer = "Let memory grow: a program then reserves {less} less than its limit",
    },
    gb.expect.at_most {
      y = "reserved_bytes", value = memory, where = { moment = "second program", growth = true },
      claim = "with growth two programs fit, also when each may take all of the memory",
      answer = "Two programs then reserve {of} in all, and fit side by side",
    },
    gb.expect.at_most {
      y = "reserved_bytes", value = memory,
      where = { moment = "second program", growth = false, limit_bytes = memory // 2 },
      claim = "preallocated they fit with limits of half the memory",
    },
    gb.expect.at_least {
      y = "reserved_bytes", value = 2 * memory,
      where = { moment = "second program", growth = false, limit_bytes = memory },
      claim = "preallocated they do not fit when each may take all of the memory: they need it twice",
    },
    gb.expect.ratio {
      y = "reserved_bytes", of = { moment = "both released" }, over = { moment = "second program" }, at_least = 1,
      claim = "what was reserved stays reserved when its models are released",
    },
    gb.expect.at_most {
      y = "in_use_bytes", value = 0, where = { moment = "both released" }, claim = "released models use no memory",
    },
  },
}
