-- The experiments of suites/hardware, with sensors and measurements that the test chooses.
package.preload.reference = function() return dofile "suites/hardware/reference.lua" end
local gb = require "gpubench"
local experiments = require "declared"
local param = require "gpubench.param"
local testing = require "testing"

local native = gb._native
local row_of, with, judge = experiments.row_of, experiments.with, experiments.judge

native.keep_configuration()

local function declared(name)
  param.values = {}  -- each script is read more than once
  return experiments.of("../suites/hardware/" .. name)
end

local function sensors(values)
  return { device_sensors = function() return values end }
end

testing.case("all of them state question, cause, remedy and reading", function()
  for _, path in ipairs(native.system.scripts_in "suites/hardware") do
    local name = path:match "([^/]+)%.lua$"
    if name ~= "reference" then
      local declaration = declared(name)
      for _, field in ipairs { "question", "cause", "remedy", "reading" } do
        testing.is_true(declaration[field], name .. " has its " .. field)
      end
      testing.is_true(#declaration.expect > 0 and #declaration.charts > 0, name .. " claims and charts")
    end
  end
end)

testing.case("health: errors and lost lanes refute it", function()
  local declaration = declared "health"
  local function verdicts(values)
    return with(gb.config, sensors(values), function()
      local row = declaration.run { device = "gpu:0" }
      row.status, row.device = row.status or "ok", "gpu:0"
      return judge(declaration, { row }, { gb.axis("device", { "gpu:0" }) })
    end)
  end
  local sound = verdicts { uncorrected_errors = 0, link_lanes = 16, max_link_lanes = 16 }
  testing.equal(sound[1].verdict .. ", " .. sound[2].verdict, "confirmed, confirmed")
  local broken = verdicts { uncorrected_errors = 2, link_lanes = 8, max_link_lanes = 16 }
  testing.equal(broken[1].verdict .. ", " .. broken[2].verdict, "refuted, refuted")
  with(gb.config, sensors {}, function() testing.equal(declaration.run({ device = "gpu:0" }).status, "skipped") end)
  testing.contains(declaration.skip { device = "cpu:0" }, "not read")
end)

testing.case("matmul_peak and bandwidth: a share of what the model should reach", function()
  local peaks = { peak_float32_flops_per_s = 100e12, peak_memory_bytes_per_s = 2e12 }
  local function kernels() return { { flops_per_s = 30e12 } } end
  local function copies() return { on_device_bytes_per_s = 1.8e12, to_device_bytes_per_s = 50e9 } end
  with(gb.config, sensors(peaks), function()
    with(gb.measure, { kernels = kernels, copies = copies }, function()
      local peak, bandwidth = declared "matmul_peak", declared "bandwidth"
      testing.near(peak.run({ device = "gpu:0", dtype = "float32" })[1].reference_share, 0.5, 1e-9)
      testing.equal(peak.run({ device = "gpu:0", dtype = "bfloat16" })[1].reference_share, nil)
      testing.near(bandwidth.run({ device = "gpu:0", way = "memory" }).reference_share, 1.5, 1e-9)
      testing.equal(bandwidth.run({ device = "gpu:0", way = "to_device" }).bytes_per_s, 50e9)
      testing.is_true(bandwidth.skip { device = "cpu:0", way = "to_device" }, "no link")
    end)
  end)
end)

testing.case("launch_latency and sustained run here", function()
  local latency = row_of(declared "launch_latency", { device = "cpu:0" })
  testing.equal(latency.status .. (latency.detail or ""), "ok")
  testing.is_true(latency.call_time_s > 0 and latency.call_time_s < 1, "a time of one call")
  local sustained = row_of(declared "sustained", { device = "cpu:0" })
  testing.equal(sustained.status .. (sustained.detail or ""), "ok")
  testing.is_true(sustained.kept_share > 0, "a share")
end)
