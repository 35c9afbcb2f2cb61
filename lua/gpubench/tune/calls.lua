-- The calls by which a script makes its pipeline and its training. While a script runs, calls are recorded (once,
-- before anything is measured) or changed (change.lua). Functions and methods without a change stay the program's own,
-- so that the point as it was is measured as it is.
local gb = require "gpubench.native"
local host = gb._native.host
-- Only this module may replace methods.
gb._native.host = nil

local calls = {}

local stages = {
  "shuffle", "map", "batch", "repeated", "take", "skip", "prefetch", "prefetch_to_device", "ignore_errors", "options",
  "filter", "padded_batch", "unbatch", "cache", "shard", "concatenate", "enumerate", "throttle", "interleave",
  "take_while", "scan", "unique", "group_by_window",
}

-- What may be recorded or changed: { owner, name, kind, is_method }. Kinds: "stage" makes a dataset, "use" trains on
-- one, "random" draws numbers.
local function targets()
  local list = {}
  local function add(owner, name, kind, is_method)
    if rawget(owner, name) then list[#list + 1] = { owner = owner, name = name, kind = kind, is_method = is_method } end
  end
  local function add_all(owner, kind)
    local names = {}
    for name, value in pairs(owner) do
      if type(value) == "function" then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do add(owner, name, kind) end
  end
  local dataset = host.methods "Dataset"
  for _, name in ipairs(stages) do add(dataset, name, "stage", true) end
  add(dataset, "iter", "use", true)
  add_all(gb.data.Dataset, "stage")
  add_all(gb.datasets, "stage")
  local model = host.methods "Model"
  add(model, "compile", "compile", true)
  add(model, "fit", "use", true)
  for _, name in ipairs { "training", "loop", "input_proof", "pipeline" } do add(gb.measure, name, "use") end
  add(gb.config, "set_dtype_policy", "policy")
  add(gb.config, "set_floatx", "policy")
  add(gb, "device", "device")
  add_all(gb.layers, "layer")
  add(host.methods "Tensor", "item", "read", true)
  add_all(gb.random, "random")
  for name in pairs(gb.image) do
    if name:find "^random_" then add(gb.image, name, "random") end
  end
  add(gb.data, "lua_function", "lua_function")
  return list
end

-- The calls of a name on a line. How many there are is asked of the source once: a call in every step must cost little
-- beside what it calls.
local function place_of(places, source, file, line, name)
  local of_file = places[file] or {}
  places[file] = of_file
  local place = of_file[line]
  if not place then
    local found = file == source.path and #source:calls(line, name) or 0
    place = { file = file, line = line, name = name, calls = found > 0 and found or nil, count = 0, wanted = {} }
    of_file[line] = place
  end
  return place
end

-- Which of the calls on the line the next one is; where the source does not tell, its number among all that were made.
local function next_number(place)
  place.count = place.count + 1
  return place.calls and (place.count - 1) % place.calls + 1 or place.count
end

local function key_of(site, number)
  return string.format("%s:%d:%s:%d", site.file, site.line, site.name, number)
end

local function changes_by_key(changes)
  local by_key, names = {}, {}
  for _, one in ipairs(changes) do
    if one.site then
      local key = key_of(one.site, one.site.number)
      by_key[key] = by_key[key] or {}
      table.insert(by_key[key], one)
      names[one.site.name] = true
    end
  end
  return by_key, names
end

local function call(original, instead, packed)
  if instead then return table.pack(instead(original, table.unpack(packed, 1, packed.n))) end
  return table.pack(original(table.unpack(packed, 1, packed.n)))
end

-- Returns the arguments and the results, both packed.
local function changed_call(target, original, changes, packed)
  local first, instead = target.is_method and 2 or 1, nil
  for _, one in ipairs(changes) do
    one.made = true
    if one.arguments then packed = one.arguments(packed, first) end
    instead = instead or one.instead
  end
  local results = call(original, instead, packed)
  for _, one in ipairs(changes) do
    if one.result then results[1] = one.result(results[1]) end
  end
  return packed, results
end

local nothing = {}

-- The changes of this call of a place.
local function changes_of(place, number, by_key)
  local wanted = place.wanted[number]
  if not wanted then
    wanted = by_key[key_of(place, number)] or nothing
    if place.calls then place.wanted[number] = wanted end
  end
  return wanted
end

-- source: of the script. changes: those to make. recorder: nil, or an object whose methods begin(target) -> any and
-- finish(target, site, that, packed, results) are called around every call. Returns a value that ends it when it is
-- closed.
function calls.install(source, changes, recorder)
  local by_key, names = changes_by_key(changes)
  local replaced = {}
  for _, target in ipairs(targets()) do
    if recorder or names[target.name] then
      local original, places = target.owner[target.name], {}
      replaced[#replaced + 1] = { target = target, original = original }
      target.owner[target.name] = function(...)
        local file, line = host.call_site()
        local place = file and place_of(places, source, file, line, target.name)
        local number = place and next_number(place)
        local wanted = place and changes_of(place, number, by_key) or nothing
        if not recorder and #wanted == 0 then return original(...) end
        if not recorder and #wanted == 1 and wanted[1].instead then
          wanted[1].made = true
          return wanted[1].instead(original, ...)
        end
        local site = place and { file = file, line = line, name = target.name, number = number }
        local begun = recorder and recorder:begin(target)
        local packed, results = changed_call(target, original, wanted, table.pack(...))
        if recorder then recorder:finish(target, site, begun, packed, results) end
        return table.unpack(results, 1, results.n)
      end
    end
  end
  for _, one in ipairs(changes) do
    one.made = nil
    if one.before then one.before() one.made = true end
  end
  return setmetatable({}, { __close = function()
    for index = #replaced, 1, -1 do
      replaced[index].target.owner[replaced[index].target.name] = replaced[index].original
    end
  end })
end

calls.definition, calls.begin_run = host.definition, host.begin_run

return calls
