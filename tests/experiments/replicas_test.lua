-- The experiments about replicas: their rows and verdicts, for whatever does not depend on how fast the machine is.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

gb.config.set_visible_devices({}, "GPU")
gb._native.keep_configuration()

testing.case("mirrored: the update is that of one device, and efficiency relates to one replica", function()
  local declaration = experiments.of "mirrored"
  for _, scaling in ipairs { "weak", "strong" } do
    local rows = experiments.rows_of(declaration, { replicas = 2, scaling = scaling, width = 64, bucket_bytes = 4 << 20 })
    testing.equal(#rows, 1)
    testing.equal(rows[1].replicas, 2)
    testing.is_true(rows[1].update_difference < 1e-4, "update of two replicas")
    local column = scaling .. "_efficiency"
    testing.is_true(rows[1][column] > 0 and rows[1][column .. "_low"] < rows[1][column .. "_high"], column)
  end
end)

testing.case("uneven_workload: the replica that is waited for is named", function()
  local declaration = experiments.of "uneven_workload"
  local uneven = experiments.rows_of(declaration, { slow_replica = "none", division = "uneven" })[1]
  testing.equal(uneven.named_right, 1)
  testing.equal(uneven.last_rank, 0)
  local slowed = experiments.rows_of(declaration, { slow_replica = "last", division = "even" })[1]
  testing.equal(slowed.named_right, 1)
  testing.equal(slowed.last_rank, slowed.replicas - 1)
  local measured = experiments.rows_of(declaration, { slow_replica = "last", division = "measured" })[1]
  testing.is_true(measured.largest_share > 1 / measured.replicas, "the faster ones take more")
end)
