---@meta
-- How fast devices exchange tensors with each other.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class CollectiveOptions
---@field op "all_reduce"|"all_gather"|"reduce_scatter"|"broadcast"|nil "all_reduce" unless given; reductions are sums
---@field sizes integer[] bytes that a rank puts in, of all_gather and reduce_scatter those of the whole; rounded down to
--- whole elements, one for each rank
---@field dtype string? "float32" unless given; "float16", "bfloat16", "int32" or "int64"
---@field devices string[]? one rank each: all GPUs unless given, or all CPU devices where there is no GPU
---@field cross_device "automatic"|"local"|"nccl"|"reduction_to_one"|nil how they exchange; "automatic" unless given
---@field algorithm "direct"|"tree"|"parts"|"ring"|nil how CPU devices of one process carry out an all_reduce; without, each
--- message takes the way that suits its size. "direct" and "tree" are for messages of up to 2 KiB
---@field budget number? seconds for all sizes together; `--budget` otherwise

--- Times a collective, each rank on a thread of its own, and returns a row for each size, by the definitions of nccl-tests:
---
--- - `collective_time_s`: the median time, mean over the ranks, with its interval; `fastest_rank_time_s`,
---   `mean_rank_time_s` and `slowest_rank_time_s` are the means of single ranks. Collectives run back to back, so ranks
---   arrive together.
--- - `algorithm_bytes_per_s`: `message_bytes` over the time. `bus_bytes_per_s`: that times 2 (n - 1) / n for all_reduce,
---   (n - 1) / n for all_gather and reduce_scatter, 1 for broadcast, so that the best possible is the rate of the link
---   whatever the number of ranks; absent for one rank.
--- - `algorithm`: how it was done, where the communicator tells. `"direct"`: every rank takes what it needs from the
---   others. `"tree"`: many ranks add up small messages along a tree. `"parts"`: every rank adds up a part of the message
---   and writes the sum to all. `"ring"`: sums of parts go around, and every rank reads from its neighbour alone.
---   `"reduction_to_one"`: the first rank does alone what `"parts"` does.
---   Between processes `"pieces"` go around; with several ranks in each both are named.
--- - `wrong`: elements of the result, of all ranks together, that are not the exact one; a row that has any is unreliable.
---   So is one of CPU devices whose threads shared a processor, which is slower than any link.
---
--- Where several processes run the script, the ranks of all take part, and each process gets the same rows. Everything is in
--- place: the part of all_gather and reduce_scatter lies in the whole. `samples` are the times in seconds.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
--- local rows = gb.measure.collective { sizes = { 4096, 65536 }, devices = { "cpu:0", "cpu:1" }, budget = 0.1 }
--- assert(#rows == 2 and rows[2].message_bytes == 65536 and rows[2].replicas == 2)
--- assert(rows[2].algorithm == "parts")
--- local around = gb.measure.collective { sizes = { 65536 }, devices = { "cpu:0", "cpu:1" }, algorithm = "ring", budget = 0.1 }
--- assert(around[1].algorithm == "ring" and around[1].wrong == 0)
--- assert(rows[1].wrong == 0 and rows[1].bus_bytes_per_s == rows[1].algorithm_bytes_per_s)  -- 2 (n - 1) / n is 1 for two
--- ```
---@param options CollectiveOptions
---@return Row[]
function gb.measure.collective(options) end

return gb
