-- Sizes of the nets are in lua/gpubench/zoo/workload.lua: published widths on smaller inputs; --quick takes small nets.
-- `activations_bytes` is exact, from the plan of a step; `planned_bytes` is the plan's total.
local gb = require "gpubench"
local workload = require "gpubench.zoo.workload"

local batches = gb.quick and { 2, 32 } or { 2, 16 }
local smallest, largest = batches[1], batches[#batches]

gb.experiment {
  name  = "models",
  topic = "models",
  title = "What limits ResNets, MobileNets, transformers and LSTMs",
  question = "How much of the device do today's nets use, what limits each, and how much memory do they take?",
  cause    = "Nets differ in the work that they do for each byte they move: large products and convolutions reuse what "
    .. "they read, depthwise convolutions, normalizations and small batches hardly do, and recurrent nets compute one "
    .. "position after the other.",
  remedy   = "A batch that fills the device, as far as memory reaches; 16-bit activations, which take up to half "
    .. "less memory and traffic where a net keeps no copies in float32; where a net has no large "
      .. "products, expect less of the peak.",
  reading  = "Share of the peak over the batch size, one line for each net: what stays low at every batch is limited "
    .. "by the kind of its layers, what rises was limited by the batch. The verdict of a row says what limits it. "
    .. "Memory over the batch size: what grows is activations, the start is weights and the optimizer.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("model", workload.names, { closed = true }),
    gb.axis("precision", { "float32", "mixed_bfloat16" }, { closed = true }),
    gb.axis("batch_size", batches),
  },
  columns = { "parameters", "planned_bytes", "activations_bytes" },
  skip = function(point)
    if gb.quick and point.precision ~= "float32" and point.batch_size == smallest then
      return "--quick measures 16 bits with the larger batch"
    end
  end,
  seconds = function(_, measurement_s) return measurement_s + (gb.quick and 0.2 or 2) end,
  run = function(point)
    return gb.device(point.device, function()
      local options = workload.options(point.model, gb.quick)
      local model = workload.compiled(point.model, options, point.precision)
      local input = workload.batches(point.model, options, point.batch_size)
      local plan = model:memory(input)
      local row = gb.measure.training(model, input)
      row.parameters = model:count_params { trainable = true }
      row.planned_bytes, row.activations_bytes = plan.total, plan.peak_activations
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "batch_size", y = "mfu", series = "model", where = { precision = "float32" }, log_x = 2 },
    gb.chart.line { x = "batch_size", y = "peak_memory_bytes", series = "model",
      where = { precision = "float32" }, log_x = 2 },
    gb.chart.bar { x = "model", y = "activations_bytes", series = "precision", where = { batch_size = largest } },
  },
  expect = {
    gb.expect.ratio {
      y = "flops_per_s", of = { model = "mobilenet_v2" }, over = { model = "bert_small" }, at_most = 0.7,
      where = { precision = "float32", batch_size = largest },
      claim = "depthwise convolutions reach at most 0.7 times the flops/s of a transformer's products",
      answer = "Fewer flops do not save time in proportion: MobileNetV2 computes at {times} the flops/s of "
        .. "BERT",
    },
    gb.expect.ratio {
      y = "examples_per_s", of = { batch_size = largest }, over = { batch_size = smallest }, at_least = 1.2,
      where = { precision = "float32", model = "lstm_text" },
      claim = "a recurrent net needs a batch: one position after the other is little work at a time",
      answer = "Give recurrent nets a batch: " .. largest .. " examples at once train {times} as many examples/s as "
        .. smallest,
    },
    gb.expect.ratio {
      y = "activations_bytes", of = { precision = "mixed_bfloat16" }, over = { precision = "float32" }, at_most = 0.8,
      where = { batch_size = largest, model = "resnet50" },
      claim = "16-bit activations of ResNet-50 take at most 0.8 times the memory",
      answer = "In mixed_bfloat16 the activations of ResNet-50 take {times} the memory of float32",
    },
  },
}
