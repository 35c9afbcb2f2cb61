local gb = require "gpubench"
local testing = require "testing"

local collective = gb.measure.collective

gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 }, { threads = 1 } })

testing.case("a row for every size, of all CPU devices unless told otherwise", function()
  local rows = collective { op = "all_gather", sizes = { 4096, 100000 }, dtype = "bfloat16", budget = 0.1,
                            devices = not gb.devices()[1]:find "^cpu" and { "cpu:0", "cpu:1", "cpu:2" } or nil }
  testing.equal(#rows, 2)
  testing.equal({ rows[1].message_bytes, rows[2].message_bytes }, { 4092, 99996 })
  for _, row in ipairs(rows) do
    testing.equal({ row.op, row.dtype, row.implementation, row.device, row.replicas, row.wrong },
      { "all_gather", "bfloat16", "local", "cpu:0+cpu:1+cpu:2", 3, 0 })
    testing.equal(#row.samples, row.steps)
    testing.near(row.bus_bytes_per_s, row.algorithm_bytes_per_s * 2 / 3, 1)
    testing.is_true(row.fastest_rank_time_s <= row.slowest_rank_time_s, "ranks")
  end
end)

testing.case("devices may exchange through the first one", function()
  local row = collective { sizes = { 1 << 16 }, devices = { "cpu:2", "cpu:0" }, cross_device = "reduction_to_one",
                           budget = 0.05 }[1]
  testing.equal({ row.algorithm, row.device, row.wrong }, { "reduction_to_one", "cpu:2+cpu:0", 0 })
end)

testing.case("mistakes are named", function()
  local sizes, devices = { 64 }, { "cpu:0", "cpu:1" }
  testing.raises("sizes", collective, {})
  testing.raises("there is nothing to measure; give at least one size", collective, { sizes = {}, devices = devices })
  testing.raises("unknown collective 'reduce' (known: all_reduce, all_gather, reduce_scatter, broadcast)", collective,
    { op = "reduce", sizes = sizes })
  testing.raises("unknown cross_device 'ring' (known: automatic, local, nccl, reduction_to_one)", collective,
    { sizes = sizes, cross_device = "ring" })
  testing.raises("3 bytes are less than one float32 element", collective, { sizes = { 3 }, devices = devices })
  testing.raises("no numbers of type uint8 are exchanged", collective, { sizes = sizes, dtype = "uint8", devices = devices })
  testing.raises("cpu:1 is there twice", collective, { sizes = sizes, devices = { "cpu:1", "cpu:1" } })
  testing.raises("there is no device cpu:9", collective, { sizes = sizes, devices = { "cpu:9" } })
  testing.raises("at least one device", collective, { sizes = sizes, devices = {} })
  testing.raises("size", collective, { sizes = { -1 }, devices = devices })
end)

testing.case("the memory of collectives is free again", function()
  collective { sizes = { 1 << 20 }, devices = { "cpu:0", "cpu:1" }, budget = 0.02 }
  testing.equal(gb.config.memory_info("cpu:0").in_use, 0)
  testing.equal(gb.config.memory_info("cpu:1").in_use, 0)
end)
