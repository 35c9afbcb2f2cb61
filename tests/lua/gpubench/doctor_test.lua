local gb = require "gpubench"
local arithmetic = require "gpubench.arithmetic"
local cases = require "gpubench.arithmetic.cases"
local testing = require "testing"
local doctor = testing.command "doctor"
local native = gb._native

-- What the command prints of these results, and its status.
local function told(results, options)
  local lines, check, print_before = {}, native.doctor.check, print
  native.doctor.check = function() return results end
  print = function(text) lines[#lines + 1] = text end
  local ok, status = pcall(doctor, options or {})
  native.doctor.check, print = check, print_before
  assert(ok, status)
  return lines, status
end

local fine = { name = "driver", state = "ok", found = "580", problem = false }
local dark = { name = "gpu_link", device = "gpu:0", state = "unknown", found = "the driver does not report it",
  problem = false }
local slow = {
  name = "gpu_link", device = "gpu:1", state = "costs speed", found = "8 lanes\nof 16", consequence = "slow copies",
  remedy = "another slot", problem = true,
}
local faulty = { name = "gnuplot", state = "wrong", found = "none", consequence = "no charts", remedy = "install it",
  problem = true }

testing.case("the first line answers, problems come first, what is fine is one line", function()
  local dim = { name = "gpu_mig", device = "gpu:0", state = "unknown", found = dark.found, problem = false }
  local lines,
    status = told { fine, dark, slow, dim, faulty, { name = "load", state = "ok", found = "1 %", problem = false } }
  testing.equal(lines, {
    "1 thing is wrong, 1 thing costs speed here.",
    "gnuplot: none", "    costs   no charts", "    remedy  install it",
    "gpu_link gpu:1: 8 lanes of 16", "    costs   slow copies", "    remedy  another slot",
    "unknown: gpu_link gpu:0, gpu_mig gpu:0: the driver does not report it",
    "ok: driver, load",
  })
  testing.equal(status, 1)
end)

testing.case("without a problem the status is 0, also where something is unknown", function()
  local lines, status = told { fine, dark }
  testing.equal({ lines[1], status }, { "Nothing here costs speed.", 0 })
  local json
  json, status = told({ fine }, { json = true })
  testing.equal(status, 0)
  testing.equal(json, { '{"checks":[{"found":"580","name":"driver","problem":false,"state":"ok"}],"problem":false}' })
  testing.equal(select(2, told({ slow }, { json = true })), 1)
end)

testing.case("the program's own checks have names that the table has", function()
  local names = {}
  for _, one in ipairs(native.doctor.checks()) do names[one.name] = one.looks_at end
  for _, one in ipairs(native.doctor.check { "driver", "gnuplot" }) do testing.is_true(names[one.name], one.name) end
  testing.raises("doctor: there is no check 'gnuplt' (did you mean 'gnuplot'?)", native.doctor.check, { "gnuplt" })
end)

testing.case("every device computes every family of ops as plain loops do", function()
  for _, device in ipairs(gb.devices()) do
    local one = arithmetic.verify(device)
    testing.equal({ one.state, one.problem, one.name, one.device }, { "ok", false, "arithmetic", device })
  end
end)

-- A family whose result a test changes.
local function family(change, sixteen_bits)
  return { name = "doubling", sixteen_bits = sixteen_bits, run = function(make)
    local x, values = make.float({ 8 }, 1, 2)
    local want = {}
    for index, value in ipairs(values) do want[index] = 2 * value end
    return { change { got = x + x, want = want } }
  end }
end

local function verdict(change, sixteen_bits)
  return arithmetic.verify(gb.devices()[1], { family(change, sixteen_bits) })
end

testing.case("a result that is a little wrong is found, with the place", function()
  testing.equal(verdict(function(case) return case end, true).state, "ok")
  local one = verdict(function(case)
    case.want[3] = case.want[3] * 1.001
    return case
  end)
  testing.equal({ one.state, one.problem }, { "wrong", true })
  testing.contains(one.found, "doubling in float32: element 3 is ")
  testing.contains(verdict(function(case)
    case.got = case.got * (0 / 0)
    return case
  end).found, "element 1 is ")
  testing.contains(verdict(function(case)
    case.got = case.got:rows(1, 4)
    return case
  end).found, "4 elements, 8 expected")
  testing.contains(verdict(function() error("broken", 0) end).found, "doubling in float32: broken")
end)

testing.case("a type that the device lacks is no fault", function()
  local one = verdict(function() error("cpu: add: float32 is not supported", 0) end)
  testing.equal(one.state, "ok")
  testing.contains(one.found, "not supported: doubling in float32")
end)

testing.case("families have names of their own", function()
  local seen = {}
  for _, one in ipairs(cases) do
    testing.is_true(not seen[one.name], one.name)
    seen[one.name] = true
  end
end)
