-- The models of the comparison trained on the digits, on the GPU and on the CPU with the same seeds: the same accuracy
-- on digits that were not trained on, in mixed precision too. GPU_CHECK_MODELS and GPU_CHECK_EXAMPLES shorten it.
local gb = require "gpubench"
local models = require "models"
local testing = require "testing"

local batch_size = 32
local enough = 40000  -- 5 epochs of the sample, less than one of all digits
local examples = math.tointeger(os.getenv "GPU_CHECK_EXAMPLES" or tostring(enough))
-- Of 2000 digits 19 in 20 are right by every model: the difference of two such shares strays by 0.7 % where they are
-- independent, and these are not.
local tolerance = 0.015
local at_least = { M1 = 0.93, M2 = 0.93, M3 = 0.95 }

local function accuracy(device, name, policy)
  gb.config.set_seed(5)
  return gb.device(device, function()
    gb.config.set_dtype_policy(policy)
    local model = models.build(name)
    gb.config.set_dtype_policy "float32"
    local train = gb.datasets.mnist("train"):shuffle(10000, { seed = 5 }):repeated():take(examples):batch(batch_size)
    local start = os.time()
    model:fit(train:prefetch(gb.AUTOTUNE), { epochs = 1, verbose = 0 })
    local result = model:evaluate(gb.datasets.mnist("test"):batch(500))
    print(string.format("%s in %s on %s: accuracy %.4f, loss %.4f after %d examples, %d s", name, policy, device,
      result.accuracy, result.loss, examples, os.time() - start))
    return result.accuracy
  end)
end

local gpu = gb.devices()[1]
testing.case("a GPU comes first", function() testing.contains(gpu, "gpu:") end)
for name in (os.getenv "GPU_CHECK_MODELS" or "M1,M2,M3"):gmatch "[^,]+" do
  testing.case(name .. ": the GPU's accuracy is the CPU's", function()
    local on_cpu = accuracy("cpu:0", name, "float32")
    for _, policy in ipairs { "float32", "mixed_bfloat16", "mixed_float16" } do
      local on_gpu = accuracy(gpu, name, policy)
      testing.near(on_gpu, on_cpu, tolerance)
      if examples >= enough then testing.is_true(on_gpu >= at_least[name], "an accuracy of " .. at_least[name]) end
    end
  end)
end
