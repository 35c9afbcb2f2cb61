-- Dosovitskiy, Beyer, Kolesnikov, Weissenborn, Zhai, Unterthiner, Dehghani, Minderer, Heigold, Gelly, Uszkoreit,
-- Houlsby: An Image is Worth 16x16 Words, 2020: the base net on patches of 16, as in torchvision.
-- 86 567 656 parameters.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local transformer = require "gpubench.zoo.transformer"

local dense, dropout = transformer.dense, transformer.dropout

local function norm(name) return gb.layers.LayerNormalization { epsilon = 1e-6, name = name } end

local function block(x, options, name)
  local y = transformer.attention(options, name .. "_attention")(norm(name .. "_norm1")(x))
  x = gb.layers.Add() { x, dropout(y, options) }
  y = dropout(dense(4 * options.width, name .. "_expand", "gelu")(norm(name .. "_norm2")(x)), options)
  return gb.layers.Add() { x, dropout(dense(options.width, name .. "_project")(y), options) }
end

-- A learned vector before those of the patches.
local function class_token()
  return gb.layers.custom {
    name = "class_token",
    build = function(self, shape)
      self.token = self:add_weight { name = "token", shape = { 1, 1, shape[#shape] }, initializer = "zeros" }
    end,
    call = function(self, x)
      return gb.concat({ self.token:broadcast_to { x.shape[1], 1, x.shape[3] }, x }, 1)
    end,
  }
end

return {
  defaults = { input_shape = { 224, 224, 3 }, classes = 1000, patch = 16, width = 768, depth = 12, heads = 12,
    dropout = 0.1, attention_dropout = 0.0 },
  build = function(options)
    transformer.check_heads("vit_b16", options)
    local input, patch = gb.Input(options.input_shape), options.patch
    local height, width = input.shape[1], input.shape[2]
    if height % patch ~= 0 or width % patch ~= 0 then
      check.fail("gb.zoo.vit_b16: 'patch' must divide both sides of an image, got %d and an image of %d x %d", patch,
        height, width)
    end
    local x = gb.layers.Conv2D(options.width, patch, { strides = patch, name = "patches" })(input)
    local patches = height // patch * (width // patch)
    x = class_token()(gb.layers.Reshape { patches, options.width }(x))
    x = dropout(transformer.positions(patches + 1)(x), options)
    for i = 1, options.depth do x = block(x, options, "block" .. i) end
    x = gb.layers.Lambda(transformer.first_token, { name = "first_token" })(norm "norm"(x))
    local logits = gb.layers.Dense(options.classes, { name = "classes", dtype = "float32" })(x)
    return gb.Model { inputs = input, outputs = logits, name = "vit_b16" }
  end,
}
