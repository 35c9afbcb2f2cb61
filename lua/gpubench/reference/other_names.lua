-- What `gpubench help` says of a name of Keras, tf.data or PyTorch, as core/base/other_names has it: its form here, or
-- that there is none, in the words of the errors of scripts.
local native = require("gpubench.native")._native
local topics = require "gpubench.reference.topics"

local other_names = {}

-- { text, is_absent, places }, one for all places that say the same.
local function answers_to(name)
  local answers, by_text = {}, {}
  for _, one in ipairs(native.reference.other_name(name)) do
    local known = by_text[one.text]
    if known then
      table.insert(known.places, one.place)
    else
      by_text[one.text] = { text = one.text, is_absent = one.is_absent, places = { one.place } }
      answers[#answers + 1] = by_text[one.text]
    end
  end
  return answers
end

-- Those of a place, if there are some.
local function at_place(answers, place)
  local kept = {}
  for _, answer in ipairs(answers) do
    for _, own in ipairs(answer.places) do
      if own == place then kept[#kept + 1] = answer end
    end
  end
  return kept
end

local function said(answer)
  return (answer.is_absent and "not in gpubench: " or "here: ") .. answer.text
end

-- The topics of what stands in gb among the answers, each once.
local function topics_in(list, answers)
  local found, seen = {}, {}
  for _, answer in ipairs(answers) do
    for path in answer.text:gmatch "gb%.[%w_.]*[%w_]" do
      for _, topic in ipairs((topics.find(list, path))) do
        if not seen[topic] then found[#found + 1] = topic end
        seen[topic] = true
      end
    end
  end
  return found
end

-- The answers with the topic that they name, or with the names of several.
local function topic_of(name, answers, named)
  local text = {}
  if answers[2] then
    text[1] = string.format("no '%s'; by where it is looked up:", name)
    for _, answer in ipairs(answers) do
      text[#text + 1] = string.format("- %s; %s", table.concat(answer.places, ", "), said(answer))
    end
  else
    text[1] = string.format("no '%s'; %s", name, said(answers[1]))
  end
  local parts, names = { { text = text } }, {}
  if #named == 1 then return { name = name, parts = table.move(named[1].parts, 1, #named[1].parts, 2, parts) } end
  for index, topic in ipairs(named) do names[index] = { name = topic.name, sentence = topic.sentence } end
  if names[1] then parts[2] = { title = "See also", names = names } end
  return { name = name, parts = parts }
end

-- The topics of a path without the modules of other libraries that it begins with: "keras" of "keras.layers.Dense".
local function own_topics(list, path)
  local head, rest = path:match "^([%w_]+)[.:](.+)$"
  while head and answers_to(head)[1] do
    local found = topics.find(list, rest)
    if found[1] then return found end
    head, rest = rest:match "^([%w_]+)[.:](.+)$"
  end
  return {}
end

-- A topic, { name, parts }, of words that no topic of ours has; nil where nothing is said of them.
function other_names.find(list, words)
  local path = words:gsub("%b()$", "")
  if path:find "[^%w_.: ]" then return nil end
  local before, name = path:match "^(.-)[.:]?([%w_]+)$"
  if not name then return nil end
  local answers = answers_to(name)
  -- `torch.std` and `nn.LeakyReLU` are other functions than those with their names here.
  local of_place = at_place(answers, before:match "([%w_]+) *$")
  if of_place[1] then return topic_of(path, of_place, topics_in(list, of_place)) end
  if path:find " " then return nil end
  local found = own_topics(list, path)
  if found[1] then
    local names = {}
    for index, topic in ipairs(found) do names[index] = topic.name end
    return topic_of(path, { { text = table.concat(names, ", or ") } }, found)
  end
  return answers[1] and topic_of(path, answers, topics_in(list, answers))
end

return other_names
