-- Turc, Chang, Lee, Toutanova: Well-Read Students Learn Better, 2019: the encoder of 4 layers of 512 ("BERT-Small")
-- with its pooler, 28 763 648 parameters. With `classes`, logits of so many follow the pooler.
local gb = require "gpubench.native"
local transformer = require "gpubench.zoo.transformer"

local dense, dropout = transformer.dense, transformer.dropout

local function norm(name) return gb.layers.LayerNormalization { epsilon = 1e-12, name = name } end

local function block(x, options, name)
  local y = transformer.attention(options, name .. "_attention")(x)
  x = norm(name .. "_norm1")(gb.layers.Add() { x, dropout(y, options) })
  y = dense(options.width, name .. "_project")(dense(4 * options.width, name .. "_expand", "gelu")(x))
  return norm(name .. "_norm2")(gb.layers.Add() { x, dropout(y, options) })
end

-- All tokens are of the first of two segments, whose vectors are a part of the published net.
local function segments()
  return gb.layers.custom {
    name = "segments",
    build = function(self, shape)
      self.table = self:add_weight {
        name = "embeddings", shape = { 2, shape[#shape] }, initializer = transformer.initializer(),
      }
    end,
    call = function(self, x) return x + self.table[{ 1, 1 }] end,
  }
end

return {
  defaults = { vocabulary = 30522, context = 512, length = 0, width = 512, depth = 4, heads = 8, dropout = 0.1,
    attention_dropout = 0.0, classes = 0 },
  build = function(options)
    local input = transformer.input("bert_small", options)
    local x = gb.layers.Embedding(options.vocabulary, options.width, {
      embeddings_initializer = transformer.initializer(), name = "tokens",
    })(input)
    x = dropout(norm "norm"(segments()(transformer.positions(options.context)(x))), options)
    for i = 1, options.depth do x = block(x, options, "block" .. i) end
    x = gb.layers.Lambda(transformer.first_token, { name = "first_token" })(x)
    local y = dense(options.width, "pooler", "tanh")(x)
    if options.classes > 0 then y = dense(options.classes, "classes")(dropout(y, options)) end
    return gb.Model { inputs = input, outputs = y, name = "bert_small" }
  end,
}
