-- A probe of CUPTI, in a process of its own: steps are recorded and replayed, some are traced, CUPTI is finalized, and
-- the recorded steps are replayed again, with the same losses as without a trace. Where nothing can be traced, that is
-- printed.
local gb = require "gpubench"
local digit_losses = require "digit_losses"
local testing = require "testing"

local steps = digit_losses.steps
local device = os.getenv "GPU_CHECK_KERNELS_DEVICE" or "gpu:0"
local folder = assert(os.getenv "GPU_CHECK_PROFILE", "GPU_CHECK_PROFILE, a folder to write into, is not set")

-- Plain descent: the losses of all steps depend on every step before, and to the last bit.
local function losses(callbacks)
  return digit_losses.of("M1", digit_losses.on(device),
    { optimizer = gb.optimizers.SGD { learning_rate = 0.05 }, callbacks = callbacks })
end

local untraced = losses()
local first, done = steps // 3, 0
local made, traced = pcall(losses, {
  { on_batch_end = function() done = done + 1 end },
  gb.callbacks.Profiler { path = folder, steps = { first, first + 2 } },
})
if not made then
  if done >= first then error(traced, 0) end
  print("nothing can be traced: " .. tostring(traced):gsub("^[^:]*%.lua:%d+: ", ""))
  return
end

testing.case("steps behind a trace are those without one", function()
  testing.equal(#traced, steps)
  testing.equal(traced, untraced)
end)

testing.case("the trace has the kernels of its steps", function()
  local file = assert(io.open(folder .. "/profile.txt"))
  local text = file:read "a"
  file:close()
  testing.contains(text, "matmul")
end)
