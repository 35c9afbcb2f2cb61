-- All topics of the reference, and how they are found: by name, by kind, by words of their text, or nearly.
local api_topics = require "gpubench.reference.api_topics"
local check = require "gpubench.check"
local documented = require "gpubench.reference.documented"
local native = require("gpubench.native")._native
local table_topics = require "gpubench.reference.table_topics"

local topics = {}

-- Singular and plural, in the order in which lists have them.
topics.kinds = {
  { "command", "commands" }, { "function", "functions" }, { "method", "methods" }, { "module", "modules" },
  { "value", "values" }, { "class", "classes" }, { "option", "options" }, { "column", "columns" },
  { "finding", "findings" }, { "remedy", "remedies" }, { "experiment", "experiments" },
  { "exit status", "exit statuses" }, { "variable", "variables" }, { "command option", "command options" },
}

local order = {}
for index, kind in ipairs(topics.kinds) do order[kind[1]] = index end

-- The annotations of the functions, which are installed beside the library.
function topics.documented()
  local ok, folder = pcall(native.system.resource, "lua/meta")
  if not ok then
    check.fail("help: the folder lua/meta is missing, which describes the functions; it is installed beside "
      .. "lua/gpubench: %s", tostring(folder))
  end
  return documented.read(native.system.scripts_in(folder))
end

-- All topics, a list.
function topics.all()
  local columns, list = {}, table_topics.collect()
  for _, one in ipairs(list) do
    if one.kind == "column" then
      columns[one.name] = true
      for _, name in ipairs(one.keys.short or {}) do columns[name] = true end
    end
  end
  local api = api_topics.collect(topics.documented(), function(name) return columns[name] end)
  table.move(api, 1, #api, #list + 1, list)
  table.sort(list, function(a, b)
    if order[a.kind] ~= order[b.kind] then return order[a.kind] < order[b.kind] end
    local left, right = tonumber(a.name), tonumber(b.name)
    if left and right then return left < right end
    return a.name < b.name
  end)
  return list
end

-- How names are compared: "gb." may be left out, and a method may have a dot.
local function normal(name)
  return (name:gsub("^gb%.", ""):gsub("%(%)$", ""):gsub(":", "."))
end

-- How well a topic answers to a name; nil if not at all. Exact names come before parts of names and names of options,
-- and letters as they are written before capitals that are not.
local function rank(topic, name)
  local best
  for level, keys in ipairs { topic.keys.full or {}, topic.keys.short or {}, topic.keys.weak or {} } do
    for _, key in ipairs(keys) do
      local written = normal(key)
      local own = written == name and 2 * level - 1 or written:lower() == name:lower() and 2 * level or nil
      if own and (not best or own < best) then best = own end
    end
  end
  return best
end

-- The kind that words begin with, and the words behind it.
local function kind_in(words)
  words = words .. " "
  local found, longest = nil, 0
  for _, kind in ipairs(topics.kinds) do
    for _, name in ipairs(kind) do
      local begins = words:sub(1, #name + 1):lower() == name .. " "
      if begins and #name > longest then found, longest = kind[1], #name end
    end
  end
  return found, words:sub(longest + 2, -2)
end

-- Those that pass.
local function filtered(list, passes)
  local kept = {}
  for _, one in ipairs(list) do
    if passes(one) then kept[#kept + 1] = one end
  end
  return kept
end

-- The topics of a kind, by its singular or plural, or nil; "tuned": the remedies that `gpubench tune` tries.
function topics.of_kind(list, words)
  if words == "tuned" then return filtered(list, function(one) return one.is_tuned end) end
  local kind, rest = kind_in(words)
  if kind and rest == "" then return filtered(list, function(one) return one.kind == kind end) end
end

local function ranked(list, name)
  local best, found, others = math.huge, {}, {}
  for _, one in ipairs(list) do
    local own = rank(one, name)
    if own and own < best then
      table.move(found, 1, #found, #others + 1, others)
      best, found = own, { one }
    elseif own == best then
      found[#found + 1] = one
    elseif own then
      others[#others + 1] = one
    end
  end
  return found, others
end

-- The topics that a name means best, and others that it may mean. "column batch_size" asks for one kind.
function topics.find(list, words)
  local found, others = ranked(list, normal(words))
  if found[1] then return found, others end
  local kind, rest = kind_in(words)
  if not kind or rest == "" then return {}, {} end
  return ranked(filtered(list, function(one) return one.kind == kind end), normal(rest))
end

-- The topics whose name or text has all words, those with a name first.
function topics.search(list, words)
  local wanted = {}
  for word in words:lower():gmatch "%S+" do wanted[#wanted + 1] = word end
  local function has_all(text)
    text = text:lower()
    for _, word in ipairs(wanted) do
      if not text:find(word, 1, true) then return false end
    end
    return true
  end
  local by_name, by_sentence, by_text = {}, {}, {}
  for _, one in ipairs(list) do
    if has_all(one.name) then
      by_name[#by_name + 1] = one
    elseif has_all(one.name .. " " .. one.sentence) then
      by_sentence[#by_sentence + 1] = one
    elseif has_all(one.name .. " " .. one.sentence .. " " .. one.words) then
      by_text[#by_text + 1] = one
    end
  end
  table.move(by_sentence, 1, #by_sentence, #by_name + 1, by_name)
  return table.move(by_text, 1, #by_text, #by_name + 1, by_name)
end

-- Up to three names that are nearly as written, of topics and of other libraries.
function topics.near(list, word)
  local names, seen = {}, {}
  for _, one in ipairs(list) do
    for _, keys in ipairs { one.keys.full or {}, one.keys.short or {}, one.keys.weak or {} } do
      for _, name in ipairs(keys) do
        if not seen[name] then names[#names + 1] = name end
        seen[name] = true
      end
    end
  end
  for _, name in ipairs(native.reference.other_names()) do
    if not seen[name] then names[#names + 1] = name end
  end
  local near = {}
  for _ = 1, 3 do
    local name = native.results.suggestion(word, names):match "'(.*)'"
    if not name then break end
    near[#near + 1] = name
    names = filtered(names, function(one) return one ~= name end)
  end
  return near
end

return topics
