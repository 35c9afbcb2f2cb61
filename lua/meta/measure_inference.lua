---@meta
-- Inference: how fast a model answers, by the definitions of MLPerf's load generator.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class MeasureInferenceOptions
---@field batch integer? examples of a query; 1 unless given
---@field concurrency integer? clients that ask at once; 1 unless given
---@field mode string? "single_stream" unless given, or "offline"
---@field duration number? seconds of measuring; half of --budget unless given
---@field execution string? "graph" or "eager"; what compile was told unless given
---@field passes table<string, boolean>? passes to switch off, such as { fold_batch_norm = false }; those of compile
--- unless given
---@field trace boolean? as of gb.measure.training, over queries; traced without a file unless given
---@field input Dataset? single examples, labels allowed; random numbers in the shape of the model's inputs unless given

--- Asks the model again and again and returns a row. A query is a batch in host memory; its latency ends when the
--- outputs are in host memory. The queries, the input's first 1024 examples, are loaded before the clock starts, and a
--- warm-up is not counted. The model need not be compiled.
---
--- - `"single_stream"`: each client asks when its query before has been answered. `latency_s` is the median of all
---   queries, with its interval; `latency_p90_s`, `latency_p95_s` and `latency_p99_s` are there only where queries lie
--- beyond them:
---   measuring goes on up to `--budget` for the 100 queries that a 99th percentile needs. One client asks on the thread
---   that computes. More are threads of their own over one set of weights: a device works on one query after the other,
--- so
---   queries wait in a queue, and that wait is part of their latency.
--- - `"offline"`: batches back to back; only the rate counts, and there are no latencies.
---
--- `examples_per_s` is by the mean time between answers, `weights_bytes` the size of the model's variables, `samples`
--- are the latencies in seconds (offline: the times between answers).
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- local row = gb.measure.inference(model, { batch = 4, duration = 0.05, input = gb.datasets.mnist("test") })
--- assert(row.mode == "single_stream" and row.batch_size == 4 and row.queries >= 100)
--- assert(row.latency_s <= row.latency_p99_s and row.latency_p99_s <= row.latency_max_s)
--- assert(row.weights_bytes == 4 * (784 * 10 + 10))
--- local offline = gb.measure.inference(model, { batch = 256, mode = "offline", duration = 0.05 })
--- assert(offline.examples_per_s > 0 and offline.latency_s == nil)
--- ```
---@param model Model
---@param options MeasureInferenceOptions?
---@return Row
function gb.measure.inference(model, options) end

return gb
