-- Emulated accelerators from a script: what they are called, what they refuse, what rows of them hold.
local gb = require "gpubench"
local calibration = require "gpubench.device_calibration"
local experiments = require "declared"
local testing = require "testing"

local native = gb._native
native.keep_configuration()

local function fresh(body)
  collectgarbage()
  native.reset_devices()
  local ok, reason = pcall(body)
  collectgarbage()
  native.reset_devices()
  if not ok then error(reason, 0) end
end

local function small_model()
  local model = gb.Sequential {
    gb.layers.Dense(32, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
  return model
end

testing.case("an emulated device is used when it is named, and never listed", function()
  fresh(function()
    for _, name in ipairs(gb.devices()) do assert(not name:find "emulated") end
    local device = gb.device("emulated:h200", function() return (gb.ones { 2, 2 } * 2).device end)
    testing.equal(device, "emulated:h200:0")
    testing.equal(#gb.config.list_logical_devices "EMULATED", 1)
    for _, name in ipairs(gb.devices()) do assert(not name:find "emulated") end
    assert(gb.config.device_description("emulated:t4:3"):find "emulated NVIDIA T4")
  end)
end)

testing.case("its kernels carry the layers that launched them", function()
  fresh(function()
    gb.device("emulated:h200:0", function()
      local input = gb.datasets.mnist("train"):batch(64)
      for _, execution in ipairs { "graph", "eager" } do
        local model = small_model()
        model:compile { optimizer = "sgd", loss = "categorical_crossentropy", execution = execution }
        local profile, kernels, named = model:profile(input, { steps = 3 }), 0, 0
        for _, entry in ipairs(profile.entries) do
          if entry.class == "compute" then
            kernels = kernels + entry.time_s
            if entry.op then named = named + entry.time_s end
          end
        end
        testing.is_true(kernels > 0)
        testing.near(named / kernels, 1, 1e-9, execution)
      end
    end)
  end)
end)

testing.case("what it computes is not a number", function()
  fresh(function()
    gb.device("emulated:h200:0", function()
      local sum = (gb.ones { 2, 2 } * 2):sum():item()
      testing.equal(tostring(sum):gsub("-", ""), "nan")
    end)
    local there = gb.ones { 4 }:to "emulated:a100:0"
    local back = there:to("cpu:0"):to_table()
    testing.equal(tostring(back[1]):gsub("-", ""), "nan")
  end)
end)

testing.case("names, indices and numbers that are impossible are refused with what is possible", function()
  fresh(function()
    testing.raises("unknown emulated accelerator 'h300' (known: a100, "
      .. "h100, h200, t4, v100; custom",
      gb.device, "emulated:h300:0", function() end)
    testing.raises("there is no device emulated:h200:8; there are emulated:h200:0 to emulated:h200:7",
      gb.device, "emulated:h200:8", function() end)
    testing.raises("describe it with gb.config.set_custom_profile", gb.device, "emulated:custom:0", function() end)
    testing.raises("already in use", gb.config.set_custom_profile, { like = "h200" })
  end)
  fresh(function()
    local set = gb.config.set_custom_profile
    testing.raises("the number 'memory_bytes' is missing; option 'like' takes missing ones "
      .. "from one of a100, h100", set, {})
    testing.raises("memory_bytes_per_s is 0; 1000 to 1e+18 is possible", set, { like = "h200", memory_bytes_per_s = 0 })
    testing.raises("launch_s is -1; 0 to 1 is possible", set, { like = "h200", launch_s = -1 })
    testing.raises("float32_flops_per_s is inf; 1000 to", set, { like = "h200", float32_flops_per_s = math.huge })
    testing.raises("unknown number of a profile 'launch' (did you mean 'launch_s'?)", set,
      { like = "h200", launch = 1 })
    testing.raises("unknown emulated accelerator 'tpu'", set, { like = "tpu" })
    testing.raises("option 'launch_s': number expected, got a string", set, { like = "h200", launch_s = "fast" })
    testing.raises("option 'like': string expected, got a number", set, { like = 1 })
  end)
end)

testing.case("a custom profile and a memory limit hold", function()
  fresh(function()
    gb.config.set_custom_profile { like = "h200", memory_bytes = 2 ^ 30 }
    gb.config.set_memory_limit("emulated:t4:0", 2 ^ 24)
    testing.raises("emulated:custom:0: out of memory", gb.device, "emulated:custom:0", function()
      return gb.zeros { 2 ^ 29 }
    end)
    testing.raises("emulated:t4:0: out of memory", gb.device, "emulated:t4:0",
      function() return gb.zeros { 2 ^ 23 } end)
  end)
end)

testing.case("rows of an emulated device are labelled and have no results of arithmetic", function()
  local declaration = {
    name = "labelled", title = "Labelled",
    run = function()
      return gb.device("emulated:h200:0", function()
        local model = small_model()
        local row = gb.measure.training(model, gb.datasets.mnist("train"):batch(64), { budget = 0.1 })
        row.test_accuracy = model:evaluate(gb.datasets.mnist("test"):take(64):batch(64)).accuracy
        return row
      end)
    end,
    expect = {
      gb.expect.at_least { y = "test_accuracy", value = 0.5 },
      gb.expect.at_least { y = "loss", value = 0 },
    },
  }
  local rows = experiments.rows_of(declaration, {})
  testing.equal({ rows[1].status, rows[1].device }, { "ok", "emulated:h200:0" })
  testing.equal(rows[1].emulation,
    "emulated NVIDIA H200, not measured on one; its profile is not checked against a GPU")
  testing.equal({ rows[1].loss or "empty", rows[1].accuracy or "empty", rows[1].test_accuracy or "empty" },
    { "empty", "empty", "empty" })
  assert(rows[1].step_time_s > 0 and rows[1].compute_share > 0)
  for _, judged in ipairs(experiments.judge(declaration, rows, {})) do
    testing.equal(judged.verdict, "not measurable here")
  end

  local on_cpu = experiments.rows_of({ run = function() return { figure = 1 } end }, {})
  testing.equal(on_cpu[1].emulation, nil)
end)

testing.case("replicas on emulated devices exchange in their profile's time", function()
  fresh(function()
    local strategy = gb.distribute.MirroredStrategy { devices = { "emulated:h200:0", "emulated:h200:1" } }
    testing.equal(strategy.communicator, "emulated")
    local model = strategy:scope(small_model)
    local row = gb.measure.training(model, gb.datasets.mnist("train"):batch(128, { drop_remainder = true }),
      { budget = 0.1 })
    testing.equal({ row.replicas, row.device }, { 2, "emulated:h200:0 emulated:h200:1" })
    assert(row.exchanges > 0)
  end)
  fresh(function()
    local rows = gb.measure.collective {
      op = "all_reduce", sizes = { 2 ^ 26 }, devices = { "emulated:h200:0", "emulated:h200:1" }, budget = 0.2,
    }
    testing.equal({ rows[1].implementation, rows[1].wrong or "unknown" }, { "emulated", "unknown" })
  end)
end)

testing.case("a calibration finds a profile, and refuses a CPU and an unknown one", function()
  fresh(function()
    testing.raises("cpu:0 computes in the host's own memory", calibration.measure, "cpu:0", "h100")
    local found = calibration.measure("emulated:v100:0", "h200")
    local known = native.emulation.profile "v100"
    -- Far more than the time that a busy machine adds to waits.
    for _, name in ipairs { "float32_flops_per_s", "float16_flops_per_s", "memory_bytes_per_s",
        "pinned_bytes_per_s" } do
      local ratio = found.numbers[name] / known[name]
      assert(ratio > 1 / 3 and ratio < 3, string.format("%s is found %.2f times as large", name, ratio))
    end
    testing.equal(found.numbers.peer_bytes_per_s, native.emulation.profile("h200").peer_bytes_per_s)
  end)
  testing.raises("unknown emulated accelerator 'h2'", native.emulation.profile, "h2")
end)

testing.case("a kernel's samples need a kind, bytes and a time", function()
  local function fit(sample) return native.emulation.fit({ like = "h200" }, { sample }) end
  testing.raises("unknown kind of kernel 'conv' (known: elements", fit,
    { kind = "conv", flops = 1, bytes = 1, seconds = 1 })
  testing.raises("needs bytes and a time above 0", fit, { kind = "product", flops = 1, bytes = 0, seconds = 1 })
  testing.raises("at least one sample is needed", native.emulation.median_error, { like = "h200" }, {})
end)
