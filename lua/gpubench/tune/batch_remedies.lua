-- Remedies for how examples become batches (remedies.lua says what a row is).
local change = require "gpubench.tune.change"
local native = require("gpubench.native")._native
local record = require "gpubench.tune.record"

-- Enough to show whether steps are too small; how large a batch may be is the experiment batch_size's question.
local batch_factor = 4

local function size_edit(size)
  return function(source, call)
    local text = source:argument_text(call, 1)
    if not text then return nil end
    if tonumber(text) then return source:replace_argument(call, 1, tostring(size * batch_factor)) end
    if text:find "^{" then return nil end
    return source:wrap_argument(call, 1, batch_factor .. " * (", ")")
  end
end

local usual_batch_of_fit = 32

-- fit(inputs, labels, options), which makes the batches itself.
local function larger_batches_of_fit(facts, changes)
  for _, use in ipairs(facts.uses) do
    local options = use.arguments[3] or {}
    if use.name == "fit" and use.site and #use.sources == 0 and not options.is then
      local size = options.batch_size or usual_batch_of_fit
      if math.type(size) == "integer" and size > 0 then
        changes[#changes + 1] = change.field(use.site, 3, "batch_size", size * batch_factor,
          tostring(size * batch_factor))
      end
    end
  end
end

local function larger_batch(facts)
  if facts.figure == "step_time_s" then
    return nil, "steps of different batches cannot be compared by step_time_s; --figure names another column"
  end
  local changes, why = {}, "the script makes no batches by dataset:batch or fit"
  larger_batches_of_fit(facts, changes)
  for _, node in ipairs(record.stages(facts.pipelines, "batch")) do
    local size, source = node.arguments[1], node.sources[1] or {}
    if not node.site or math.type(size) ~= "integer" then
      why = "the batch size is not a number that the script gives to batch"
    elseif source.size and source.size < size * batch_factor then
      why = string.format("an epoch has %s examples, fewer than a batch of %d", source.size, size * batch_factor)
    else
      changes[#changes + 1] = change.argument(node.site, 1,
        string.format("%d instead of %d", size * batch_factor, size),
        function(value) return math.type(value) == "integer" and value * batch_factor or value end, size_edit(size))
    end
  end
  if #changes > 0 then return changes end
  return nil, why
end

-- The greatest difference between numbers of equal place, as a share of the larger one; nil where shapes differ.
local function difference(a, b)
  if type(a) ~= "table" then
    return type(b) ~= "table" and math.abs(a - b) / math.max(math.abs(a), math.abs(b), 1e-30) or nil
  end
  if type(b) ~= "table" or #a ~= #b then return nil end
  local most = 0
  for index, one in ipairs(a) do
    local own = difference(one, b[index])
    if not own then return nil end
    most = math.max(most, own)
  end
  return most
end

local function first_of(data)
  for first, second in data:iter() do return first:to_table(), second and second:to_table() or {} end
end

local most_different = 1e-5

-- A function of single elements may mean something else for a batch, such as the mean of all its numbers.
local function check_alike(one_by_one, batched)
  local first, second = first_of(one_by_one)
  local other_first, other_second = first_of(batched)
  local differs = { difference(first, other_first) or math.huge, difference(second, other_second) or math.huge }
  if differs[1] > most_different or differs[2] > most_different then
    native.fail "the map's function gives other numbers for a whole batch than for single elements"
  end
end

-- The map in front of a batch, behind it: the function gets whole batches.
local function map_behind_batch(map_site, batch_site)
  local pending, maps, is_checked = setmetatable({}, { __mode = "k" }), {}, false
  local advice = string.format("map behind batch: batch in line %d, then the map of line %d", batch_site.line,
    map_site.line)
  return {
    {
      site = map_site, what = "all", text = advice, advice = advice,
      instead = function(map, data, ...)
        pending[data], maps[1] = table.pack(...), map
        return data
      end,
    },
    {
      site = batch_site, what = "all", text = advice, advice = advice,
      instead = function(batch, data, ...)
        local arguments, map = pending[data], maps[1]
        if not arguments then return batch(data, ...) end
        local batched = map(batch(data, ...), table.unpack(arguments, 1, arguments.n))
        if not is_checked then check_alike(batch(map(data, table.unpack(arguments, 1, arguments.n)), ...), batched) end
        is_checked = true
        return batched
      end,
    },
  }
end

local function batched_map(facts)
  local changes, why = {}, "no map stands in front of a batch"
  for _, node in ipairs(record.stages(facts.pipelines, "batch")) do
    local map = node.sources[1]
    if map and map.name == "map" then
      if not node.site or not map.site then
        why = "map and batch are not called by the script itself"
      elseif map.is_random or map.is_lua or map.readers > 1 or record.options(map).device then
        why = "the map draws random numbers, is a Lua function, runs on a device, or is read elsewhere too"
      else
        local pair = map_behind_batch(map.site, node.site)
        table.move(pair, 1, 2, #changes + 1, changes)
      end
    end
  end
  if #changes > 0 then return changes end
  return nil, why
end

return {
  { name = "batched_map", propose = batched_map },
  { name = "larger_batch", propose = larger_batch, changes_results = true, divides = batch_factor },
}
