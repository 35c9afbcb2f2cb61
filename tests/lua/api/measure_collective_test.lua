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

testing.case("CPU devices may be told how to add up", function()
  for _, algorithm in ipairs { "direct", "tree", "parts", "ring" } do
    local row = collective { sizes = { 2000 }, devices = { "cpu:0", "cpu:1", "cpu:2" }, algorithm = algorithm,
                             budget = 0.05 }[1]
    testing.equal({ row.algorithm, row.wrong }, { algorithm, 0 })
  end
  local row = collective { sizes = { 3000004 }, devices = { "cpu:0", "cpu:1", "cpu:2" }, algorithm = "ring",
                           dtype = "float16", budget = 0.05 }[1]
  testing.equal({ row.algorithm, row.message_bytes, row.wrong }, { "ring", 3000004, 0 })
end)

testing.case("mistakes are named", function()
  local sizes, devices = { 64 }, { "cpu:0", "cpu:1" }
  testing.raises("sizes", collective, {})
  testing.raises("there is nothing to measure; give at least one size", collective, { sizes = {}, devices = devices })
  testing.raises("unknown collective 'reduce' (known: all_reduce, all_gather, reduce_scatter, broadcast)", collective,
    { op = "reduce", sizes = sizes })
  testing.raises("unknown cross_device 'ring' (known: automatic, local, nccl, reduction_to_one)", collective,
    { sizes = sizes, cross_device = "ring" })
  testing.raises("unknown algorithm 'star' (known: direct, tree, parts, ring)", collective,
    { sizes = sizes, algorithm = "star" })
  testing.raises('the algorithm "direct" is for messages of up to 2 KiB, got 4 KiB; "parts" and "ring" take any',
    collective, { sizes = { 4096 }, devices = devices, algorithm = "direct" })
  testing.raises("option 'algorithm': an all_reduce has several, broadcast has one way", collective,
    { op = "broadcast", sizes = sizes, devices = devices, algorithm = "ring" })
  testing.raises('algorithm = "ring" is for CPU devices of one process, which exchange by cross_device = "local"; ' ..
    '"reduction_to_one" is a way of its own', collective,
    { sizes = sizes, devices = devices, algorithm = "ring", cross_device = "reduction_to_one" })
  testing.raises("3 bytes are less than one float32 element", collective, { sizes = { 3 }, devices = devices })
  testing.raises("no numbers of type uint8 are exchanged", collective,
    { sizes = sizes, dtype = "uint8", devices = devices })
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
