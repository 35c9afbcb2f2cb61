local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- Eight files of a slow disk, read one after the other.
slow_script {
  name = "serial_interleave", title = "Files are read one after the other", remedy = "parallel_reads",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local digits, files = gb.datasets.mnist("train"), {}
    for number = 0, 7 do files[number + 1] = digits:shard(8, number):throttle { latency = 25e-6 } end
    local options = { cycle_length = 8, num_parallel_calls = is_mended and 8 or 0 }
    local input = gb.data.Dataset.interleave(files, options):batch(64, { drop_remainder = true })
    return gb.measure.training(small_model { width = 512 }, input)
  end,
}
