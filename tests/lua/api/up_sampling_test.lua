-- Bilinear UpSampling2D against gb.image.resize, which has no gradient.
local gb = require "gpubench"
local testing = require "testing"

local function distance(a, b) return (a - b):abs():max():item() end

for _, case in ipairs { { 4, 5, { 2, 3 } }, { 1, 3, { 4, 2 } }, { 3, 1, { 1, 5 } }, { 2, 2, { 3, 1 } } } do
  local height, width, size = table.unpack(case)
  testing.case(string.format("%d x %d, %d x %d times as large", height, width, size[1], size[2]), function()
    local layer = gb.layers.UpSampling2D(size, { interpolation = "bilinear" })
    local x = gb.random.normal({ 2, height, width, 3 }, { seed = 1 })
    local target = { height * size[1], width * size[2] }
    testing.is_true(distance(layer(x), gb.image.resize(x, target)) < 1e-5, "the same as resize")
    local weights = gb.random.normal({ 2, target[1], target[2], 3 }, { seed = 2 })
    local tape <close> = gb.tape()
    local gradient = tape:gradient((layer(x) * weights):sum(), x)
    -- The layer is linear, so that a step of any length gives the derivative.
    local step = gb.random.normal({ 2, height, width, 3 }, { seed = 3 })
    local change = ((gb.image.resize(x + step, target) - gb.image.resize(x, target)) * weights):sum():item()
    testing.near((gradient * step):sum():item(), change, 1e-3)
  end)
end

testing.case("other interpolations are refused", function()
  testing.raises("UpSampling2D: interpolation must be 'nearest' or 'bilinear', got 'bicubic'", gb.layers.UpSampling2D, 2,
    { interpolation = "bicubic" })
end)
