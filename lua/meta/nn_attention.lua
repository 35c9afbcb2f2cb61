---@meta
-- Layers of transformers: embeddings, normalization of positions, attention. Names, options and defaults are those of
-- Keras; what differs is said.

---@class gpubench
local gb = {}

---@class EmbeddingOptions: LayerOptions
---@field input_dim integer? tokens of the vocabulary; required here or as the first argument
---@field output_dim integer? numbers for each token; required here or as the second argument
---@field embeddings_initializer string? "random_uniform" unless given, Keras' "uniform"
---@field mask_zero boolean? whether token 0 is padding: its steps are masked for recurrent layers, attention,
--- GlobalAveragePooling1D, losses and metrics behind the layer; false unless given

--- A trained row of numbers for each token: integers of any shape -> [..., output_dim]. Of floating-point numbers the
--- whole part is the token, also under a mixed policy. A token outside of the vocabulary is an error; on GPUs, for
--- which the host does not wait in each step, its row is NaN.
---
--- ```lua
--- local gb = require "gpubench"
--- local embedding = gb.layers.Embedding(100, 8)
--- local rows = embedding(gb.tensor({ { 5, 99, 0 } }, { dtype = "int32" }))
--- assert(#rows.shape == 3 and rows.shape[3] == 8)
--- ```
---@param input_dim integer|EmbeddingOptions
---@param output_dim integer|EmbeddingOptions|nil
---@param embeddings_initializer string|EmbeddingOptions|nil
---@param options EmbeddingOptions?
---@return Layer
function gb.layers.Embedding(input_dim, output_dim, embeddings_initializer, options) end

---@class ReversibleEmbeddingOptions: EmbeddingOptions
---@field tie_weights boolean? whether one table serves both ways; false: the way back has a `reverse_embeddings` of its
--- own; true unless given
---@field reverse_dtype string? of the scores; the layer's type of computation unless given
---@field logit_soft_cap number? scores become tanh(score / logit_soft_cap) * logit_soft_cap; 0: none, unless given

--- An Embedding that also goes back: called with vectors [..., output_dim] and the option `reverse = true`, it gives a
--- score for each token, their products with the table's rows. So decoders have one table for tokens and logits.
---
--- ```lua
--- local gb = require "gpubench"
--- local tokens = gb.Input({ 6 }, { dtype = "int32" })
--- local table = gb.layers.ReversibleEmbedding(50, 8)
--- local hidden = gb.layers.GRU(8, { return_sequences = true })(table(tokens))
--- local model = gb.Model { inputs = tokens, outputs = table(hidden, { reverse = true }) }
--- assert(model.outputs[1].shape[2] == 50)
--- ```
---@param input_dim integer|ReversibleEmbeddingOptions
---@param output_dim integer|ReversibleEmbeddingOptions|nil
---@param tie_weights boolean|ReversibleEmbeddingOptions|nil
---@param embeddings_initializer string|ReversibleEmbeddingOptions|nil
---@param options ReversibleEmbeddingOptions?
---@return Layer
function gb.layers.ReversibleEmbedding(input_dim, output_dim, tie_weights, embeddings_initializer, options) end

---@class LayerNormalizationOptions: LayerOptions
---@field axis integer? the last axis, -1 unless given: no other is possible
---@field epsilon number? added to the variance; 0.001 unless given
---@field center boolean? adds a trained `beta`; true unless given
---@field scale boolean? multiplies by a trained `gamma`; true unless given
---@field beta_initializer string? "zeros" unless given
---@field gamma_initializer string? "ones" unless given

--- Normalizes each position by the mean and the variance of its channels, in training and inference alike.
---
--- ```lua
--- local gb = require "gpubench"
--- local y = gb.layers.LayerNormalization { epsilon = 1e-5 }(gb.tensor { { 1, 2, 3, 4 } })
--- assert(math.abs(y:mean():item()) < 1e-6)
--- ```
---@param axis integer|LayerNormalizationOptions|nil
---@param epsilon number|LayerNormalizationOptions|nil
---@param center boolean|LayerNormalizationOptions|nil
---@param scale boolean|LayerNormalizationOptions|nil
---@param beta_initializer string|LayerNormalizationOptions|nil
---@param gamma_initializer string|LayerNormalizationOptions|nil
---@param options LayerNormalizationOptions?
---@return Layer
function gb.layers.LayerNormalization(axis, epsilon, center, scale, beta_initializer, gamma_initializer, options) end

---@class RMSNormalizationOptions: LayerOptions
---@field axis integer? the last axis, -1 unless given: no other is possible
---@field epsilon number? added to the mean square; 1e-6 unless given

--- Divides each position by the root of the mean square of its channels, and multiplies by a trained `scale`.
---@param axis integer|RMSNormalizationOptions|nil
---@param epsilon number|RMSNormalizationOptions|nil
---@param options RMSNormalizationOptions?
---@return Layer
function gb.layers.RMSNormalization(axis, epsilon, options) end

---@class AttentionLayerOptions: LayerOptions
---@field dropout number? share of the attention weights that is dropped in training; 0 unless given
---@field use_bias boolean? true unless given
---@field kernel_initializer string? "glorot_uniform" unless given
---@field bias_initializer string? "zeros" unless given
---@field seed integer? of the dropout; drawn from the global seed unless given
---@field use_causal_mask boolean? each query attends to the keys up to its own position; false unless given. In Keras
--- this is an option of the call; layers have no such options here

---@class MultiHeadAttentionOptions: AttentionLayerOptions
---@field num_heads integer? required here or as the first argument
---@field key_dim integer? numbers of a head of queries and keys; required here or as the second argument
---@field value_dim integer? of a head of values; key_dim unless given
---@field output_shape integer|integer[]|nil of a position; as the query's unless given

--- Attention of several heads: softmax(q k' / sqrt(key_dim)) v. Its inputs are `{ query, value, key, mask }`, each
--- [time, channels] per example: without a key the value is the key, a single input attends to itself. The mask is the
--- last input and of bools or integers, which is how it is recognized; true: the query attends to the key. Per example
--- it is [keys], which hides padding, [queries, keys], or [heads, queries, keys]. A query that may attend to no key
--- gets zeros before the last product, where Keras gives the mean of all values. Masks that come with query, value and
--- key hide their steps too, and then such a query gets the mean; the output has the query's mask. Memory grows
--- linearly with the sequences: the matrix of weights never exists, and so cannot be returned.
---
--- ```lua
--- local gb = require "gpubench"
--- local attention = gb.layers.MultiHeadAttention(2, 8, { use_causal_mask = true })
--- local x = gb.Input { 10, 16 }
--- local mask = gb.Input { shape = { 10 }, dtype = "bool" }
--- local model = gb.Model { inputs = { x, mask }, outputs = attention { x, x, mask } }
--- assert(model:count_params() == 4 * 16 * 16 + 4 * 16)
--- ```
---@param num_heads integer|MultiHeadAttentionOptions
---@param key_dim integer|MultiHeadAttentionOptions|nil
---@param value_dim integer|MultiHeadAttentionOptions|nil
---@param dropout number|MultiHeadAttentionOptions|nil
---@param use_bias boolean|MultiHeadAttentionOptions|nil
---@param output_shape integer|integer[]|MultiHeadAttentionOptions|nil
---@param options MultiHeadAttentionOptions?
---@return Layer
function gb.layers.MultiHeadAttention(num_heads, key_dim, value_dim, dropout, use_bias, output_shape, options) end

---@class GroupQueryAttentionOptions: AttentionLayerOptions
---@field head_dim integer? numbers of a head; required here or as the first argument
---@field num_query_heads integer? required here or as the second argument
---@field num_key_value_heads integer? divides num_query_heads; required here or as the third argument

--- MultiHeadAttention in which num_query_heads / num_key_value_heads neighbouring heads of queries share keys and
--- values. Inputs and masks as there.
---@param head_dim integer|GroupQueryAttentionOptions
---@param num_query_heads integer|GroupQueryAttentionOptions|nil
---@param num_key_value_heads integer|GroupQueryAttentionOptions|nil
---@param dropout number|GroupQueryAttentionOptions|nil
---@param use_bias boolean|GroupQueryAttentionOptions|nil
---@param options GroupQueryAttentionOptions?
---@return Layer
function gb.layers.GroupQueryAttention(head_dim, num_query_heads, num_key_value_heads, dropout, use_bias, options) end

---@class AttentionCallOptions
---@field mask Tensor? broadcasts to [batch, heads, queries, keys]: bool, true where the query attends to the key, or
--- floating-point, added to the scaled products; its gradient is an error; none unless given
---@field scale number? of the products; 1 / sqrt(dim) unless given
---@field is_causal boolean? each query attends to the keys up to its own position; false unless given

--- softmax(query key' scale + mask) value for each head, as one op with memory linear in the sequences. The query is
--- [batch, time, heads, dim]; key and value may have fewer heads, each shared by neighbouring heads of the query. A
--- query that may attend to no key gets zeros.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.random.normal { 2, 10, 4, 8 }
--- local y = gb.dot_product_attention(x, x, x, { is_causal = true })
--- -- the first sees only itself
--- assert((y - x):gather(gb.tensor({ 0 }, { dtype = "int32" }), 1):abs():max():item() < 1e-6)
--- ```
---@param query Tensor
---@param key Tensor
---@param value Tensor
---@param options AttentionCallOptions?
---@return Tensor
function gb.dot_product_attention(query, key, value, options) end

---@class AttentionOptions: LayerOptions
---@field use_scale boolean? multiplies the scores by a trained number; false unless given
---@field score_mode string? "dot" unless given: products of query and key; "concat": sums of tanh(query + key), times a
--- trained number
---@field dropout number? share of the weights that is dropped in training; 0 unless given
---@field seed integer? drawn from the global seed unless given
---@field use_causal_mask boolean? whether query i attends to the keys up to i only; Keras has it as an argument of the
--- call; false unless given

--- Attention of one head without weights of its own (Luong): `attention { query, value }`, or `{ query, value, key }`,
--- [time, channels] each, and behind them a mask [keys] or [queries, keys] of integers or bools. A query that may
--- attend to no key gets zeros with "dot", in Keras the mean of all values.
---
--- ```lua
--- local gb = require "gpubench"
--- local query, value = gb.zeros { 1, 2, 3 }, gb.tensor { { { 1, 1, 1 }, { 3, 3, 3 } } }
--- assert(gb.layers.Attention() { query, value }:to_table()[1][1][1] == 2)
--- ```
---@param use_scale boolean|AttentionOptions|nil
---@param score_mode string|AttentionOptions|nil
---@param dropout number|AttentionOptions|nil
---@param options AttentionOptions?
---@return Layer
function gb.layers.Attention(use_scale, score_mode, dropout, options) end

---@class AdditiveAttentionOptions: LayerOptions
---@field use_scale boolean? multiplies tanh(query + key) by a trained number for each channel; true unless given
---@field dropout number? share of the weights that is dropped in training; 0 unless given
---@field seed integer? drawn from the global seed unless given
---@field use_causal_mask boolean? whether query i attends to the keys up to i only; false unless given

--- Attention whose scores are sums of tanh(query + key) (Bahdanau), with the inputs of Attention. The tensor [queries,
--- keys, channels] of these terms is kept for the gradient.
---@param use_scale boolean|AdditiveAttentionOptions|nil
---@param dropout number|AdditiveAttentionOptions|nil
---@param options AdditiveAttentionOptions?
---@return Layer
function gb.layers.AdditiveAttention(use_scale, dropout, options) end

---@class GroupNormalizationOptions: LayerOptions
---@field groups integer? 32 unless given; -1: each channel is a group of its own
---@field axis integer? of the channels, counted with the batch as 0; the last, -1, unless given
---@field epsilon number? added to the variance; 0.001 unless given
---@field center boolean? adds a trained `beta`; true unless given
---@field scale boolean? multiplies by a trained `gamma`; true unless given
---@field beta_initializer string? "zeros" unless given
---@field gamma_initializer string? "ones" unless given

--- Normalizes groups of neighbouring channels of each example by their own mean and variance, in training and inference
--- alike.
---
--- ```lua
--- local gb = require "gpubench"
--- local y = gb.layers.GroupNormalization(2)(gb.random.normal { 3, 5, 5, 8 })
--- assert(math.abs(y:mean():item()) < 1e-4)
--- ```
---@param groups integer|GroupNormalizationOptions|nil
---@param axis integer|GroupNormalizationOptions|nil
---@param epsilon number|GroupNormalizationOptions|nil
---@param center boolean|GroupNormalizationOptions|nil
---@param scale boolean|GroupNormalizationOptions|nil
---@param beta_initializer string|GroupNormalizationOptions|nil
---@param gamma_initializer string|GroupNormalizationOptions|nil
---@param options GroupNormalizationOptions?
---@return Layer
function gb.layers.GroupNormalization(groups, axis, epsilon, center, scale, beta_initializer, gamma_initializer,
                                      options) end

return gb
