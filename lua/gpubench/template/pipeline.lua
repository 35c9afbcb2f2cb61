local gb = require "gpubench"

-- What the input does with each example; write your own files and maps here: `gpubench help image_folder`.
local function augment(image, label)
  return gb.image.random_flip_left_right(image), label
end

gb.experiment {
  name  = "NAME",
  title = "What this shows, in a sentence",

  -- The first screen of the report; all of them may be left out.
  question = "How many workers does the input need?",
  cause    = "A map without workers runs on one core.",
  remedy   = "dataset:map(fn, { num_parallel_calls = gb.AUTOTUNE })",
  reading  = "Elements a second over the workers; 0 is the consumer's own thread.",

  -- Override from the command line: gpubench NAME.lua --set workers=1..4
  axes = { gb.axis("workers", { 0, 1, 2 }) },

  -- The pipeline alone, without a model. `stages` of the row says where its time goes.
  run = function(point)
    local images = gb.datasets.mnist("train", { flatten = false })
    local workers = point.workers > 0 and point.workers or nil
    local input = images:shuffle(8000):map(augment, { num_parallel_calls = workers }):batch(32):prefetch(gb.AUTOTUNE)
    return gb.measure.pipeline(input)
  end,

  charts = { gb.chart.line { x = "workers", y = "elements_per_s" } },
  expect = {
    gb.expect.faster {
      axis = "workers", value = 2, than = 0, y = "elements_per_s",
      answer = "Give the map 2 workers: {times} the elements/s",
    },
  },
}
