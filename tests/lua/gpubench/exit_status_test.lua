local gb = require "gpubench"
local exit_status = require "gpubench.exit_status"
local testing = require "testing"

local axes = { gb.axis("n", { 1, 2, 3 }) }

-- Rows with these statuses, at n = 1, 2, ...
local function rows_of(...)
  local rows = {}
  for index, status in ipairs { ... } do
    local row = { n = index, status = status, device = "cpu:0" }
    if status ~= "ok" then row.detail = "because of " .. index end
    rows[index] = row
  end
  return rows
end

local function reasons(rows, options, verdicts)
  options = options or {}
  options.require = options.require or {}
  return exit_status.reasons(rows, axes, verdicts or {}, options)
end

local function texts(...)
  local list = {}
  for index, reason in ipairs(reasons(...)) do list[index] = reason.status .. ": " .. reason.text end
  return list
end

testing.case("rows that are a finding give no reason to fail", function()
  testing.equal(reasons(rows_of("ok", "ok")), {})
  testing.equal(reasons(rows_of("ok", "skipped", "timeout", "out_of_memory")), {})
end)

testing.case("a row with an error is status 2, whatever else is required", function()
  testing.equal(texts(rows_of("ok", "error", "error"), { require = {} }),
    { "2: 2 rows of 3 with status error (the first at n=2); mend it, or leave such points out with --set" })
  testing.equal(#texts(rows_of("error", "error"), { require = { "ok" } }), 1)
end)

testing.case("an experiment that measured nothing is status 3, and says what came instead", function()
  testing.equal(texts(rows_of("skipped", "timeout", "skipped")), { "3: no point was measured: "
    .. "2 rows skipped (the first at n=1: because of 1); run it where the script does not skip them. "
    .. "1 row timeout (the first at n=2: because of 2); give more time with --timeout" })
  testing.contains(texts(rows_of("out_of_memory"))[1],
    "1 row out_of_memory (the first at n=1: because of 1); use a device with more memory, or smaller points")
  testing.equal(#texts(rows_of("skipped"), { require = { "ok", "reliable", "device=cpu:0" } }), 1)
  local alone = exit_status.reasons(rows_of "skipped", {}, {}, { require = {} })
  testing.contains(alone[1].text, "1 row skipped (because of 1); run it")
end)

testing.case("ok: every point that is not skipped", function()
  local required = { require = { "ok" } }
  testing.equal(texts(rows_of("ok", "skipped"), required), {})
  testing.equal(texts(rows_of("ok", "timeout", "out_of_memory"), required), { "3: --require ok does not hold: 2 rows "
    .. "of 3 not ok (the first at n=2); give more time with --timeout" })
end)

testing.case("reliable: ok, and the quality of every row too", function()
  local required = { require = { "reliable" } }
  local rows = rows_of("ok", "ok", "skipped")
  rows[1].quality = "ok"
  testing.equal(texts(rows, required), {})
  rows[2].quality = "unreliable: noise"
  local text = "3: --require reliable does not hold: 1 row of 2 not reliable (the first at n=2: unreliable: noise)"
  testing.equal(texts(rows, required), { text })
  for doubt, remedy in pairs {
    busy = "repeat the run on an idle machine, or with --wait-idle 600",
    buffers = "repeat the run with a larger --budget",
  } do
    rows[2].doubt = doubt
    testing.equal(texts(rows, required), { text .. "; " .. remedy })
  end
  testing.contains(texts(rows_of("ok", "timeout"), required)[1],
    "3: --require reliable does not hold: 1 row of 2 not ok")
end)

testing.case("device: a row that is ok ran on it", function()
  local rows = rows_of("ok", "timeout")
  rows[1].device, rows[2].device = "gpu:1+cpu:0", "gpu:0"
  testing.equal(texts(rows, { require = { "device=gpu:1", "device=cpu:0" } }), {})
  testing.equal(texts(rows, { require = { "device=gpu:0" } }), { "3: --require device=gpu:0 does not hold: no row with "
    .. "status ok has the device gpu:0; measure on it with --device gpu:0 or --set device=gpu:0" })
  rows[1].device = "gpu:10 cpu:0"
  testing.equal(#reasons(rows, { require = { "device=gpu:1" } }), 1)
  rows[1].device = nil
  testing.equal(#reasons(rows, { require = { "device=gpu:1" } }), 1)
end)

testing.case("a device that is not there is told before anything is measured, with the reason", function()
  testing.equal(exit_status.missing_device { "ok", "device=" .. gb.devices()[1] }, nil)
  local native = gb._native
  local absence, unusable = native.gpu_absence, native.unusable_gpus
  native.gpu_absence = function() return "no driver" end
  testing.contains(exit_status.missing_device { "ok", "device=gpu:7" },
    "--require device=gpu:7: there is no gpu:7 (devices: " .. table.concat(gb.devices(), ", ")
      .. "); no GPU: no driver")
  testing.equal(exit_status.missing_device { "device=cpu:9" }:find "no driver", nil)
  native.gpu_absence, native.unusable_gpus = function() end, function() return { "GPU 1 cannot be used: too old" } end
  testing.contains(exit_status.missing_device { "device=gpu:7" }, "; GPU 1 cannot be used: too old")
  native.gpu_absence, native.unusable_gpus = absence, unusable
end)

testing.case("a refuted claim is status 1 with --strict alone", function()
  local verdicts = { { claim = "a", verdict = "confirmed" }, { claim = "b", verdict = "refuted" } }
  testing.equal(reasons(rows_of "ok", {}, verdicts), {})
  testing.equal(texts(rows_of "ok", { strict = true }, verdicts),
    { "1: 1 claim of 2 refuted (b); see the report, or run without --strict" })
end)

testing.case("of several statuses 2 comes before 3, and 3 before 1", function()
  local function worst(...)
    local status = 0
    for _, one in ipairs { ... } do status = exit_status.worse(status, one) end
    return status
  end
  testing.equal({ worst(), worst(1), worst(1, 3), worst(3, 1), worst(3, 2, 1), worst(1, 2), worst(0, 3, 0) },
    { 0, 1, 3, 3, 2, 2, 3 })
end)

testing.case("figures that are no numbers pass neither ok, reliable nor --strict, and are no error without", function()
  for name, value in pairs { NaN = 0 / 0, infinite = math.huge, ["-infinite"] = -math.huge } do
    local rows = rows_of("ok", "ok", "ok")
    rows[2].loss, rows[3].loss, rows[1].loss = value, value, 1.0
    local why = "2 rows of 3 with figures that are no numbers (the first at n=2): loss is "
      .. (value ~= value and "NaN" or name)
    testing.equal(texts(rows, { require = { "ok" } }), { "3: --require ok does not hold: " .. why })
    testing.equal(texts(rows, { require = { "reliable" } }), { "3: --require reliable does not hold: " .. why })
    testing.equal(texts(rows, { strict = true }), { "1: " .. why .. "; see the report, or run without --strict" })
    testing.equal(texts(rows), {})
  end
end)
