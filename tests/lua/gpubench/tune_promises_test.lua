-- What gpubench tune prints as promised: the shares of the step that findings say to disappear with a remedy, and the
-- most that can be gained.
local batch_remedies = require "gpubench.tune.batch_remedies"
local input_remedies = require "gpubench.tune.input_remedies"
local promises = require "gpubench.tune.promises"
local testing = require "testing"

local divides = {}
for _, list in ipairs { batch_remedies, input_remedies, require "gpubench.tune.step_remedies" } do
  for _, row in ipairs(list) do divides[row.name] = row.divides end
end

local function row_with(shares)
  local row = {
    status = "ok", quality = "ok", device = "cpu:0", execution = "eager", precision = "float32", replicas = 1,
    batch_size = 10, examples_per_s = 1000, step_time_s = 0.01,
  }
  for name, share in pairs(shares) do row[name] = share end
  return row
end

local function promised(shares, name)
  return promises.of(row_with(shares), { { name = name, divides = divides[name] } })[name]
end

testing.case("a share of the step that disappears makes the rest so many times as fast", function()
  testing.near(promised({ input_wait_share = 0.2 }, "prefetch").value, 1.25, 1e-9)
  testing.near(promised({ input_wait_share = 0.2 }, "cache").value, 1.25, 1e-9)
  testing.equal(promised({ input_wait_share = 0.2 }, "graph"), nil)
  testing.equal(promised({ input_wait_share = 0.01 }, "prefetch"), nil)
  testing.equal(promises.of(nil, { { name = "prefetch" } }), {})
  testing.equal(promises.of({ status = "ok", work_s = 1 }, { { name = "prefetch" } }), {})
end)

testing.case("the findings that propose a remedy add up", function()
  testing.near(promised({ launch_share = 0.3, host_share = 0.2, compute_share = 0.5 }, "graph").value, 2, 1e-9)
end)

testing.case("a prefetch hides no more than the step's own time, and a larger batch shares a "
    .. "step's fixed cost", function()
  testing.near(promised({ input_wait_share = 0.75 }, "prefetch").value, 1 / 0.75, 1e-9)
  testing.near(promised({ input_wait_share = 0.75 }, "cache").value, 4, 1e-9)
  testing.near(promised({ launch_share = 0.4, compute_share = 0.6 }, "larger_batch").value, 1 / 0.7, 1e-9)
end)

testing.case("a plan removes the launches, not what small kernels lose", function()
  -- 1000 kernels of 5 us, of which arithmetic takes the half.
  local shares = { launch_share = 0.3, host_share = 0.1, compute_share = 0.5, kernels = 1000, mfu = 0.25 }
  testing.near(promised(shares, "graph").value, 1 / 0.6, 1e-9)
  testing.near(promised(shares, "larger_batch").value, 1 / (1 - 0.75 * 0.55), 1e-9)
end)

testing.case("the most that can be gained is 1 over what stays of the step", function()
  local waiting = { input_wait_share = 0.2, compute_share = 0.7, host_share = 0.1, mfu = 0.35 }
  testing.near(promised(waiting, "prefetch").at_most, 1.25, 1e-9)
  -- Without the pipeline's work the kernels of a processor have all of its cores.
  testing.near(promised(waiting, "cache").at_most, 1 / 0.35, 1e-9)
  -- Four times as many examples take at least as long.
  testing.equal(promised({ launch_share = 0.4, compute_share = 0.6, mfu = 0.1 }, "larger_batch").at_most, 4)
end)
