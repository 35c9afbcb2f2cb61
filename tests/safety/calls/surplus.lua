-- Nothing that is given to a call is dropped: every function, method and callable object of lua/meta is called with one
-- argument too many, and those that take options with one option too many. None may succeed, whatever its other
-- arguments.
--   SAFETY_META    the files of lua/meta, between colons
--   SAFETY_SEED    the arguments
local gb = require "gpubench"
local signatures = require "signatures"
local values = require "values"

local attempts <const> = 12

local files, takes_any_number = {}, {}
for file in os.getenv("SAFETY_META"):gmatch "[^:]+" do
  files[#files + 1] = file
  local variable = false
  for line in io.lines(file) do
    variable = variable or line:find "^%-%-%-@param%s+%.%.%." ~= nil
    local path = line:match "^function%s+gb%.([%w_.]+)%(" or line:match "^function%s+([%w_]+:[%w_]+)%("
    if path and variable then takes_any_number[path:find ":" and path or "gb." .. path] = true end
    if not line:find "^%-%-%-" then variable = false end
  end
end
local doc = signatures.read(files)
-- Objects that are called with whatever the script's function takes, and by loops.
for _, name in ipairs { "CompiledFunction call", "Dataset call", "DatasetIterator call", "gb.skip" } do
  takes_any_number[name] = true
end
doc.names["Layer call"] = doc.names["Layer call"] and { "Tensor|SymbolicTensor", "CallOptions" }
doc.names["Model call"] = doc.names["Model call"] and { "Tensor|SymbolicTensor", "CallOptions" }
doc.names["Loss call"] = doc.names["Loss call"] and { "Tensor", "Tensor", "Tensor" }
doc.names["Schedule call"] = doc.names["Schedule call"] and { "integer" }
doc.fields.CallOptions, doc.field_names.CallOptions = { training = "boolean?" }, { "training" }

local function member_of_gb(path)
  local member = gb
  for part in path:gmatch "[^.]+" do member = rawget(member, part) end
  return member
end

local function callable(name)
  local path = name:match "^gb%.(.*)"
  if path then return member_of_gb(path) end
  local class, method = name:match "^(%w+):([%w_]+)$"
  if class then return function(object, ...) return object[method](object, ...) end, class end
  class = name:match "^(%w+) call$"
  if class then return function(object, ...) return object(...) end, class end
end

local names = {}
for name in pairs(doc.names) do
  local class = name:match "^(%w+)[ :]"
  if (not class or doc.bound[class]) and not takes_any_number[name] and callable(name) then names[#names + 1] = name end
end
table.sort(names)

-- The name of the options' class where the last parameter is one.
local function options_of(types)
  local last = (types[#types] or ""):gsub("%?$", "")
  for _, choice in ipairs(signatures.alternatives(last)) do
    if doc.fields[choice] and not doc.bound[choice] then return choice end
  end
end

-- Constructors take some of their options by place too; none takes this.
local surplus = coroutine.create(print)
local refused, dropped = 0, {}
local function try(name, extra_option)
  local called, class = callable(name)
  local types = doc.names[name]
  for _ = 1, attempts do
    local list, size = {}, 0
    local function add(value) size = size + 1 list[size] = value end
    if class then add(values.object(class)) end
    for k = 1, #types - (extra_option and 1 or 0) do add(values.typed(types[k])) end
    add(extra_option and { no_such_option = 1 } or surplus)
    local ok, reason = pcall(called, table.unpack(list, 1, size))
    if ok then
      local parts = {}
      for k = 1, size do parts[k] = values.show(list[k]) end
      dropped[#dropped + 1] = ("%s takes %s without a word: %s"):format(name,
        extra_option and "an option that there is not" or "an argument too many", table.concat(parts, ", "))
      return
    end
    if tostring(reason):find "takes at most" or tostring(reason):find "no_such_option" then refused = refused + 1 end
  end
end

math.randomseed(tonumber(os.getenv "SAFETY_SEED"), 1)
local out = assert(os.getenv "SAFETY_OUT")
gb.experiment { name = "surplus", title = "Surplus", run = function()
  values.open(doc, out .. "/results")
  for _, name in ipairs(names) do
    try(name)
    if options_of(doc.names[name]) then try(name, true) end
  end
  return { v = 1.0 }
end }
for _, line in ipairs(dropped) do print(line) end
print(("%d names, %d calls were refused for what is too many"):format(#names, refused))
-- Most are: the rest had other arguments that were wrong.
assert(#dropped == 0 and #names > 300 and refused > #names, "see above")
