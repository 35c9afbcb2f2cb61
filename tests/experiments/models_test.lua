-- The experiments on nets of the zoo: their points run by themselves, and their claims judge rows by what the rows say.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

local declared, row_of = experiments.of, experiments.row_of

gb._native.keep_configuration()

local function verdicts(declaration, rows)
  local found = {}
  for index, judged in ipairs(experiments.judge(declaration, rows)) do found[index] = judged.verdict end
  return found
end

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
