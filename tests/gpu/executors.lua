-- The models of the comparison on the GPU: step by step the same losses in graph and eager execution, with fused
-- kernels and without, as on the CPU. GPU_CHECK_MODELS and GPU_CHECK_STEPS shorten it.
local gb = require "gpubench"
local digit_losses = require "digit_losses"
local testing = require "testing"

local steps = digit_losses.steps
-- Adam divides by the root of the gradient's square, which makes much of the last bits of small gradients.
local tolerance = 5e-3

local unfused = {
  merge_casts = false, fuse_softmax_cross_entropy = false, shrink_pool_gradient = false, fuse_epilogue = false,
  fuse_conv_pool = false, turn_filters = false, batch_casts = false, fuse_metrics = false, overlap_recorded = false,
  fuse_activation_gradient = false, fuse_bias_gradient = false, fuse_elementwise = false, fuse_batch_norm = false,
}
local ways = {
  { name = "eager", run_eagerly = true },
  { name = "graph without fusion", passes = unfused },
  { name = "eager without fusion", run_eagerly = true, passes = unfused },
}

local function train(device, name, way)
  return digit_losses.of(name, digit_losses.on(device), { optimizer = gb.optimizers.Adam { learning_rate = 0.001 },
    run_eagerly = way.run_eagerly, passes = way.passes })
end

local gpu = gb.devices()[1]
testing.case("a GPU comes first", function() testing.contains(gpu, "gpu:") end)

for name in (os.getenv "GPU_CHECK_MODELS" or "M1,M2,M3"):gmatch "[^,]+" do
  local reference
  testing.case(name .. ": learns in graph execution", function()
    reference = train(gpu, name, {})
    testing.equal(#reference, steps)
    testing.is_true(reference[steps] < 0.9 * reference[1], "a loss that falls")
  end)
  local function compare(label, losses)
    testing.equal(#losses, steps)
    local most = 0
    for step = 1, steps do
      local scale = math.max(reference[step], 0.1)
      most = math.max(most, math.abs(losses[step] - reference[step]) / scale)
      testing.near(losses[step] / scale, reference[step] / scale, tolerance)
    end
    print(string.format("%s: %s differs by %.2g at most", name, label, most))
  end
  for _, way in ipairs(ways) do
    testing.case(name .. ": " .. way.name, function() compare(way.name, train(gpu, name, way)) end)
  end
  testing.case(name .. ": as on the CPU", function() compare("cpu:0", train("cpu:0", name, {})) end)
end
