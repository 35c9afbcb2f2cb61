-- Configurations with a cause. Each is { finding, name, run = function(has_cause, pick) -> row }: the same step with
-- its cause and without; pick(low, high) draws a number from the seed, and the same ones for both. `cpu`: not on an
-- emulated device.
local gb = require "gpubench"
local made = require "made"

local list = {}

local function add(finding, name, run, options)
  list[#list + 1] = { finding = finding, name = name, run = run, cpu = options and options.cpu }
end

-- Input: the batch takes longer to make than the step.
for _, of in ipairs { { "little", 1.3 }, { "half", 1.6 }, { "more", 1.8 } } do
  local name, share = of[1], of[2]
  add("input_bound", "a generator in Lua, " .. name, function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    local shape = { batch = 64, width = 512 }
    made.accelerator { float32_flops_per_s = made.rate_for(shape, seconds) }
    return made.on(0, function()
      local zeros, answer = gb.device("cpu:0", function() return gb.zeros { 64, 1024 } end),
        gb.device("cpu:0", function() return gb.zeros { 64, 1 } end)
      local dataset = gb.data.Dataset.from_generator(function()
        return function()
          if has_cause then made.spend(share * seconds) end
          return zeros, answer
        end
      end, { types = { "float32[64,1024]", "float32[64,1]" } })
      return made.train(made.model(shape), dataset)
    end)
  end)
end

-- Launches, long ones, because a busy machine makes each a little longer: an eager step of many small kernels; without
-- the cause they are as many, in a graph.
local unfused = {
  fuse_epilogue = false, fuse_activation_gradient = false, fuse_accumulation = false, fuse_bias_gradient = false,
  fuse_elementwise = false,
}
for _, of in ipairs { { "little work", 1.05e-3 }, { "some work", 1.13e-3 }, { "more work", 1.2e-3 } } do
  local name, kernel_s = of[1], of[2]
  add("launch_bound", "eager kernels with " .. name, function(has_cause, pick)
    made.accelerator { launch_s = 1.5e-3 * pick(0.97, 1.1), kernel_s = kernel_s, float32_flops_per_s = 1e13 }
    local shape = { batch = 32, width = 64, features = 64, depth = 4, execution = has_cause and "eager" or "graph",
      passes = not has_cause and unfused or nil }
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
  end)
end
add("launch_bound", "a batch too small for its launches", function(has_cause, pick)
  made.accelerator { launch_s = 1.5e-3 * pick(0.97, 1.1), kernel_s = 0.63e-3 }
  local shape = { batch = has_cause and 64 or 128, width = 256, features = 256, depth = 2, execution = "eager" }
  return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
end)

-- The host: Lua in every step, after a wait for its result.
for _, of in ipairs { { "little", 0.3 }, { "half", 0.6 }, { "much", 0.85 } } do
  local name, share = of[1], of[2]
  add("host_bound", "Lua between the steps, " .. name, function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    made.accelerator { float32_flops_per_s = 8 * 2 * 512 ^ 3 / seconds }
    return made.on(0, function()
      local w = gb.Variable(gb.zeros { 512, 512 })
      local step = gb.compile(function(x)
        local y = x
        for _ = 1, 8 do y = y:matmul(w) end
        return y:sum()
      end)
      local x = gb.zeros { 512, 512 }
      local ticks = gb.data.Dataset.from_tensor_slices(gb.device("cpu:0",
        function() return gb.zeros { 4 } end)):batch(1)
      return gb.measure.loop(function()
        local loss = step(x)
        if has_cause then
          loss:item()
          made.spend(share * seconds)
        end
        return loss
      end, ticks, { budget = made.budget })
    end)
  end)
end

-- Copies of batches through a slow link, which nothing hides.
for _, of in ipairs { { "a quarter", 0.25 }, { "half", 0.6 }, { "all", 1.1 } } do
  local name, share = of[1], of[2]
  add("copy_bound", "one place for batches, " .. name .. " of the step", function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    local shape = { batch = 256, width = 1024, input_slots = has_cause and 1 or 2 }
    made.accelerator {
      float32_flops_per_s = made.rate_for(shape, seconds),
      pinned_bytes_per_s = made.input_bytes(shape) / (share * seconds),
      pageable_bytes_per_s = made.input_bytes(shape) / (share * seconds),
    }
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape)) end)
  end)
end
add("copy_bound", "a link slower than the step", function(has_cause, pick)
  local seconds = made.step_s
  local shape = { batch = 256, width = 1024 }
  made.accelerator {
    float32_flops_per_s = made.rate_for(shape, seconds),
    pinned_bytes_per_s = made.input_bytes(shape) / (seconds * pick(1.4, 2)),
    pageable_bytes_per_s = made.input_bytes(shape) / (seconds * pick(1.4, 2)),
  }
  return made.on(0, function()
    return made.train(made.model(shape), made.batches(shape), { resident = not has_cause })
  end)
end)

-- Layers on another device than their neighbours.
local function crossing(name, elsewhere, share)
  add("placement_crossings", name, function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    local shape = { batch = 512, width = 1024, depth = 6 }
    local rate = 4 * made.input_bytes(shape) / (share * seconds)
    made.accelerator {
      float32_flops_per_s = made.rate_for(shape, seconds), pinned_bytes_per_s = rate, pageable_bytes_per_s = rate,
      peer_bytes_per_s = rate,
    }
    if has_cause then
      shape.place = function(index, layer) return index == 3 and gb.device(elsewhere, layer) or layer() end
    end
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
  end)
end
crossing("a layer on a neighbour behind a slow link", "emulated:custom:1", 0.3)
crossing("a layer on a neighbour behind a slower link", "emulated:custom:1", 0.6)
crossing("a layer on a neighbour behind a very slow link", "emulated:custom:1", 0.95)

-- Exchanges of gradients that take longer than what hides them.
for _, options in ipairs {
  { name = "two", replicas = 2, share = 0.7 }, { name = "two, slower", replicas = 2, share = 1.2 },
  { name = "four", replicas = 4, share = 0.8 }, { name = "four, slower", replicas = 4, share = 1.3 },
} do
  local name = options.name
  add("communication_bound", "a slow link between replicas: " .. name, function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    local shape = { batch = 128, width = 1024, depth = 4 }
    local bytes = 4 * (1024 * 1024 * 4)
    local exchange = 2 * (options.replicas - 1) / options.replicas * bytes
    made.accelerator {
      float32_flops_per_s = made.rate_for(shape, seconds),
      peer_bytes_per_s = has_cause and exchange / (options.share * seconds) or 1e13,
    }
    local devices = {}
    for index = 1, options.replicas do devices[index] = "emulated:custom:" .. index - 1 end
    local strategy = gb.distribute.MirroredStrategy { devices = devices }
    local model = strategy:scope(function() return made.model(shape) end)
    shape.batch = shape.batch * options.replicas
    return made.train(model, made.batches(shape), { resident = true })
  end)
end

-- Replicas that are late.
for _, of in ipairs { { "a little more", 1.5 }, { "twice as much", 2 }, { "three times as much", 3 },
    { "four times as much", 4 } } do
  local name, first = of[1], of[2]
  add("uneven_replicas", "one replica gets " .. name, function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    local shape = { batch = 256, width = 1024 }
    made.accelerator { float32_flops_per_s = made.rate_for(shape, seconds) }
    local strategy = gb.distribute.MirroredStrategy {
      devices = { "emulated:custom:0", "emulated:custom:1" }, shares = has_cause and { first, 1 } or nil,
    }
    local model = strategy:scope(function() return made.model(shape) end)
    shape.batch = 2 * shape.batch
    return made.train(model, made.batches(shape), { resident = true })
  end)
end
-- Activations that wait in the host's memory behind a slow link.
for _, of in ipairs { { "a little", 1.3 }, { "more", 2 }, { "much", 2.6 } } do
  local name, share = of[1], of[2]
  add("memory_limit", "offloaded activations cost " .. name, function(has_cause, pick)
    local seconds = 1.25 * made.step_s * pick(0.95, 1.05)
    local shape = { batch = 1024, width = 1024, depth = 8, offload = has_cause or nil }
    local rate = 8 * made.input_bytes(shape) / (share * seconds / 2)
    made.accelerator {
      float32_flops_per_s = made.rate_for(shape, seconds), pinned_bytes_per_s = rate, pageable_bytes_per_s = rate,
    }
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
  end)
end

-- Arithmetic in float32 where 16 bits are faster.
for _, factor in ipairs { 1.35, 1.6, 2, 2.3 } do
  local name = factor .. " times as fast"
  add("precision_unused", "16 bits are " .. name, function(has_cause, pick)
    local seconds = made.step_s * pick(0.95, 1.05)
    local shape = { batch = 512, width = 1024 }
    local rate = made.rate_for(shape, seconds)
    made.accelerator { float32_flops_per_s = rate, float16_flops_per_s = factor * rate }
    if not has_cause then gb.config.set_dtype_policy "mixed_bfloat16" end
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
  end)
end

-- Widths that tensor cores do not take.
for _, width in ipairs { 1004, 1006, 1010, 1012 } do
  add("unaligned_sizes", "a width of " .. width, function(has_cause, pick)
    local shape = { batch = 512, width = has_cause and width or (width + 7) // 8 * 8, features = 1024 }
    made.accelerator { float16_flops_per_s = 4e11 * pick(0.9, 1.1), float32_flops_per_s = 2e11 }
    gb.config.set_dtype_policy "mixed_bfloat16"
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
  end)
end

-- Kernels that only move bytes, and could be one.
for _, count in ipairs { 2, 3, 4, 5 } do
  add("bandwidth_bound", 2 * count .. " functions after each layer, not fused", function(has_cause, pick)
    made.accelerator { memory_bytes_per_s = 3e10 * pick(0.95, 1.05), float32_flops_per_s = 2e12 }
    local shape = {
      batch = 4096, width = 512, features = 512, depth = 3, passes = has_cause and { fuse_elementwise = false } or nil,
      between = function(layers)
        for _ = 1, count do
          layers[#layers + 1] = gb.layers.Activation("sigmoid")
          layers[#layers + 1] = gb.layers.Activation("tanh")
        end
      end,
    }
    return made.on(0, function() return made.train(made.model(shape), made.batches(shape), { resident = true }) end)
  end)
end

-- On the CPU, whose speed is unknown: the cause takes a share of the step as it is without it.
add("input_bound", "a generator in Lua, on the CPU", function(has_cause, pick)
  gb._native.reset_devices()
  local shape = { batch = 64, width = 256, features = 256 }
  local zeros, answer = gb.zeros { 64, 256 }, gb.zeros { 64, 1 }
  local function train(seconds)
    local dataset = gb.data.Dataset.from_generator(function()
      return function()
        if seconds > 0 then made.spend(seconds) end
        return zeros, answer
      end
    end, { types = { "float32[64,256]", "float32[64,1]" } })
    return made.train(made.model(shape), dataset)
  end
  local row = train(0)
  return has_cause and train(pick(0.6, 0.9) * shape.batch / row.examples_per_s) or row
end, { cpu = true })
add("host_bound", "Lua between the steps, on the CPU", function(has_cause, pick)
  gb._native.reset_devices()
  local w = gb.Variable(gb.zeros { 256, 256 })
  local step = gb.compile(function(x) return x:matmul(w):matmul(w):sum() end)
  local x = gb.zeros { 256, 256 }
  local ticks = gb.data.Dataset.from_tensor_slices(gb.zeros { 4 }):batch(1)
  local function run(seconds)
    return gb.measure.loop(function()
      if seconds > 0 then made.spend(seconds) end
      return step(x)
    end, ticks, { budget = made.budget })
  end
  local row = run(0)
  return has_cause and run(pick(0.6, 0.9) / row.examples_per_s) or row  -- an example a step
end, { cpu = true })

return list
