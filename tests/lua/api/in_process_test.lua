-- A training in a process of its own, and what it may be given.
local gb = require "gpubench"
local testing = require "testing"

local in_process = gb.measure.in_process

testing.case("it trains, and doctor looks at it", function()
  local result = in_process { processors = 1, checks = { "cpu_limit", "environment" },
                              environment = { ONEDNN_MAX_CPU_ISA = "SSE41" } }
  testing.equal({ result.status, result.row.device }, { "ok", gb.devices()[1] })
  testing.is_true(result.row.step_time_s > 0)
  testing.equal({ result.checks[1].name, result.checks[2].name }, { "environment", "cpu_limit" })
  testing.equal(result.checks[1].state, "costs speed")
  testing.equal(result.checks[2].state, gb.config.cpu_threads() > 1 and "costs speed" or "ok")
end)

testing.case("a missing device stops it, or the CPU takes its place", function()
  local hard, soft = in_process { device = "gpu:63" }, in_process { device = "gpu:63", soft = true }
  testing.equal({ hard.status, hard.row }, { "error" })
  testing.contains(hard.detail, "there is no device gpu:63")
  testing.equal({ soft.status, soft.row.device }, { "ok", "cpu:0" })
  testing.contains(soft.detail, "gpu:63 is missing")
end)

testing.case("memory that is too small is told", function()
  local result = in_process { memory_limit = 1 << 20 }
  testing.equal({ result.status, result.row }, { "out_of_memory" })
end)

testing.case("what it cannot be given is refused", function()
  testing.raises("no variable of the environment that can be set: 'LD_PRELOAD'", in_process,
    { environment = { LD_PRELOAD = "x" } })
  testing.raises("option 'neighbours': 0 to", in_process, { neighbours = -1 })
  testing.raises("option 'processors': 0 to 65536 are possible", in_process, { processors = 1 << 20 })
  testing.raises("option 'neighbours': 0 to", in_process, { neighbours = 1 << 40 })
  testing.raises("option 'address_space': 0 to", in_process, { address_space = math.mininteger })
  testing.raises("option 'environment': names with texts", in_process, { environment = { "OMP_THREAD_LIMIT" } })
  testing.raises("option 'environment': names with texts", in_process, { environment = { OMP_THREAD_LIMIT = 1 } })
  testing.raises("option 'device': the name is empty", in_process, { device = "" })
  testing.raises("unknown option 'processor'", in_process, { processor = 1 })
  testing.raises("checks[1]: string expected", in_process, { checks = { 1 } })
  testing.raises("there is no check 'nothing'", in_process, { checks = { "nothing" } })
end)
