-- The topics of lua/meta: functions, methods, classes, options, modules and values of gb.
--
-- A topic is { kind, name, keys = { full, short, weak: lists of names by which it is found }, sentence, parts, words }.
-- Its parts are what is shown, in order: { code }, { text = lines }, { title, rows = { { name, type, text } } },
-- { signature }, { title, names = { { name, sentence } } }.
local documented = require "gpubench.reference.documented"
local prose = require "gpubench.reference.prose"

local api_topics = {}

local function without_gb(name)
  return (name:gsub("^gb%.", ""))
end

local function row_of(one, text)
  return { name = one.name, type = one.type .. (one.optional and "?" or ""), text = text or one.text }
end

local function signature_of(entry)
  local shown, open = "", ""
  for index, param in ipairs(entry.params) do
    local separator = index > 1 and ", " or ""
    if param.optional then
      shown, open = shown .. (index > 1 and " [" or "[") .. separator .. param.name, open .. "]"
    else
      shown = shown .. separator .. param.name
    end
  end
  local results = {}
  for _, one in ipairs(entry.returns) do results[#results + 1] = one.type end
  return string.format("%s(%s%s)%s", entry.name, shown, open, results[1] and ": " .. table.concat(results, ", ") or "")
end

-- The parameters, each with its text or that of the option of its name.
local function rows_of_params(doc, entry)
  local rows = {}
  for _, param in ipairs(entry.params) do
    local classes, text = documented.options_of(doc, param), param.text
    for _, class in ipairs(classes) do
      for _, field in ipairs(documented.fields_of(doc, class.name)) do
        if text == "" and field.name == param.name then text = field.text end
      end
    end
    if text ~= "" or #classes == 0 or not param.optional then rows[#rows + 1] = row_of(param, text) end
  end
  return rows
end

local function option_classes(doc, entry)
  local list, seen = {}, {}
  for _, param in ipairs(entry.params) do
    for _, class in ipairs(documented.options_of(doc, param)) do
      if not seen[class.name] then list[#list + 1] = class end
      seen[class.name] = true
    end
  end
  return list
end

local function rows_of_fields(fields)
  local rows = {}
  for index, field in ipairs(fields) do rows[index] = row_of(field) end
  return rows
end

-- Classes among the types of a result that say more: Row, History, ...
local function classes_of_results(doc, entry)
  local names, seen = {}, {}
  for _, one in ipairs(entry.returns) do
    for _, name in ipairs(one.types) do
      if doc.classes[name] and not seen[name] and name ~= entry.class then
        names[#names + 1] = { name = name, sentence = prose.first_sentence(doc.classes[name].text) }
      end
      seen[name] = true
    end
  end
  return names
end

local function words_of(parts)
  local words = {}
  for _, part in ipairs(parts) do
    if part.text then words[#words + 1] = prose.words(part.text) end
    for _, row in ipairs(part.rows or {}) do words[#words + 1] = row.name .. " " .. row.text end
  end
  return table.concat(words, " ")
end

local function finish(topic)
  topic.words = words_of(topic.parts)
  return topic
end

local function add_part(parts, part)
  local list = part.rows or part.names
  if not list or #list > 0 then parts[#parts + 1] = part end
end

local function function_topic(doc, entry)
  local parts = { { signature = signature_of(entry) }, { text = entry.text } }
  add_part(parts, { title = "Arguments", rows = rows_of_params(doc, entry) })
  for _, class in ipairs(option_classes(doc, entry)) do
    add_part(parts, { title = "Options (" .. class.name .. ")",
      rows = rows_of_fields(documented.fields_of(doc, class.name)) })
  end
  local results = {}
  for _, one in ipairs(entry.returns) do
    if one.text ~= "" then results[#results + 1] = { name = one.text, type = one.type, text = "" } end
  end
  add_part(parts, { title = "Returns", rows = results })
  add_part(parts, { title = "See also", names = classes_of_results(doc, entry) })
  local full = without_gb(entry.name)
  return finish { kind = entry.class and "method" or "function", name = entry.name, file = entry.file,
    keys = { full = { full }, short = { full:match "[^.:]+$" } }, sentence = prose.first_sentence(entry.text),
    parts = parts, class = entry.class }
end

local function listed(entries)
  local names = {}
  for index, entry in ipairs(entries) do
    names[index] = { name = entry.name, sentence = prose.first_sentence(entry.text) }
  end
  return names
end

-- Functions by the class of their options, those of classes that extend it too.
local function takers_of(doc)
  local takers = {}
  local function take(class, entry)
    takers[class.name] = takers[class.name] or {}
    table.insert(takers[class.name], entry.name)
    for base in (class.base or ""):gmatch "[%w_.]+" do
      if doc.classes[base] then take(doc.classes[base], entry) end
    end
  end
  local function add(entry)
    for _, class in ipairs(option_classes(doc, entry)) do take(class, entry) end
  end
  for _, entry in ipairs(doc.functions) do add(entry) end
  for _, name in ipairs(doc.order) do
    for _, entry in ipairs(doc.classes[name].methods) do add(entry) end
  end
  return takers
end

local function class_topic(doc, class, takers, is_column)
  local parts = { { text = class.text or {} } }
  local fields = {}
  for _, field in ipairs(documented.fields_of(doc, class.name)) do
    if not (class.name == "Row" and is_column(field.name)) then fields[#fields + 1] = row_of(field) end
  end
  add_part(parts, { title = takers and "Options" or "Fields", rows = fields })
  local calls = {}
  for _, one in ipairs(class.overloads or {}) do calls[#calls + 1] = one.type:gsub("^fun", class.name:lower()) end
  if calls[1] then parts[#parts + 1] = { title = "Called", code = calls } end
  add_part(parts, { title = "Methods", names = listed(class.methods) })
  local functions = {}
  for index, name in ipairs(takers or {}) do functions[index] = { name = name, sentence = "" } end
  add_part(parts, { title = "Taken by", names = functions })
  local sentence = prose.first_sentence(class.text)
  if sentence == "" and takers then sentence = "Options of " .. prose.some(takers, 3) .. "." end
  return finish { kind = "class", name = class.name, keys = { full = { class.name } }, sentence = sentence,
    parts = parts, is_options = takers ~= nil, file = class.file }
end

-- An option by its name, of all functions that take one of this name.
local function option_topics(doc, takers)
  local topics, by_name = {}, {}
  for _, class in ipairs(doc.order) do
    for _, field in ipairs(takers[class] and doc.classes[class].fields or {}) do
      local topic = by_name[field.name]
      if not topic and field.name ~= "[]" then
        topic = { kind = "option", name = field.name, keys = { weak = { field.name } }, parts = {} }
        topics[#topics + 1], by_name[field.name] = topic, topic
      end
      if topic then
        table.insert(topic.parts, { title = prose.some(takers[class], 4) .. " (" .. class .. ")",
          rows = { row_of(field) } })
        topic.takers = topic.takers or prose.some(takers[class], 2)
      end
    end
  end
  for _, topic in ipairs(topics) do
    topic.sentence = "Option of " .. topic.takers .. (#topic.parts > 1 and ", ..." or ".")
    finish(topic)
  end
  return topics
end

-- gb itself, and the tables in it.
local function module_topics(doc)
  local topics, by_path = {}, {}
  local function module(path)
    local name = path == "" and "gb" or "gb." .. path
    if not by_path[path] then
      local class = doc.classes["gpubench" .. (path == "" and "" or "." .. path)] or {}
      local entry = doc.tables[path] or {}
      local text = #(class.text or {}) > 0 and class.text or entry.text or {}
      by_path[path] = { kind = "module", name = name, keys = { full = { path == "" and "gb" or path },
        short = { path:match "[^.]+$" } }, parts = { { text = text } }, members = {} }
      topics[#topics + 1] = by_path[path]
    end
    return by_path[path]
  end
  for _, entry in ipairs(doc.functions) do
    local path = entry.name:match "^gb%.(.*)%.[^.]+$" or ""
    table.insert(module(path).members, { name = entry.name, sentence = prose.first_sentence(entry.text) })
  end
  local root = module ""
  for _, topic in ipairs(topics) do
    table.insert(topic.parts, { title = "Functions", names = topic.members })
    topic.sentence = prose.first_sentence(topic.parts[1].text)
    if topic.sentence == "" then topic.sentence = #topic.members .. " functions." end
    if topic ~= root then
      root.modules = root.modules or {}
      table.insert(root.modules, { name = topic.name, sentence = topic.sentence })
    end
  end
  table.sort(root.modules, function(a, b) return a.name < b.name end)
  root.sentence = "What a script gets by `require \"gpubench\"`."
  root.parts[1] = { text = { root.sentence } }
  table.insert(root.parts, 2, { title = "Modules", names = root.modules })
  for _, topic in ipairs(topics) do finish(topic) end
  return topics
end

local function value_topics(doc)
  local topics = {}
  for path, entry in pairs(doc.values) do
    local field = doc.classes.gpubench and doc.classes.gpubench.fields[path]
    local text = #entry.text > 0 and entry.text or { field and field.text or "" }
    topics[#topics + 1] = finish { kind = "value", name = entry.name, keys = { full = { path },
      short = { path:match "[^.]+$" } }, sentence = prose.first_sentence(text),
      parts = { { signature = entry.name .. (field and ": " .. field.type or " = " .. entry.value) },
        { text = text } } }
  end
  for name, alias in pairs(doc.aliases) do
    local text = #alias.text > 0 and alias.text or { alias.meaning }
    topics[#topics + 1] = finish { kind = "class", name = name, keys = { full = { name } },
      sentence = prose.first_sentence(text), parts = { { signature = name .. " = " .. alias.type }, { text = text } } }
  end
  table.sort(topics, function(a, b) return a.name < b.name end)
  return topics
end

-- `is_column`: whether a field of Row is one of the program's columns.
function api_topics.collect(doc, is_column)
  local topics = module_topics(doc)
  local takers = takers_of(doc)
  local function add(topic) topics[#topics + 1] = topic end
  for _, entry in ipairs(doc.functions) do add(function_topic(doc, entry)) end
  for _, name in ipairs(doc.order) do
    local class = doc.classes[name]
    if not name:find "^gpubench" then add(class_topic(doc, class, takers[name], is_column)) end
    for _, entry in ipairs(class.methods) do add(function_topic(doc, entry)) end
  end
  for _, topic in ipairs(value_topics(doc)) do add(topic) end
  for _, topic in ipairs(option_topics(doc, takers)) do add(topic) end
  return topics
end

return api_topics
