-- `gpubench help`: topics are found by their names, kinds and words, fill 80 columns, and are the same as pages.
local gb = require "gpubench"
local other_names = require "gpubench.reference.other_names"
local pages = require "gpubench.reference.pages"
local prose = require "gpubench.reference.prose"
local terminal = require "gpubench.reference.terminal"
local testing = require "testing"
local topics = require "gpubench.reference.topics"

local list = topics.all()

local function names_of(found)
  local names = {}
  for index, one in ipairs(found) do names[index] = one.kind .. " " .. one.name end
  return names
end

local function found_by(words) return names_of((topics.find(list, words))) end

testing.case("a name finds its topic, with and without what stands before it", function()
  local cases = {
    ["measure.training"] = "function gb.measure.training", ["gb.measure.training"] = "function gb.measure.training",
    ["layers.Dense"] = "function gb.layers.Dense", ["Dense"] = "function gb.layers.Dense",
    ["dense"] = "function gb.layers.Dense", ["gb.layers.Dense()"] = "function gb.layers.Dense",
    ["dataset:map"] = "method Dataset:map", ["Dataset.map"] = "method Dataset:map", ["map"] = "method Dataset:map",
    ["layers"] = "module gb.layers", ["gb"] = "module gb", ["watch"] = "command watch",
    ["input_wait_share"] = "column input_wait_share", ["examples_low_per_s"] = "column examples_per_s",
    ["input_bound"] = "finding input_bound", ["input bound"] = "finding input_bound",
    ["larger_batch"] = "remedy larger_batch", ["3"] = "exit status 3", ["exit status 130"] = "exit status 130",
    ["GPUBENCH_DATA"] = "variable GPUBENCH_DATA", ["--set"] = "command option --set",
    ["num_parallel_calls"] = "option num_parallel_calls", ["MapOptions"] = "class MapOptions",
    ["AUTOTUNE"] = "value gb.AUTOTUNE", ["column batch_size"] = "column batch_size",
    ["option batch_size"] = "option batch_size",
  }
  for words, expected in pairs(cases) do
    if #found_by(words) ~= 1 then error(words .. ": " .. table.concat(found_by(words), ", ")) end
    testing.equal(found_by(words)[1], expected)
  end
end)

testing.case("a name of several topics finds all, the best first", function()
  testing.equal(found_by "batch_size", { "column batch_size", "experiment batch_size" })
  testing.equal(found_by "PolynomialDecay",
    { "function gb.prune.PolynomialDecay", "function gb.schedules.PolynomialDecay" })
  local found, others = topics.find(list, "report")
  testing.equal(names_of(found), { "command report" })
  testing.contains(table.concat(names_of(others), "\n"), "function gb.memory.report")
end)

testing.case("a wrong name finds nothing, but names that are near", function()
  for _, wrong in ipairs { "trainng", "layers.Denze", "inputbound", "--sett", "" } do
    testing.equal(found_by(wrong), {})
  end
  testing.equal(topics.near(list, "trainng")[1], "training")
  testing.equal(topics.near(list, "input_bond")[1], "input_bound")
  testing.equal(topics.near(list, "zzzzzzzzzz"), {})
end)

local function answer_to(words)
  testing.equal(found_by(words), {})
  local other = other_names.find(list, words)
  return other and table.concat(terminal.lines_of(other), "\n")
end

testing.case("a name of Keras, tf.data or PyTorch is answered with the form here", function()
  local cases = {
    ["Linear"] = "no 'Linear'; here: gb.layers.Dense(units)\n\ngb.layers.Dense(units",
    ["torch.nn.Linear(784, 10)"] = "no 'torch.nn.Linear'; here: gb.layers.Dense(units)\n\ngb.layers.Dense(units",
    ["TextLineDataset"] = "here: gb.data.Dataset.text_lines(files)\n\ngb.data.Dataset.text_lines(",
    ["tf.data.TextLineDataset"] = "here: gb.data.Dataset.text_lines(files)\n\n",
    ["zero_grad"] = "no 'zero_grad'; here: nothing: a tape computes gradients anew for each step",
    ["optimizer.zero_grad()"] = "no 'optimizer.zero_grad'; here: nothing: a tape",
    ["Conv3D"] = "no 'Conv3D'; not in gpubench: images have two dimensions here",
    ["torch.nn"] = "no 'torch.nn'; here: its members are in gb.layers, gb.losses, gb,",
    ["keras.layers.Dense"] = "no 'keras.layers.Dense'; here: gb.layers.Dense\n\ngb.layers.Dense(units",
    ["torch.std"] = "no 'torch.std'; here: x:std(axis), which divides by",
    ["option lr"] = "no 'option lr'; here: learning_rate",
  }
  for words, expected in pairs(cases) do testing.contains(answer_to(words) or words .. ": nothing", expected) end
  local several = answer_to "linear"
  testing.contains(several, "no 'linear'; by where it is looked up:\n")
  testing.contains(several, "\n- gb.layers; here: gb.layers.Dense(units)\n")
  for _, wrong in ipairs { "Lineer", "some Linear", "layers.Denze", "", "--sett" } do
    testing.equal(answer_to(wrong), nil)
  end
  testing.equal(topics.near(list, "TextLineDatset")[1], "TextLineDataset")
end)

testing.case("kinds list all their topics", function()
  for _, kind in ipairs(topics.kinds) do
    local some = topics.of_kind(list, kind[2])
    testing.is_true(#some > 0, kind[2])
    for _, one in ipairs(some) do testing.equal(one.kind, kind[1]) end
  end
  testing.equal(topics.of_kind(list, "colums"), nil)
  local tuned = names_of(topics.of_kind(list, "tuned"))
  testing.contains(table.concat(tuned, "\n"), "remedy larger_batch")
  testing.is_true(#tuned < #topics.of_kind(list, "remedies"))
end)

testing.case("a search finds words anywhere, in names first", function()
  local found = topics.search(list, "Shuffle")
  testing.equal(found[1].name:lower():find "shuffle" ~= nil, true)
  testing.is_true(#found > 5)
  testing.equal(topics.search(list, "shuffle zzzz"), {})
  for _, one in ipairs(topics.search(list, "pinned memory")) do
    local text = (one.name .. " " .. one.sentence .. " " .. one.words):lower()
    testing.contains(text, "pinned")
    testing.contains(text, "memory")
  end
end)

testing.case("every topic has a sentence, and fits 80 columns", function()
  local wrong = {}
  for _, one in ipairs(list) do
    if one.sentence == "" then wrong[#wrong + 1] = one.kind .. " " .. one.name .. " has no sentence" end
    for _, line in ipairs(terminal.lines_of(one)) do
      for text in line:gmatch "[^\n]+" do
        local is_example, is_one_word = text:find "^    ", not text:find "%S%s+%S"
        if prose.length(text) > 80 and not is_example and not is_one_word then
          wrong[#wrong + 1] = one.name .. ": " .. text
        end
      end
    end
  end
  testing.equal(wrong, {})
end)

testing.case("pages have every topic, and their links lead to anchors", function()
  local made, anchors, count = pages.of(list), {}, 0
  for _, page in ipairs(made) do
    for anchor in page.text:gmatch '<a id="([^"]+)"></a>' do
      testing.equal(anchors[page.name .. "#" .. anchor], nil)
      anchors[page.name .. "#" .. anchor] = true
    end
    anchors[page.name] = true
  end
  for _, page in ipairs(made) do
    for target in page.text:gmatch "%]%(([^)]+)%)" do
      count = count + 1
      if not anchors[target] then error(page.name .. " links " .. target) end
    end
  end
  testing.is_true(count > 500)
  testing.equal(made[1].name, "index.md")
  for _, name in ipairs { "gb.layers.md#gb.layers.Dense", "Dataset.md#Dataset-map", "columns.md#input_wait_share",
    "commands.md#watch", "findings.md#input_bound", "remedies.md#larger_batch", "exit_status.md#3" } do
    testing.is_true(anchors[name], name)
  end
end)

testing.case("the missing folder of annotations is said", function()
  local resource = gb._native.system.resource
  gb._native.system.resource = function(path)
    if path == "lua/meta" then error "there is no lua/meta" end
    return resource(path)
  end
  local ok, reason = pcall(topics.documented)
  gb._native.system.resource = resource
  testing.is_true(not ok)
  testing.contains(reason, "help: the folder lua/meta is missing")
end)
