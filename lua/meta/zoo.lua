---@meta
-- Published nets, by default in their published sizes: `model:count_params { trainable = true }` is the published
-- number. Outputs are logits; losses have from_logits = true. Each net is 10 to 110 lines of Lua in lua/gpubench/zoo,
-- to copy and change.

---@class gpubench
local gb = {}

--- Published nets, in their published sizes unless told otherwise.
---@class gpubench.zoo
gb.zoo = {}

---@class ResNetOptions
---@field input_shape integer[]? of one image ({ 224, 224, 3 })
---@field classes integer? (1000)
---@field width integer? channels of the first stage (64); each further stage has twice as many
---@field blocks integer[]? of each stage ({ 2, 2, 2, 2 } of resnet18, { 3, 4, 6, 3 } of resnet50)

--- 11 689 512 parameters. As in torchvision: padding is symmetric, epsilon of the normalization is 1e-5.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.zoo.resnet18 { input_shape = { 28, 28, 1 }, classes = 10, width = 8 }
--- model:compile { optimizer = "adam", loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
--- local digits = gb.datasets.mnist("train", { flatten = false, one_hot = false })
--- model:fit(digits:batch(8), { steps_per_epoch = 2, verbose = 0 })
--- assert(#gb.zoo.resnet18().layers > 60)
--- ```
---@param options ResNetOptions?
---@return Model
function gb.zoo.resnet18(options) end

--- 25 557 032 parameters. Version 1.5: the stride of a block is in its 3 x 3 convolution, as in torchvision.
---@param options ResNetOptions?
---@return Model
function gb.zoo.resnet50(options) end

---@class VggOptions
---@field input_shape integer[]? of one image ({ 224, 224, 3 })
---@field classes integer? (1000)
---@field width integer? channels of the first stage (64); each further stage has twice as many, to 8 times
---@field units integer? of the two dense layers before the last (4096)
---@field blocks integer[]? convolutions of each stage ({ 2, 2, 3, 3, 3 }; { 2, 2, 4, 4, 4 } makes VGG-19)
---@field dropout number? behind these dense layers (0.5)

--- 138 357 544 parameters. Layers are named as in Keras, which has no dropout there.
---@param options VggOptions?
---@return Model
function gb.zoo.vgg16(options) end

---@class MobileNetOptions
---@field input_shape integer[]? of one image ({ 224, 224, 3 })
---@field classes integer? (1000)
---@field alpha number? factor of all widths, which are rounded to multiples of 8 (1.0)
---@field dropout number? before the last layer (0.2)

--- 3 504 872 parameters. As in torchvision.
---@param options MobileNetOptions?
---@return Model
function gb.zoo.mobilenet_v2(options) end

---@class MobileNetV3Options: MobileNetOptions
---@field model_type "large"|"small"|nil ("large")

--- 5 483 032 parameters, small 2 542 856. As in Keras, without its rescaling: pixels are from -1 to 1.
---@param options MobileNetV3Options?
---@return Model
function gb.zoo.mobilenet_v3(options) end

---@class VitOptions
---@field input_shape integer[]? of one image ({ 224, 224, 3 })
---@field classes integer? (1000)
---@field patch integer? height and width of the patches that an image is divided into (16)
---@field width integer? channels (768)
---@field depth integer? blocks (12)
---@field heads integer? of each block's attention, which divide width (12)
---@field dropout number? of the sum with positions and behind each layer of a block (0.1)
---@field attention_dropout number? of the attention's weights; GPUs have fused attention without it alone (0)

--- The Vision Transformer ViT-B/16: 86 567 656 parameters. Logits are those of a learned token before the patches.
---@param options VitOptions?
---@return Model
function gb.zoo.vit_b16(options) end

---@class UnetOptions
---@field input_shape integer[]? of one image ({ 572, 572, 1 })
---@field classes integer? of each pixel (2; 1 for a loss of two classes)
---@field width integer? channels of the first level (64); each further level has twice as many
---@field depth integer? poolings, and as many ways up (4)
---@field padding "valid"|"same"|nil of the convolutions; with "same" the logits are as large as the image ("valid")
---@field dropout number? at the end of the way down (0.5)

--- U-Net: logits for each pixel. 31 030 658 parameters, and 31 030 593 with one logit. Without padding, as published,
--- 572 x 572 pixels give 388 x 388 logits.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.zoo.unet { input_shape = { 32, 32, 3 }, width = 4, depth = 2, padding = "same" }
--- assert(model(gb.zeros { 1, 32, 32, 3 }).shape[4] == 2)
--- ```
---@param options UnetOptions?
---@return Model
function gb.zoo.unet(options) end

---@class TransformerOptions
---@field vocabulary integer? tokens (50257 of gpt2_small, 30522 of bert_small)
---@field context integer? positions that have a vector (1024 and 512)
---@field length integer? tokens of an example (context)
---@field width integer? channels (768 and 512)
---@field depth integer? blocks (12 and 4)
---@field heads integer? of each block's attention, which divide width (12 and 8)
---@field dropout number? of embeddings and behind each layer of a block (0.1)
---@field attention_dropout number? of the attention's weights; GPUs have fused attention without it alone (0)

--- GPT-2's smallest: tokens [length] to logits [length, vocabulary], made by the table of the tokens itself. 124 439
--- 808 parameters.
---
--- ```lua
--- local gb = require "gpubench"
--- local path = gb._native.options.out .. "/results/small.txt"
--- io.open(path, "w"):write(("to be or not to be, "):rep(40)):close()
--- local pairs_of = gb.data.Dataset.bytes(path):window { size = 17, shift = 16, drop_remainder = true }
---   :map(function(text) return text[{ 1, -2 }]:cast "int32", text[{ 2, -1 }]:cast "int64" end)
--- local model = gb.zoo.gpt2_small { vocabulary = 256, length = 16, width = 32, depth = 2, heads = 2 }
--- model:compile { optimizer = "adam", loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
--- model:fit(pairs_of:batch(8), { epochs = 1, verbose = 0 })
--- ```
---@param options TransformerOptions?
---@return Model
function gb.zoo.gpt2_small(options) end

---@class BertOptions: TransformerOptions
---@field classes integer? logits behind the pooler; without, the pooler's output (0: none)

--- BERT of 4 layers of 512, with its pooler: tokens [length] to the pooler's output, or to logits. 28 763 648
--- parameters.
---@param options BertOptions?
---@return Model
function gb.zoo.bert_small(options) end

---@class LstmTextOptions
---@field vocabulary integer? tokens (20000)
---@field length integer? tokens of an example (200)
---@field width integer? channels of a token's vector (128)
---@field units integer? of each LSTM in each direction (64)
---@field classes integer? logits (1: for a loss of two classes)

--- Two bidirectional LSTMs over tokens: Keras' example on film reviews, 2 757 761 parameters.
---@param options LstmTextOptions?
---@return Model
function gb.zoo.lstm_text(options) end

---@class LlamaOptions
---@field vocabulary integer? tokens (49152)
---@field context integer? the most tokens of a text (8192)
---@field length integer? tokens of an example (context)
---@field width integer? channels (576)
---@field hidden integer? channels of each of a block's two expansions (1536)
---@field depth integer? blocks (30)
---@field heads integer? heads of queries, which divide width (9)
---@field key_value_heads integer? heads of keys and values, which divide heads (3)
---@field rope_max_wavelength number? positions that the slowest pair of a head's channels takes for a turn, over 2 pi
--- (100000)
---@field tied boolean? whether the table of tokens makes the logits too (true)

--- The smallest SmolLM2, a decoder as Llama: tokens [length] to logits [length, vocabulary]. 134 515 008 parameters;
--- the file in lua/gpubench/zoo has the sizes of TinyLlama, 1 100 048 384. Shorter texts are filled up at the end: no
--- token sees those behind it.
---@param options LlamaOptions?
---@return Model
function gb.zoo.llama_small(options) end

---@class TextGeneratorOptions
---@field batch_size integer? texts that are continued together (1)
---@field length integer? the most tokens of a text, for which keys and values have room (the model's context)

--- What gb.zoo.generator makes: keys and values of the positions so far. Logits are [batch_size, vocabulary] of the
--- next position, tokens the most likely ones, int32 [batch_size, 1].
---@class Generator
---@field batch_size integer as given
---@field length integer as given
---@field position integer tokens whose keys and values it has; set to less, it forgets those behind
---@field prefill fun(self: Generator, tokens: Tensor): Tensor, Tensor begins texts with tokens [batch_size, time], all
--- at once; returns logits and tokens
---@field decode fun(self: Generator, tokens: Tensor): Tensor, Tensor goes on with one token of each text, [batch_size,
--- 1]; returns logits and tokens
---@field generate fun(self: Generator, tokens: Tensor, count: integer): Tensor begins texts with these tokens and
--- returns the next `count`, [batch_size, count]

--- Continues texts by a model of gb.zoo.llama_small with the model's weights. Keys and values of all positions so far
--- stay on the device (a KV cache), so that a token takes the work of one position; `prefill` is planned once for each
--- length of its tokens, `decode` once; neither belongs into a gb.compile, which would repeat its first position.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.zoo.llama_small {
---   vocabulary = 256, context = 16, width = 32, hidden = 64, depth = 2, heads = 4, key_value_heads = 2,
--- }
--- local generator = gb.zoo.generator(model, { batch_size = 2 })
--- local texts = gb.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }, { dtype = "int32" })
--- local logits, token = generator:prefill(texts)
--- logits, token = generator:decode(token)
--- assert(logits.shape[2] == 256 and token.shape[1] == 2 and generator.position == 4)
--- assert(generator:generate(texts, 5).shape[2] == 5)
--- ```
---@param model Model
---@param options TextGeneratorOptions?
---@return Generator
function gb.zoo.generator(model, options) end

return gb
