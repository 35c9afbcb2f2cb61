-- Configurations without a cause: the accelerator computes nearly all of the time, at the rate that it has.
local gb = require "gpubench"
local made = require "made"

local list = {}

local function add(name, changes, shape, options)
  list[#list + 1] = {
    name = name,
    run = function(_, pick)
      local all = { float32_flops_per_s = made.rate_for(shape,
        (options and options.seconds or made.step_s) * pick(0.9, 1.1)) }
      if options and options.policy then
        all.float16_flops_per_s = all.float32_flops_per_s
        all.float32_flops_per_s = all.float16_flops_per_s / 4
      end
      for key, value in pairs(changes) do all[key] = value end
      made.accelerator(all)
      if options and options.policy then gb.config.set_dtype_policy(options.policy) end
      local replicas = options and options.replicas
      if replicas then
        local devices = {}
        for index = 1, replicas do devices[index] = "emulated:custom:" .. index - 1 end
        local strategy = gb.distribute.MirroredStrategy { devices = devices }
        local model = strategy:scope(function() return made.model(shape) end)
        local whole = { batch = (shape.batch or 512) * replicas, features = shape.features }
        return made.train(model, made.batches(whole), { resident = true })
      end
      return made.on(0, function()
        return made.train(made.model(shape), made.batches(shape), { resident = not (options and options.copies) })
      end)
    end,
  }
end

for _, width in ipairs { 512, 1024, 2048 } do
  for _, depth in ipairs { 2, 4, 8 } do
    add(string.format("%d layers of %d", depth, width), {}, { width = width, depth = depth })
  end
end
for _, optimizer in ipairs { "adam", "rmsprop" } do
  add("the optimizer " .. optimizer, {}, { optimizer = optimizer })
end
for _, batch in ipairs { 128, 2048 } do
  add("a batch of " .. batch, {}, { batch = batch })
end
add("16 bits, aligned", {}, {}, { policy = "mixed_bfloat16" })
add("16 bits, aligned, wider", {}, { width = 2048 }, { policy = "mixed_bfloat16" })
add("batches that are copied under the step", { pinned_bytes_per_s = 3e8, pageable_bytes_per_s = 3e8 }, {},
  { copies = true })
add("two replicas with a fast link", {}, { batch = 256 }, { replicas = 2 })
add("four replicas with a fast link", {}, { batch = 256 }, { replicas = 4, seconds = 1.25 * made.step_s })
add("slow launches that a graph hides", { launch_s = 50e-6 }, {})
add("a long step", {}, {}, { seconds = 2.5 * made.step_s })

return list
