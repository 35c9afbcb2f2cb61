local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- Eight files of a disk that takes 0.4 ms for every batch, read one after the other.
slow_script {
  name = "serial_interleave", title = "Files are read one after the other", remedy = "parallel_reads",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local digits, files = gb.datasets.mnist("train"), {}
    for number = 0, 7 do
      files[number + 1] = digits:shard(8, number):batch(64, { drop_remainder = true }):throttle { latency = 0.0004 }
    end
    local options = { cycle_length = 8, num_parallel_calls = is_mended and gb.AUTOTUNE or 0 }
    local input = gb.data.Dataset.interleave(files, options)
    return gb.measure.input_proof(small_model { width = 512 }, input)
  end,
}
