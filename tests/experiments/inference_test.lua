-- The experiment on inference: every setting measures what it names, and its claims are refuted where they are wrong.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

gb._native.keep_configuration()

local declaration = experiments.of "inference"
local device = gb.devices()[1]

testing.case("every setting measures what it names", function()
  local expected = {
    single = { "graph", "float32", 1, "single_stream" },
    eager = { "eager", "float32", 1, "single_stream" },
    bfloat16 = { "graph", "bfloat16", 1, "single_stream" },
    four_clients = { "graph", "float32", 4, "single_stream" },
    offline = { "graph", "float32", 1, "offline" },
  }
  for _, setting in ipairs(declaration.axes[2].values) do
    local row = experiments.row_of(declaration, { device = device, setting = setting, batch_size = 4 })
    testing.equal(row.status .. (row.detail or ""), "ok")
    testing.equal({ row.execution, row.precision, row.concurrency, row.mode }, expected[setting])
    testing.equal({ row.batch_size, row.latency_s ~= nil }, { 4, setting ~= "offline" })
  end
end)

-- A device that takes a fixed time for a query and then some for each example.
local function invented(change)
  local rows = {}
  for _, setting in ipairs(declaration.axes[2].values) do
    for _, batch in ipairs(declaration.axes[3].values) do
      local row = { status = "ok", quality = "ok", device = device, setting = setting, batch_size = batch }
      local time = (4 + batch) * (({ eager = 2, bfloat16 = 0.5 })[setting] or 1)
      row.examples_per_s = batch / time
      if setting ~= "offline" then row.latency_s = time * (setting == "four_clients" and 4 or 1) end
      change(row)
      rows[#rows + 1] = row
    end
  end
  return experiments.verdicts(declaration, rows)
end

testing.case("the claims hold where they are true and nowhere else", function()
  testing.equal(invented(function() end), experiments.repeated("confirmed", 6))
  local function is_single(row) return row.setting == "single" end
  testing.equal(invented(function(row) row.examples_per_s = 1 / row.batch_size end)[1], "refuted")
  testing.equal(invented(function(row) if is_single(row) then row.latency_s = 8 end end)[2], "refuted")
  testing.equal(invented(function(row) if is_single(row) then row.latency_s = 1e4 end end)[3], "refuted")
  testing.equal(invented(function(row) if row.setting == "bfloat16" then row.examples_per_s = 0.1 end end)[4],
    "refuted")
  testing.equal(invented(function(row) if row.setting == "four_clients" then row.latency_s = 5 end end)[5], "refuted")
  testing.equal(invented(function(row)
    if row.setting == "four_clients" then row.examples_per_s = 4 * row.examples_per_s end
  end)[6], "refuted")
end)
