-- input_pipeline: its stages give the same examples, and its claims see every stage and number of workers.
local gb = require "gpubench"
local experiments = require "declared"
local input_rows = require "input_rows"
local testing = require "testing"

local with = experiments.with
gb._native.keep_configuration()
input_rows.make_results_folder()
local declaration = experiments.of "input_pipeline"

-- What one epoch of an input holds: batches, and sums of its images and labels.
local function contents(input)
  local batches, image_sum, label_sum = 0, 0, 0
  for x, y in input:iter() do
    testing.equal({ x.shape, y.shape }, { { 32, 784 }, { 32, 10 } })
    batches, image_sum = batches + 1, image_sum + x:sum():item()
    for class = 1, 10 do label_sum = label_sum + class * y:sum({ 1 })[class]:item() end
  end
  return batches, image_sum, label_sum
end

testing.case("every stage gives the same examples, by hand or not", function()
  local measured, expected = {}, nil
  local function training(_, input)
    local batches, image_sum, label_sum = contents(input)
    expected = (input_rows.small_arrays()):sqrt():sum():item()
    table.insert(measured, { batches = batches, images = image_sum, labels = label_sum })
    return { input_wait_share = 0.5 }
  end
  local function pipeline() return { elements_per_s = 10, elements_low_per_s = 9, elements_high_per_s = 11 } end
  with(gb.datasets, { mnist = input_rows.small_mnist }, function()
    with(gb.measure, { training = training, pipeline = pipeline }, function()
      for _, source in ipairs { "pixels", "jpeg", "slow_source" } do
        measured = {}
        for _, stage in ipairs { "loop", "shuffle", "map", "batch", "prefetch" } do
          local point = { device = gb.devices()[1], source = source, stage = stage, workers = "autotune" }
          local rows = experiments.rows_of(declaration, point)
          testing.equal(rows[1].status .. (rows[1].detail or ""), "ok")
          testing.equal({ #rows, rows[1].measured }, { stage == "prefetch" and 2 or 1, "training" })
          if rows[2] then
            testing.equal({ rows[2].measured, rows[2].pipeline_examples_per_s, rows[2].pipeline_examples_low_per_s,
              rows[2].pipeline_examples_high_per_s }, { "pipeline", 320, 288, 352 })
          end
          local first, now = measured[1], measured[#measured]
          -- Of 2000 JPEG images, 16 are left over, which the shuffle chooses.
          local left_over = source == "jpeg" and 0.01 or 0
          testing.near(now.images, left_over > 0 and first.images or expected, (left_over + 1e-4) * first.images)
          testing.near(now.labels, first.labels, left_over * first.labels)
          testing.equal(now.batches, first.batches)
        end
        testing.equal(measured[1].batches, source == "jpeg" and 62 or input_rows.count // 32)
      end
    end)
  end)
end)

-- Waiting by stage, and the pipeline's rate by workers, AUTOTUNE's last.
local function pipeline_rows(waits, rates)
  return input_rows.of(declaration, function(point)
    return point.stage == "prefetch" and { "training", "pipeline" } or { "training" }
  end, function(row)
    if row.measured == "training" then
      row.input_wait_share = waits[input_rows.index_of(declaration, "stage", row.stage)]
      row.examples_per_s = 1 / row.input_wait_share
    else
      row.pipeline_examples_per_s = rates[input_rows.index_of(declaration, "workers", row.workers)]
    end
  end)
end

testing.case("the claims see every stage and every number of workers", function()
  local falling, rates = { 0.9, 0.8, 0.5, 0.1, 0.05 }, { 100, 200, 195 }
  testing.equal(experiments.verdicts(declaration, pipeline_rows(falling, rates)), experiments.repeated("confirmed", 4))
  for index = 2, #falling do
    local waits = table.move(falling, 1, #falling, 1, {})
    waits[index] = waits[index - 1] * 1.1
    local judged = experiments.verdicts(declaration, pipeline_rows(waits, rates))
    testing.equal(judged, { "confirmed", "refuted", "confirmed", "confirmed" })
  end
  local growing = experiments.verdicts(declaration, pipeline_rows({ 0.5, 0.6, 0.7, 0.8, 0.9 }, rates))
  testing.equal(growing, { "refuted", "refuted", "refuted", "confirmed" })
  testing.equal(experiments.verdicts(declaration, pipeline_rows(falling, { 100, 200, 160 }))[4], "refuted")
  local rows = pipeline_rows(falling, rates)
  for _, row in ipairs(rows) do
    if row.measured == "pipeline" and row.workers == 2 then row.quality = "unreliable: noise" end
  end
  testing.equal(experiments.verdicts(declaration, rows),
    input_rows.replaced(experiments.repeated("confirmed", 4), 4, "inconclusive"))
  -- A point that fails has no row of either kind.
  rows[3] = { status = "error", detail = "broken", device = rows[3].device, source = "pixels", stage = "map",
    workers = "autotune" }
  testing.equal(experiments.verdicts(declaration, rows)[2], "inconclusive")
end)
