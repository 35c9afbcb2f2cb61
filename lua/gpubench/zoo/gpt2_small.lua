-- Radford, Wu, Child, Luan, Amodei, Sutskever: Language Models are Unsupervised Multitask Learners, 2019: the smallest
-- GPT-2. 124 439 808 parameters: the table of tokens also makes the logits.
local gb = require "gpubench.native"
local transformer = require "gpubench.zoo.transformer"

local dense, dropout = transformer.dense, transformer.dropout

local function norm(name) return gb.layers.LayerNormalization { epsilon = 1e-5, name = name } end

local function block(x, options, name)
  local y = transformer.attention(options, name .. "_attention", true)(norm(name .. "_norm1")(x))
  x = gb.layers.Add() { x, dropout(y, options) }
  y = dense(4 * options.width, name .. "_expand", "gelu_tanh")(norm(name .. "_norm2")(x))
  y = dense(options.width, name .. "_project")(y)
  return gb.layers.Add() { x, dropout(y, options) }
end

return {
  defaults = { vocabulary = 50257, context = 1024, length = 0, width = 768, depth = 12, heads = 12, dropout = 0.1,
    attention_dropout = 0.0 },
  build = function(options)
    local input = transformer.input("gpt2_small", options)
    local tokens = transformer.tokens(options)
    local x = dropout(transformer.positions(options.context)(tokens(input)), options)
    for i = 1, options.depth do x = block(x, options, "block" .. i) end
    local logits = tokens(norm "norm"(x), { reverse = true })
    return gb.Model { inputs = input, outputs = logits, name = "gpt2_small" }
  end,
}
