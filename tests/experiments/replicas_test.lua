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
  -- On a busy machine the one that has less to do may come last all the same: what is named right is the claim's to say.
  testing.is_true(uneven.named_right == (uneven.last_rank == 0 and 1 or 0), "uneven")
  local slowed = experiments.rows_of(declaration, { slow_replica = "last", division = "even" })[1]
  testing.is_true(slowed.named_right == (slowed.last_rank == slowed.replicas - 1 and 1 or 0), "slowed")
  local measured = experiments.rows_of(declaration, { slow_replica = "last", division = "measured" })[1]
  testing.is_true(measured.named_right == nil and measured.largest_share >= 1 / measured.replicas, "measured")
end)

testing.case("multi_worker: one process relates its devices to one of them, without exchanges where there is one", function()
  local declaration = experiments.of "multi_worker"
  local alone = experiments.rows_of(declaration, { devices_per_process = 1, scaling = "weak", width = 32 })[1]
  testing.equal(alone.processes, 1)
  testing.equal(alone.replicas, 1)
  testing.equal(alone.exchange_bytes, 0.0)
  local most = gb.config.cpu_threads()
  if most == 1 then return end
  local all = experiments.rows_of(declaration, { devices_per_process = most, scaling = "strong", width = 32 })[1]
  testing.equal(all.replicas, most)
  testing.is_true(all.exchange_bytes > 0, "exchanges")
  testing.is_true(all.strong_efficiency > 0 and all.strong_efficiency_low <= all.strong_efficiency_high, "efficiency")
end)
