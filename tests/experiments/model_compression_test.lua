-- The experiment on smaller models: every method gives a model of the size that it says, and its claims are refuted
-- where they are wrong.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

gb._native.keep_configuration()

local declaration = experiments.of "model_compression"
local device = gb.devices()[1]

testing.case("every method gives a model of its size", function()
  local function parameters(width) return 784 * width + width + width * width + width + width * 10 + 10 end
  local large, small = parameters(512), parameters(128)
  -- In int8: a scale for each unit, and one for what each layer is given.
  local scales = 512 + 512 + 10 + 3
  local expected = {
    original = large, pruned = large, shrunk = small, distilled = small, small = small,
    int8 = large + scales, int8_aware = large + scales,
  }
  local kernels = 784 * 512 + 512 * 512 + 512 * 10
  for _, method in ipairs(declaration.axes[2].values) do
    local row = experiments.row_of(declaration, { device = device, method = method })
    testing.equal(row.status .. (row.detail or ""), "ok")
    local is_int8 = method:find("int8", 1, true) ~= nil
    testing.equal(row.precision, is_int8 and "int8" or "float32")
    testing.equal({ row.parameters, row.weights_bytes },
      { expected[method], 4 * expected[method] - (is_int8 and 3 * kernels or 0) })
    -- All kernels but the last are pruned, and biases are not.
    local pruned = 0.8 * (784 * 512 + 512 * 512) / large
    if is_int8 then
      testing.is_true(row.zero_share < 0.25, "what is below half a step is zero in int8")
    else
      testing.near(row.zero_share, method == "pruned" and pruned or 0, 0.01)
    end
    testing.near(row.nonzero_bytes, row.weights_bytes * (1 - row.zero_share), 1)
    testing.is_true(row.test_accuracy > 0.5, "accuracy")
  end
end)

-- What the claims say of figures as they should be, but for one.
local function judged(method, column, value)
  local rows = {}
  for _, one in ipairs(declaration.axes[2].values) do
    local is_large = one == "original" or one == "pruned"
    local row = {
      status = "ok", quality = "ok", device = device, method = one, test_accuracy = 0.95,
      weights_bytes = is_large and 100 or one:find("int8", 1, true) and 25 or 18, latency_s = is_large and 2 or 1,
    }
    if one == method then row[column] = value end
    rows[#rows + 1] = row
  end
  return experiments.verdicts(declaration, rows)
end

testing.case("the answer has memory, speed and accuracy, and says which of them is open", function()
  local rows = {}
  for index, method in ipairs { "original", "shrunk", "int8" } do
    local accuracy = 0.95 - 0.01 * (index - 1)
    rows[index] = {
      status = "ok", quality = "ok", device = device, method = method,
      weights_bytes = 100 // (index == 2 and 5 or index),
      latency_s = 2 / index, latency_low_s = 2 / index, latency_high_s = 2 / index,
      test_accuracy = accuracy, test_accuracy_low = accuracy, test_accuracy_high = accuracy,
    }
  end
  testing.equal(declaration.answer(rows), {
    "Take three quarters of the units out and train on: the weights take 80 % less memory, answers come 2 times [2, 2] "
      .. "as fast, and the accuracy is 94 % [94, 94], instead of 95 %",
    "Or compute in int8: the weights take 67 % less memory, answers come 3 times [3, 3] as fast, and the accuracy is "
      .. "93 % [93, 93]",
  })
  rows[2].quality = "unreliable: noise"
  testing.contains(declaration.answer(rows)[1],
    "less memory, how much sooner answers come is open here, and the accuracy is 94 %")
  testing.equal(declaration.answer { rows[1] }, nil)
end)

testing.case("the claims hold where they are true and nowhere else", function()
  testing.equal(judged(), experiments.repeated("confirmed", #declaration.expect))
  local wrong = {
    { "pruned", "test_accuracy", 0.5 }, { "pruned", "latency_s", 0.5 }, { "shrunk", "weights_bytes", 90 },
    { "shrunk", "latency_s", 3 }, { "shrunk", "test_accuracy", 0.5 }, { "distilled", "test_accuracy", 0.5 },
    { "int8", "weights_bytes", 50 }, { "int8", "latency_s", 3 }, { "int8", "test_accuracy", 0.5 },
    { "int8_aware", "test_accuracy", 0.5 },
  }
  testing.equal(#wrong, #declaration.expect)
  for index, change in ipairs(wrong) do
    for claim, verdict in ipairs(judged(table.unpack(change))) do
      testing.equal(verdict, claim == index and "refuted" or "confirmed")
    end
  end
end)
