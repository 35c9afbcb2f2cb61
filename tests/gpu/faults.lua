-- A sweep in which the GPU is lost: run by gpu_check, which reads its rows. The library in GPU_CHECK_FAULT makes it
-- fault at the second point; without one, the GPU faults by itself (CUDA on the CPU).
local gb = require "gpubench"

local library = os.getenv "GPU_CHECK_FAULT"

gb.experiment {
  name = "gpu_check_faults",
  title = "A GPU is lost in the middle of a sweep",
  axes = { gb.axis("size", { 16, 32, 64 }) },
  columns = { "sum" },
  run = function(point)
    if library and point.size == 32 then
      local fault = assert(package.loadlib(library, "gpubench_fault"))
      fault()
    end
    local sum = 0
    for _ = 1, 10 do sum = sum + gb.ones({ point.size }):sum():item() end
    return { sum = sum }
  end,
}
