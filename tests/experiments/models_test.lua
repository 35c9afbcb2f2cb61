-- The experiments on nets of the zoo: their points run by themselves, and their claims judge rows by what the rows say.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

local declared, row_of, verdicts = experiments.of, experiments.row_of, experiments.verdicts

gb._native.keep_configuration()

testing.case("models: a row has the parameters and the memory of its net", function()
  local declaration = declared "models"
  local rows = {}
  for index, precision in ipairs { "float32", "mixed_bfloat16" } do
    rows[index] = row_of(declaration,
      { device = gb.devices()[1], model = "resnet50", precision = precision, batch_size = 32 })
    testing.equal(rows[index].status .. (rows[index].detail or ""), "ok")
  end
  testing.equal(rows[1].parameters, rows[2].parameters)
  testing.is_true(rows[1].peak_memory_bytes >= rows[1].activations_bytes)
  testing.is_true(rows[1].planned_bytes > rows[1].activations_bytes)
  testing.equal(verdicts(declaration, rows)[3], "confirmed")
end)

testing.case("finetuning: frozen layers have neither gradients nor slots", function()
  local declaration = declared "finetuning"
  local rows = {}
  for index, trained in ipairs { "all", "last stage", "head" } do
    rows[index] = row_of(declaration, { device = gb.devices()[1], trained = trained })
    testing.equal(rows[index].status .. (rows[index].detail or ""), "ok")
    if index > 1 then
      testing.is_true(rows[index].trained_parameters < rows[index - 1].trained_parameters, trained)
      testing.is_true(rows[index].step_memory_bytes < rows[index - 1].step_memory_bytes, trained)
    end
  end
  testing.equal({ verdicts(declaration, rows)[2], verdicts(declaration, rows)[3] }, { "confirmed", "confirmed" })
end)

testing.case("batch_size, inference and profiling take nets of the zoo", function()
  local device = gb.devices()[1]
  local function first_row(declaration, point)
    local row = row_of(declaration, point)
    testing.equal(row.status .. (row.detail or ""):gsub("^no shares: .*", ""), "ok")
    return row
  end
  local set = { model = { "lstm_text" } }
  local dense = first_row(declared "batch_size", { device = device, batch_size = 4 })
  local net = first_row(declared("batch_size", set), { device = device, batch_size = 4 })
  testing.is_true(net.flops_per_step > 2 * dense.flops_per_step)
  local point = { device = device, setting = "bfloat16", batch_size = 4 }
  local convolutional = first_row(declared "inference", point)
  net = first_row(declared("inference", set), point)
  testing.contains(net.precision, "bfloat16")
  testing.is_true(net.weights_bytes ~= convolutional.weights_bytes)
  net = first_row(declared "profiling", { device = device, model = "lstm_text" })
  testing.contains(net.slowest_layer, "bidirectional")
  testing.raises("--set model=resnet: possible: dense, resnet18, resnet50, vgg16, mobilenet_v2, "
    .. "mobilenet_v3, vit_b16, unet, bert_small, gpt2_small, lstm_text, llama_small",
    declared, "batch_size", { model = { "resnet" } })
end)
