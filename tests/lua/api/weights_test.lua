-- Model:load_weights with a map of names; what a map does to tensors is in
-- tests/core/train/compress/mapped_weights_test.cpp.
local gb = require "gpubench"
local testing = require "testing"

local path = gb._native.options.out .. "/results/weights.safetensors"

local function model(name)
  return gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 }, name = name }),
    gb.layers.Dense(2, { name = name .. "2" }) }
end

local function weights(of)
  local all = {}
  for i, weight in ipairs(of:get_weights()) do all[i] = weight:to_table() end
  return all
end

local saved = model "fc"
saved:save_weights(path)

testing.case("tables and functions give names", function()
  local other = model "dense"
  other:load_weights { path, names = function(weight) return (weight:gsub("dense", "fc")) end }
  testing.equal(weights(other), weights(saved))
  local third = model "fc"
  third:load_weights { path, names = { ["fc/kernel"] = "fc/kernel" } }
  testing.equal(weights(third), weights(saved))
  third:load_weights { path, names = { ["fc2/bias"] = { "fc2/bias", "fc/bias" }, ["fc2/kernel"] = { "fc2/kernel" } } }
  testing.equal(weights(third), weights(saved))
end)

testing.case("bad maps are errors that change nothing", function()
  local before = weights(saved)
  local function refused(message, options) testing.raises(message, saved.load_weights, saved, options) end
  refused("one file is expected, got 0", {})
  refused("string or table of options expected, got number", 3)
  refused("`names` has 'nope', and model 'sequential' has no weight of that name; it has fc/kernel to fc2/bias",
    { path, names = { nope = "x" } })
  refused("weight 'fc/kernel': part 3 of 2; parts are 1 to 2",
    { path, names = { ["fc/kernel"] = { "a", part = 3, of = 2 } } })
  refused("mine", { path, names = function() error "mine" end })
  refused("result #1 of the function: string or table of options expected, got number",
    { path, names = function() return 3 end })
  refused("fc/kernel (the map gives no tensor)", { path, names = function() end })
  refused("fc/bias (as 'other')", { path, names = { ["fc/bias"] = "other" } })
  refused("unknown layout 'x' (known: keras, torch)", { path, layout = "x" })
  refused("none: cannot be opened", { "none" })
  refused("tensor 'fc/kernel' is float32[3, 2], here float32[2, 3]; weight 'fc/kernel' of model "
    .. "'sequential' is float32[3, 2]",
    { path, layout = "torch" })
  testing.equal(weights(saved), before)
end)
