-- What the transformers of the zoo share.
local gb = require "gpubench.native"
local check = require "gpubench.check"

local transformer = {}

function transformer.check_heads(name, options)
  if options.width % options.heads ~= 0 then
    check.fail("gb.zoo.%s: 'heads' must divide 'width', got %d heads and a width of %d", name, options.heads,
      options.width)
  end
end

-- Input of tokens for these options, after a check of them.
function transformer.input(name, options)
  transformer.check_heads(name, options)
  if options.length > options.context then
    check.fail("gb.zoo.%s: a 'length' of %d is beyond the 'context' of %d", name, options.length, options.context)
  end
  return gb.Input({ options.length > 0 and options.length or options.context }, { dtype = "int32" })
end

function transformer.initializer() return gb.initializers.RandomNormal { stddev = 0.02 } end

-- The table of tokens, which in reverse makes logits.
function transformer.tokens(options)
  return gb.layers.ReversibleEmbedding(options.vocabulary, options.width, {
    embeddings_initializer = transformer.initializer(), name = "tokens",
  })
end

-- Adds a learned vector for each position to [time, channels].
function transformer.positions(context)
  return gb.layers.custom {
    name = "positions",
    build = function(self, shape)
      self.table = self:add_weight {
        name = "embeddings", shape = { context, shape[#shape] }, initializer = transformer.initializer(),
      }
    end,
    call = function(self, x) return x + self.table[{ 1, x.shape[2] }] end,
  }
end

-- The vector of the first position of [time, channels].
function transformer.first_token(x) return x:gather(gb.tensor({ 0 }, { dtype = "int64" }), 1):squeeze(1) end

function transformer.dense(units, name, activation)
  return gb.layers.Dense(units,
    { activation = activation, kernel_initializer = transformer.initializer(), name = name })
end

function transformer.attention(options, name, causal)
  return gb.layers.MultiHeadAttention(options.heads, options.width // options.heads, {
    dropout = options.attention_dropout, use_causal_mask = causal, kernel_initializer = transformer.initializer(),
    name = name,
  })
end

function transformer.dropout(x, options)
  return options.dropout > 0 and gb.layers.Dropout(options.dropout)(x) or x
end

return transformer
