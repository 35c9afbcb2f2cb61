-- gb.measure.inference: its options, and what the command line and compile give it.
local gb = require "gpubench"
local testing = require "testing"

local function classifier()
  return gb.Sequential {
    gb.layers.Dense(8, { activation = "relu", input_shape = { 784 } }), gb.layers.Dense(10, { activation = "softmax" }),
  }
end

local function measured(model, options)
  options.duration = 0.02
  return gb.measure.inference(model, options)
end

testing.case("a model that was not compiled runs as a graph, a compiled one as it was compiled", function()
  local model = classifier()
  testing.equal(measured(model, {}).execution, "graph")
  model:compile { optimizer = "sgd", loss = "categorical_crossentropy", execution = "eager" }
  testing.equal(measured(model, {}).execution, "eager")
  testing.equal(measured(model, { execution = "graph" }).execution, "graph")
end)

testing.case("passes can be switched off: more kernels run", function()
  local model = classifier()
  local fused, unfused = measured(model, {}), measured(model, { passes = { fuse_epilogue = false } })
  testing.is_true(fused.kernels < unfused.kernels, "kernels")
end)

testing.case("queries of a dataset, from several clients, and offline", function()
  local input = gb.datasets.mnist("test")
  local row = measured(classifier(), { batch = 2, concurrency = 3, input = input })
  testing.equal({ row.mode, row.batch_size, row.concurrency }, { "single_stream", 2, 3 })
  testing.is_true(row.latency_s > 0 and #row.samples >= 100, "latencies")
  testing.is_true(row.queries * row.batch_size / row.examples_per_s > 0, "rate")
  row = measured(classifier(), { batch = 64, mode = "offline", input = input })
  testing.equal({ row.mode, row.latency_s, row.latency_max_s }, { "offline" })
end)

testing.case("options are checked", function()
  local model = classifier()
  local function refused(text, options) testing.raises(text, gb.measure.inference, model, options) end
  refused("batch must be at least 1, got 0", { batch = 0 })
  refused("batch_size", { batch_size = 4 })
  refused("unknown mode of inference 'server' (known: single_stream, offline)", { mode = "server" })
  refused("unknown execution 'jit' (known: graph, eager)", { execution = "jit" })
  refused("there is no pass 'fold' to switch off", { passes = { fold = false } })
  refused("concurrency must be 1 to 1024, got -1", { concurrency = -1 })
  refused("concurrency must be 1 to 1024, got 5000000000", { concurrency = 5000000000 })
  refused("concurrency must be 1 to 1024, got -7", { concurrency = -7 })
  refused("the input has batches of 16 already",
    { input = gb.data.Dataset.from_tensor_slices { gb.ones { 64, 784 } }:batch(16) })
  testing.raises("Model", gb.measure.inference, gb.layers.Dense(1))
end)
