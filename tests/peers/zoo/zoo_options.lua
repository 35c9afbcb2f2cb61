-- Options of a net from the environment, and random batches for it.
local gb = require "gpubench"

local zoo_options = {}

-- "width=8;input_shape=32,32,3;model_type=small"
function zoo_options.parse(text)
  local options = {}
  for name, words in text:gmatch "([%w_]+)=([%w_,]+)" do
    local parts = {}
    for word in words:gmatch "[%w_]+" do parts[#parts + 1] = math.tointeger(word) or word end
    options[name] = #parts == 1 and parts[1] or parts
  end
  return options
end

local vocabularies = { bert_small = 30522, gpt2_small = 50257, lstm_text = 20000, llama_small = 49152 }

-- One batch in memory, `count` times an epoch: the same for every step, as the peers have it.
function zoo_options.batches(name, batch, options, count)
  local x, y
  local function whole(shape, below) return (gb.random.uniform(shape, { seed = 1 }) * below):cast "int64" end
  if options.input_shape then
    local shape = options.input_shape
    x = gb.random.uniform({ batch, shape[1], shape[2], shape[3] }, { seed = 2 })
    if name == "unet" then
      y = whole({ batch, shape[1], shape[2] }, options.classes or 2)
    else
      y = whole({ batch }, options.classes or 1000)
    end
  else
    local vocabulary = options.vocabulary or vocabularies[name]
    x = whole({ batch, options.length }, vocabulary):cast "int32"
    if name == "gpt2_small" or name == "llama_small" then
      y = whole({ batch, options.length }, vocabulary)
    else
      y = whole(name == "lstm_text" and { batch, 1 } or { batch }, 2)
    end
    if name == "lstm_text" then y = y:cast "float32" end
  end
  return gb.data.Dataset.from_tensors({ x, y }):repeated(count)
end

return zoo_options
