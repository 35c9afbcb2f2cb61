-- Names of weights: what torchvision, the published GPT-2 and Llama, keras.applications and torch_nets.py call the
-- weights of the nets of gb.zoo.
local names = {}

local of_normalization = { gamma = "weight", beta = "bias", moving_mean = "running_mean",
  moving_variance = "running_var" }

function names.resnet(weight)
  local layer, part = weight:match "^(.+)/([%w_]+)$"
  if layer == "classes" then return part == "kernel" and "fc.weight" or "fc.bias" end
  local leaf = of_normalization[part] or "weight"
  local stage, block, rest = layer:match "^stage(%d)_block(%d+)_(.+)$"
  if not stage then return (layer == "conv1_bn" and "bn1." or "conv1.") .. leaf end
  local prefix = string.format("layer%d.%d.", stage, block - 1)
  if rest:find "^shortcut" then
    return prefix .. (rest == "shortcut_bn" and "downsample.1." or "downsample.0.") .. leaf
  end
  return prefix .. (rest:find "_bn$" and "bn" or "conv") .. rest:match "conv(%d)" .. "." .. leaf
end

-- GPT-2's products are stored as [in, out]: layout "keras".
function names.gpt2_small(weight)
  local layer, part = weight:match "^([%w_]+)/(.+)$"
  if layer == "tokens" then return "wte.weight" end
  if layer == "positions" then return "wpe.weight" end
  local normal = { gamma = "weight", beta = "bias" }
  if layer == "norm" then return "ln_f." .. normal[part] end
  local number, rest = layer:match "^block(%d+)_(.+)$"
  local prefix = string.format("h.%d.", number - 1)
  if rest:find "^norm" then return prefix .. "ln_" .. rest:sub(-1) .. "." .. normal[part] end
  local leaf = part:find "kernel$" and ".weight" or ".bias"
  if rest == "expand" then return prefix .. "mlp.c_fc" .. leaf end
  if rest == "project" then return prefix .. "mlp.c_proj" .. leaf end
  local projection = part:match "^[%w_]+"
  if projection == "attention_output" then return prefix .. "attn.c_proj" .. leaf end
  local place = { query = 1, key = 2, value = 3 }
  return { prefix .. "attn.c_attn" .. leaf, part = place[projection], of = 3 }
end

function names.bert_small(weight)
  local layer, part = weight:match "^([%w_]+)/(.+)$"
  if part == "embeddings" then return layer .. ".weight" end
  local leaf = (part:find "kernel$" or part == "gamma") and ".weight" or ".bias"
  local number, rest = layer:match "^block(%d+)_(.+)$"
  if not number then return layer .. leaf end
  local prefix = string.format("blocks.%d.", number - 1)
  if rest ~= "attention" then return prefix .. rest .. leaf end
  local projection = part:match "^[%w_]+"
  return prefix .. (projection == "attention_output" and "output" or projection) .. leaf
end

-- Of the Llama of Hugging Face's transformers.
function names.llama_small(weight)
  local layer = weight:match "^([%w_]+)/"
  local number, rest = layer:match "^block(%d+)_(.+)$"
  if not number then
    return ({ tokens = "model.embed_tokens", norm = "model.norm", logits = "lm_head" })[layer] .. ".weight"
  end
  return string.format("model.layers.%d.%s.weight", number - 1, ({
    norm1 = "input_layernorm", norm2 = "post_attention_layernorm", query = "self_attn.q_proj",
    key = "self_attn.k_proj", value = "self_attn.v_proj", output = "self_attn.o_proj", gate = "mlp.gate_proj",
    up = "mlp.up_proj", down = "mlp.down_proj",
  })[rest])
end

function names.lstm_text(weight)
  local layer, part = weight:match "^([%w_]+)/(.+)$"
  if layer == "tokens" then return "tokens.weight" end
  if layer == "classes" then return part == "kernel" and "classes.weight" or "classes.bias" end
  local prefix = layer == "bidirectional1" and "first." or "second."
  local back = part:find "^backward" and "_reverse" or ""
  if part:find "recurrent_kernel$" then return prefix .. "weight_hh_l0" .. back end
  if part:find "kernel$" then return prefix .. "weight_ih_l0" .. back end
  return { prefix .. "bias_ih_l0" .. back, prefix .. "bias_hh_l0" .. back }
end

function names.mobilenet_v2(weight)
  local layer, part = weight:match "^(.+)/([%w_]+)$"
  if layer == "classes" then return part == "kernel" and "classifier.1.weight" or "classifier.1.bias" end
  local leaf, bn = of_normalization[part] or "weight", layer:find "_bn$" ~= nil
  local stage, block, rest = layer:match "^stage(%d)_block(%d+)_(%w+)"
  if not stage then
    return string.format("features.%d.%d.%s", layer:find "^stem" and 0 or 18, bn and 1 or 0, leaf)
  end
  local blocks, place = { 1, 2, 3, 4, 3, 3, 1 }, block + 0
  for i = 1, stage - 1 do place = place + blocks[i] end
  local prefix = string.format("features.%d.conv.", place)
  local expands = stage ~= "1"
  if rest == "expand" then return prefix .. (bn and "0.1." or "0.0.") .. leaf end
  if rest == "depthwise" then return prefix .. (expands and "1." or "0.") .. (bn and "1." or "0.") .. leaf end
  return prefix .. (expands and (bn and "3." or "2.") or (bn and "2." or "1.")) .. leaf
end

function names.vit_b16(weight)
  local layer, part = weight:match "^([%w_]+)/(.+)$"
  if layer == "class_token" then return layer end
  if layer == "positions" then return "encoder.pos_embedding" end
  local leaf = (part:find "kernel$" or part == "gamma") and "weight" or "bias"
  local number, rest = layer:match "^block(%d+)_(.+)$"
  if not number then
    local outer = { patches = "conv_proj.", norm = "encoder.ln.", classes = "heads.head." }
    return outer[layer] .. leaf
  end
  local prefix = string.format("encoder.layers.encoder_layer_%d.", number - 1)
  if rest ~= "attention" then
    local inner = { norm1 = "ln_1.", norm2 = "ln_2.", expand = "mlp.0.", project = "mlp.3." }
    return prefix .. inner[rest] .. leaf
  end
  local place = ({ query = 1, key = 2, value = 3 })[part:match "^[%w_]+"]
  if not place then return prefix .. "self_attention.out_proj." .. leaf end
  return { prefix .. "self_attention.in_proj_" .. leaf, part = place, of = 3 }
end

function names.unet(weight)
  local layer, part = weight:match "^([%w_]+)/(.+)$"
  local leaf = part == "kernel" and ".weight" or ".bias"
  local way, level, number = layer:match "^(%l+)(%d+)_conv(%d)$"
  if way then return string.format("%s.%d.conv%s%s", way, level - 1, number, leaf) end
  level = layer:match "^up(%d+)$"
  return (level and string.format("larger.%d", level - 1) or layer) .. leaf
end

names.resnet18, names.resnet50 = names.resnet, names.resnet

-- Of Keras, in a process that makes no other net.
names.keras = {}

function names.keras.vgg16(weight) return (weight:gsub("^classes/", "predictions/")) end

function names.keras.mobilenet_v3(weight)
  local block, rest = weight:match "^block(%d+)_(.+)$"
  if not block then
    local outer = { stem = "conv", last = "conv_1", head = "conv_2", classes = "logits" }
    return (weight:gsub("^%l+", outer))
  end
  rest = rest:gsub("^squeeze", "squeeze_excite_conv"):gsub("^excite", "squeeze_excite_conv_1")
  return (block == "1" and "expanded_conv_" or string.format("expanded_conv_%d_", block - 1)) .. rest
end

function names.keras.lstm_text(weight)
  local layer, part = weight:match "^([%w_]+)/(.+)$"
  if layer == "tokens" then return "embedding/embeddings" end
  if layer == "classes" then return "dense/" .. part end
  local number = layer == "bidirectional2" and "_1" or ""
  local direction, leaf = part:match "^(%a+)_([%w_]+)$"
  return string.format("bidirectional%s/%s_lstm%s/lstm_cell/%s", number, direction, number, leaf)
end

return names
