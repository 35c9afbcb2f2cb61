-- What lua/meta says of every function, method, field and operator: names with the types of their parameters, the
-- fields of tables of options, the texts that are quoted anywhere (names of types, devices, layers, ...), and the
-- examples.
local signatures = {}

-- The type at the start of a text: up to a blank that is not within brackets nor behind ",", ":" or "|".
local function leading_type(text)
  local depth, at = 0, 1
  while at <= #text do
    local c = text:sub(at, at)
    if c:find "[%(<{%[]" then depth = depth + 1 end
    if c:find "[%)>}%]]" then depth = depth - 1 end
    if c == " " and depth == 0 and not text:sub(1, at - 1):find "[,:|]%s*$" then break end
    at = at + 1
  end
  return text:sub(1, at - 1)
end

-- "A|B" as a list, brackets kept whole.
local function alternatives(text)
  local list, depth, start = {}, 0, 1
  for at = 1, #text do
    local c = text:sub(at, at)
    if c:find "[%(<{%[]" then depth = depth + 1 end
    if c:find "[%)>}%]]" then depth = depth - 1 end
    if c == "|" and depth == 0 then
      list[#list + 1] = text:sub(start, at - 1)
      start = at + 1
    end
  end
  list[#list + 1] = text:sub(start)
  return list
end
signatures.alternatives = alternatives

local function read_line(doc, state, line)
  for quoted in line:gmatch '"([^"]*)"' do doc.texts[quoted] = true end
  local class = line:match "^%-%-%-@class%s+([%w_.]+)"
  if class then
    state.class = class
    doc.fields[class] = doc.fields[class] or {}
  end
  local field, type = line:match "^%-%-%-@field%s+([%w_]+)%??%s+(.+)"
  if field and state.class then doc.fields[state.class][field] = leading_type(type) end
  local operator = line:match "^%-%-%-@operator%s+(%a+)"
  if operator and state.class then doc.names[state.class .. " " .. operator] = {} end
  if line:match "^%-%-%-@overload" and state.class then doc.names[state.class .. " call"] = {} end
  local parameter = line:match "^%-%-%-@param%s+[%w_.]+%??%s+(.+)"
  if parameter then state.parameters[#state.parameters + 1] = leading_type(parameter) end
  local bound = line:match "^local%s+([%w_]+)%s*=%s*{}"
  if bound and bound ~= "gb" then doc.bound[bound] = true end
  local path = line:match "^function%s+gb%.([%w_.]+)%(" or line:match "^function%s+([%w_]+:[%w_]+)%("
  if path then doc.names[path:find ":" and path or "gb." .. path] = state.parameters end
  if not line:find "^%-%-%-" then state.parameters = {} end
end

local function read_example(doc, state, line, where)
  if line:match "^%-%-%-%s*```lua" then
    state.example = {}
  elseif state.example and line:match "^%-%-%-%s*```" then
    doc.examples[#doc.examples + 1] = { where = where, text = table.concat(state.example, "\n") }
    state.example = nil
  elseif state.example then
    table.insert(state.example, (line:gsub("^%-%-%-%s?", "")))
  end
end

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- { names: name -> types of parameters; fields: class -> name -> type; field_names: class -> list; texts: list;
-- examples: { where, text } }. Lists are sorted: the order of a set is another in every process.
function signatures.read(files)
  local doc = { names = {}, fields = {}, bound = {}, texts = {}, examples = {} }
  for _, path in ipairs(files) do
    local state, number = { parameters = {} }, 0
    for line in io.lines(path) do
      number = number + 1
      read_example(doc, state, line, path:match "[^/]+$" .. ":" .. number)
      if not state.example then read_line(doc, state, line) end
    end
  end
  for class in pairs(doc.bound) do
    for field in pairs(doc.fields[class] or {}) do doc.names[class .. "." .. field] = { "any" } end
  end
  doc.texts, doc.field_names = sorted(doc.texts), {}
  for class, fields in pairs(doc.fields) do doc.field_names[class] = sorted(fields) end
  return doc
end

-- Adds what the reference does not name.
function signatures.complete(doc)
  -- Classes that the reference leaves out: scripts get their objects from gb._native.
  doc.bound.Run, doc.bound.PointCall = true, true
  for method,
    types in pairs { ["Run:begin"] = { "Cells", "string" },
    ["Run:take"] = { "PointCall", "integer", "integer", "number" },
    ["Run:finish_points"] = { "integer", "table[]" }, ["Run:set_info"] = { "table" },
    ["Run:finish"] = { "FinishOptions" }, ["Run:directory"] = {}, ["Run:name"] = {}, ["Run:rows"] = {},
    ["Run:judged_rows"] = {}, ["Run:opening"] = { "TextOptions" }, ["Run:point_text"] = { "integer", "integer" },
    ["PointCall:agree"] = { "string", "string?" },
    ["PointCall:fail"] = { "string", "string?" }, ["PointCall:rows"] = {},
    ["PointCall:set_conditions"] = { "number?", "number?", "string?" } } do
    doc.names[method] = types
  end

  -- Sizes of stages may stand in the table of options, by name.
  for method,
    fields in pairs { shuffle = { buffer_size = "integer", seed = "integer?" }, repeated = { count = "integer?" },
    batch = { batch_size = "integer", drop_remainder = "boolean?" }, take = { count = "integer" },
    skip = { count = "integer" },
    padded_batch = { batch_size = "integer", drop_remainder = "boolean?" }, prefetch = { buffer_size = "integer?" },
    shard = { num_shards = "integer", index = "integer" } } do
    local class, types = "Dataset:" .. method, doc.names["Dataset:" .. method]
    types[1] = types[1] .. "|" .. class
    doc.fields[class], doc.field_names[class] = fields, {}
    for field in pairs(fields) do table.insert(doc.field_names[class], field) end
    table.sort(doc.field_names[class])
  end

  -- What every object may be used in, whether the reference has it or not.
  local forms = { index = { "any" }, newindex = { "any", "any" }, tostring = {}, eq = { "any" },
    lt = { "any" }, loop = {},
    ipairs = {} }
  local rows <const> = "integer|integer[]|(integer[])[]"
  for class in pairs(doc.bound) do
    for form, types in pairs(forms) do doc.names[class .. " " .. form] = doc.names[class .. " " .. form] or types end
  end
  doc.names["Layer.trainable"] = doc.names["Layer.trainable"] or { "boolean" }
  doc.names["Tensor index"], doc.names["Tensor newindex"] = { rows }, { rows, "Tensor|number|number[]|(number[])[]" }
end

return signatures
