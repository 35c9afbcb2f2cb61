-- The experiments about replicas: their rows and verdicts, for whatever does not depend on how fast the machine is.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

gb.config.set_visible_devices({}, "GPU")
gb._native.keep_configuration()

testing.case("mirrored: the update is that of one device, and efficiency relates to one replica", function()
  local declaration = experiments.of "mirrored"
  for _, scaling in ipairs { "weak", "strong" } do
    local rows = experiments.rows_of(declaration,
      { replicas = 2, scaling = scaling, width = 64, bucket_bytes = 4 << 20 })
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
  -- On a busy machine the one that has less to do may come last all the same: what is named right is the claim's to
  -- say.
  testing.is_true(uneven.named_right == (uneven.last_rank == 0 and 1 or 0), "uneven")
  local slowed = experiments.rows_of(declaration, { slow_replica = "last", division = "even" })[1]
  testing.is_true(slowed.named_right == (slowed.last_rank == slowed.replicas - 1 and 1 or 0), "slowed")
  local measured = experiments.rows_of(declaration, { slow_replica = "last", division = "measured" })[1]
  testing.is_true(measured.named_right == nil and measured.largest_share >= 1 / measured.replicas, "measured")
end)

testing.case("multi_worker: one process relates its devices to one of them, without exchanges "
    .. "where there is one", function()
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

testing.case("multi_worker: alone it says how to start several workers", function()
  local judged = experiments.judge(experiments.of "multi_worker", {})
  testing.equal(judged[1].verdict, "not measurable here")
  testing.contains(judged[1].reason, "there is one worker: start several with gpubench run --workers 2 multi_worker")
end)

testing.case("mirrored: the bucket that claims are about divides the gradients into several exchanges", function()
  local declaration = experiments.of "mirrored"
  local claim = declaration.expect[4]
  local width = declaration.axes[3].values[1]
  local parameters = 784 * width + 2 * width * width + 10 * width
  testing.is_true(4 * parameters >= 2 * claim.where.bucket_bytes, "more than one bucket")
  local is_swept = false
  for _, bytes in ipairs(declaration.axes[4].values) do is_swept = is_swept or bytes == claim.where.bucket_bytes end
  testing.is_true(is_swept, "the sweep has it")
end)

testing.case("replica_memory: a replica holds the whole model, divided layers do not", function()
  local declaration = experiments.of "replica_memory"
  local rows = {}
  for _, model in ipairs { "small", "large" } do
    for _, training in ipairs { "one device", "mirrored", "layers divided" } do
      rows[#rows + 1] = experiments.rows_of(declaration, { model = model, training = training })[1]
    end
  end
  local statuses = {}
  for index, row in ipairs(rows) do statuses[index] = row.status end
  testing.equal(statuses, { "ok", "ok", "ok", "out_of_memory", "out_of_memory", "ok" })
  testing.equal(rows[1].state_bytes, rows[2].state_bytes)
  testing.equal(experiments.verdicts(declaration, rows), { "confirmed", "confirmed", "confirmed" })
  rows[5].status = "ok"
  testing.equal(experiments.judge(declaration, rows)[1].verdict, "refuted")
end)
