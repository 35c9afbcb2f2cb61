-- Allal et al.: SmolLM2: When Smol Goes Big, 2025: the smallest of them, 134 515 008 parameters: the table of tokens
-- also makes the logits. TinyLlama (Zhang, Zeng, Wang, Lu, 2024), 1 100 048 384 parameters, is this with a vocabulary
-- of 32000, a context of 2048, a width of 2048, a hidden of 5632, a depth of 22, 32 heads, 4 key_value_heads, a
-- rope_max_wavelength of 10000, and tied = false.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local llama = require "gpubench.zoo.llama"
local transformer = require "gpubench.zoo.transformer"

local function check_options(options)
  if options.heads % options.key_value_heads ~= 0 then
    check.fail("gb.zoo.llama_small: 'key_value_heads' must divide 'heads', got %d and %d", options.key_value_heads,
      options.heads)
  end
  if options.width // options.heads % 2 ~= 0 then
    check.fail("gb.zoo.llama_small: pairs of a head's channels are turned: 'width' / 'heads' must be even, got %d / %d",
      options.width, options.heads)
  end
end

return {
  defaults = { vocabulary = 49152, context = 8192, length = 0, width = 576, hidden = 1536, depth = 30, heads = 9,
    key_value_heads = 3, rope_max_wavelength = 100000.0, tied = true },
  build = function(options)
    local input = transformer.input("llama_small", options)
    check_options(options)
    local layers = llama.layers(options)
    local hidden = llama.hidden(layers, input, function(i, ...)
      return gb.layers.Lambda(function(projections)
        local query = projections[1]
        local q, k, v = llama.heads(options, gb.arange(query.shape[2]), table.unpack(projections))
        return gb.dot_product_attention(q, k, v, { is_causal = true }):reshape { -1, query.shape[2], query.shape[3] }
      end, { name = "block" .. i .. "_attention" }) { ... }
    end)
    local model = gb.Model { inputs = input, outputs = layers.logits(hidden), name = "llama_small" }
    llama.nets[model] = { layers = layers, options = options }
    return model
  end,
}
