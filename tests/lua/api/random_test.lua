-- Random numbers are drawn anew at each call of whatever was traced, and are the same again with the same seed.
local gb = require "gpubench"
local testing = require "testing"

gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })

local function values(tensor) return tensor:reshape { -1 }:to_table() end
local function differ(a, b)
  for k, value in ipairs(a) do
    if value ~= b[k] then return true end
  end
  return false
end
local images = gb.random.uniform({ 4, 6, 6, 1 }, { seed = 1 })
local draws = {
  normal = function() return gb.random.normal { 4 } end,
  uniform = function() return gb.random.uniform { 4 } end,
  seeded = function() return gb.random.normal({ 4 }, { seed = 3 }) end,
  flip = function() return gb.image.random_flip_left_right(images) end,
  brightness = function() return gb.image.random_brightness(images, 0.5) end,
  contrast = function() return gb.image.random_contrast(images, 0.2, 3.0) end,
  crop = function() return gb.image.random_crop(images, { 3, 3 }) end,
}

-- What two calls draw; again with the same seed.
local function check(name, make)
  local function drawn(seed)
    gb.config.set_seed(seed)
    local call = make()
    return { call(), call(), call() }
  end
  local once, again = drawn(7), drawn(7)
  if not (differ(once[1], once[2]) or differ(once[2], once[3])) then
    error(name .. " draws the same numbers in each call")
  end
  testing.equal(again, once, name)
end

for name, draw in pairs(draws) do
  testing.case(name .. " in a compiled function", function()
    check(name, function()
      local f = gb.compile(function(v) return draw() + v * 0 end)
      return function() return values(f(gb.ones {})) end
    end)
  end)
  testing.case(name .. " in the replicas of a strategy", function()
    check(name, function()
      local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
      local function step(v) return draw() + v * 0 end
      return function() return values(strategy:run(step, gb.ones {}).values[1]) end
    end)
  end)
  testing.case(name .. " in a layer's function, in training and in prediction", function()
    check(name, function()
      local layer = gb.layers.Lambda(function(v) return draw():sum() + v end)
      return function() return values(layer(gb.zeros { 1, 1 }, { training = true })) end
    end)
    check(name, function()
      local model = gb.Sequential { gb.layers.Input { 1 }, gb.layers.Lambda(function(v) return draw():sum() + v end) }
      model:compile { optimizer = "sgd", loss = "mse" }
      return function() return values(model:predict(gb.zeros { 1, 1 })) end
    end)
  end)
  testing.case(name .. " in a loss", function()
    check(name, function()
      local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 }, kernel_initializer = "zeros" }) }
      model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.0 },
        loss = function(labels, predictions) return (labels - predictions):square():mean() + draw():sum() end }
      local x, y = gb.ones { 1, 1 }, gb.ones { 1, 1 }
      return function() return { model:train_on_batch(x, y).loss } end
    end)
    check(name, function()
      local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 }, kernel_initializer = "zeros" }) }
      model:compile { optimizer = "sgd",
        loss = function(labels, predictions) return (labels - predictions):square():mean() + draw():sum() end }
      local x, y = gb.ones { 1, 1 }, gb.ones { 1, 1 }
      return function() return { model:evaluate(x, y).loss } end
    end)
  end)
end

testing.case("two draws of one call differ, and so do compiled functions", function()
  local f = gb.compile(function(v) return gb.random.normal { 4 } + v, gb.random.normal { 4 } + v end)
  local a, b = f(gb.zeros {})
  testing.is_true(differ(values(a), values(b)))
  local g = gb.compile(function(v) return gb.random.normal { 4 } + v end)
  testing.is_true(differ(values(a), values(g(gb.zeros {}))))
end)

testing.case("a tape finds the numbers that the forward pass drew", function()
  local function step(x)
    local tape <close> = gb.tape()
    local noise = gb.random.normal { 4 }
    local y = (x * noise):sum()
    return tape:gradient(y, x), noise * 1
  end
  local f = gb.compile(step)
  for _ = 1, 3 do
    local gradient, noise = f(gb.ones { 4 })
    testing.equal(values(gradient), values(noise))
  end
end)

testing.case("replicas draw other numbers", function()
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1" } }
  local drawn = strategy:run(function(v) return gb.random.normal { 4 } + v end, gb.zeros {}).values
  testing.is_true(differ(values(drawn[1]), values(drawn[2])))
end)

testing.case("a map draws by element, as before", function()
  local function drawn()
    local list = {}
    for v in gb.data.Dataset.range(3)
        :map(function(n) return gb.random.normal({}, { seed = 2 }) + n:cast "float32" * 0 end) do
      list[#list + 1] = v:item()
    end
    return list
  end
  local once = drawn()
  testing.equal(drawn(), once)
  testing.is_true(once[1] ~= once[2] and once[2] ~= once[3])
end)

testing.case("dropout that is called for training draws in prediction too", function()
  local input = gb.Input { 100 }
  local model = gb.Model { inputs = input, outputs = gb.layers.Dropout(0.5)(input, { training = true }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  local x = gb.ones { 1, 100 }
  local first, second = values(model:predict(x)), values(model:predict(x))
  local zeros = 0
  for _, value in ipairs(first) do zeros = zeros + (value == 0 and 1 or 0) end
  testing.is_true(zeros > 20 and zeros < 80, zeros .. " of 100 dropped")
  testing.is_true(differ(first, second))
  testing.is_true(differ(values(model(x)), values(model(x))))
end)
