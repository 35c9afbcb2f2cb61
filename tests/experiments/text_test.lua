-- The experiments on texts and on generated text: what they count is right, and their claims are refuted where they are
-- wrong.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

gb._native.keep_configuration()

local device = gb.devices()[1]
local generation, text = experiments.of "generation", experiments.of "text"

local function row_of(declaration, point)
  local row = experiments.row_of(declaration, point)
  testing.equal(row.status .. (row.detail or ""), "ok")
  return row
end

testing.case("generation: all ways end with the same logits, and count their tokens", function()
  local rows, shape = {}, nil
  local function loop(step, dataset)
    for tokens in dataset:iter() do
      shape = tokens.shape
      step(tokens)
    end
    return { examples_per_s = 10, step_time_s = 0.4 }
  end
  for _, way in ipairs { "prefill", "cached", "anew" } do
    experiments.with(gb.measure, { loop = loop }, function()
      rows[way] = row_of(generation, { device = device, way = way, length = 32, batch_size = 4 })
    end)
    testing.equal(shape, { 4, way == "cached" and 1 or 32 })
    testing.equal(rows[way].tokens_per_s, way == "prefill" and 320 or 10)
  end
  for _, way in ipairs { "cached", "anew" } do
    testing.is_true(math.abs(rows[way].result / rows.prefill.result - 1) < 1e-4, way)
  end
  -- The cache: keys and values of 4 blocks, 4 texts of 32 positions, 2 heads of 32 numbers.
  testing.equal(rows.cached.read_bytes - rows.anew.read_bytes, 4 * 2 * 4 * 4 * 32 * 2 * 32)
end)

testing.case("text: buckets hold the same words in fewer positions, and masks hide the others", function()
  local rows = {}
  for _, padding in ipairs { "dataset", "batch", "bucket" } do
    rows[padding] = row_of(text, { device = device, net = "encoder", padding = padding, tokenizing = "cached" })
    testing.equal(rows[padding].words_per_s > 0, true)
  end
  testing.equal({ rows.dataset.shapes, rows.bucket.shapes }, { 1, 4 })
  testing.is_true(rows.bucket.padding_share < rows.batch.padding_share)
  testing.is_true(rows.batch.padding_share < rows.dataset.padding_share)
  for _, padding in ipairs { "batch", "bucket" } do
    testing.is_true(math.abs(rows[padding].result / rows.dataset.result - 1) < 1e-3, padding)
  end
end)

testing.case("text: the script, a map and a cache make the same batches", function()
  local rows = {}
  for _, place in ipairs { "script", "map", "cached" } do
    rows[#rows + 1] = row_of(text, { device = device, net = "mean", padding = "batch", tokenizing = place })
  end
  for index = 2, 3 do
    testing.equal({ rows[index].padding_share, rows[index].shapes }, { rows[1].padding_share, rows[1].shapes })
    testing.is_true(math.abs(rows[index].words_per_s / rows[index].texts_per_s
      / (rows[1].words_per_s / rows[1].texts_per_s) - 1) < 1e-9, "words of a text")
  end
end)

-- Rows of all points, of a device of which the claims hold; `change` may alter each.
local function generated(change)
  local rows = {}
  for _, way in ipairs { "prefill", "cached", "anew" } do
    for _, length in ipairs(generation.axes[3].values) do
      for _, batch_size in ipairs(generation.axes[4].values) do
        local seconds = way == "cached" and 1 + 0.01 * batch_size or 1 + 0.1 * length * batch_size
        local row = {
          status = "ok", quality = "ok", device = device, way = way, length = length, batch_size = batch_size,
          tokens_per_s = batch_size * (way == "prefill" and length or 1) / seconds, read_share = 0.5 / seconds,
          result = 1,
        }
        change(row)
        if not generation.skip(row) then rows[#rows + 1] = row end
      end
    end
  end
  return experiments.verdicts(generation, rows)
end

testing.case("generation: the claims hold where they are true and nowhere else", function()
  testing.equal(generated(function() end), experiments.repeated("confirmed", 5))
  local function of(way, change)
    return generated(function(row) if row.way == way then change(row) end end)
  end
  testing.equal(of("cached", function(row) row.result = 1.1 end)[1], "refuted")
  testing.equal(of("prefill", function(row) row.tokens_per_s = 1 end)[2], "refuted")
  testing.equal(of("anew", function(row) row.tokens_per_s = 1 end)[3], "refuted")
  testing.equal(of("cached", function(row) row.tokens_per_s = 1 end)[4], "refuted")
  testing.equal(of("cached", function(row) row.read_share = 0.01 end)[5], "refuted")
end)

local function trained(change)
  local rows = {}
  for _, point in ipairs {
    { "encoder", "dataset", "cached" }, { "encoder", "batch", "cached" }, { "encoder", "bucket", "cached" },
    { "mean", "batch", "script" }, { "mean", "batch", "map" }, { "mean", "batch", "cached" },
  } do
    local net, padding, tokenizing = table.unpack(point)
    local row = {
      status = "ok", quality = "ok", device = device, net = net, padding = padding, tokenizing = tokenizing, result = 2,
      padding_share = ({ dataset = 0.9, batch = 0.6, bucket = 0.3 })[padding],
      shapes = ({ dataset = 1, batch = 40, bucket = 5 })[padding],
      words_per_s = ({ dataset = 1, batch = 2, bucket = 4 })[padding],
      texts_per_s = ({ script = 1, map = 2, cached = 3 })[tokenizing],
    }
    change(row)
    rows[#rows + 1] = row
  end
  return experiments.verdicts(text, rows)
end

testing.case("text: the claims hold where they are true and nowhere else", function()
  testing.equal(trained(function() end), experiments.repeated("confirmed", 6))
  local function bucket(column, value)
    return trained(function(row) if row.padding == "bucket" then row[column] = value end end)
  end
  testing.equal(bucket("result", 3)[1], "refuted")
  testing.equal(bucket("padding_share", 0.8)[2], "refuted")
  testing.equal(bucket("words_per_s", 1)[3], "refuted")
  testing.equal(bucket("shapes", 40)[4], "refuted")
  testing.equal(trained(function(row) if row.tokenizing == "map" then row.texts_per_s = 1 end end)[5], "refuted")
  testing.equal(trained(function(row) if row.tokenizing == "cached" then row.texts_per_s = 1 end end)[6], "refuted")
end)
