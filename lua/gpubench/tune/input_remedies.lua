-- Remedies for the stages of pipelines (remedies.lua says what a row is).
local gb = require "gpubench.native"
local change = require "gpubench.tune.change"
local record = require "gpubench.tune.record"

local automatic = "gb.AUTOTUNE"

-- num_parallel_calls for the stages of these names that have one thread.
local function parallel(facts, names)
  local changes, others = {}, 0
  for _, name in ipairs(names) do
    for _, node in ipairs(record.stages(facts.pipelines, name)) do
      local calls = record.options(node).num_parallel_calls or 0
      if node.site and (calls == 0 or calls == 1) and not record.options(node).device then
        changes[#changes + 1] = change.field(node.site, 2, "num_parallel_calls", gb.AUTOTUNE, automatic)
      else
        others = others + 1
      end
    end
  end
  if #changes > 0 then return changes end
  return nil, others == 0 and "the pipeline has no " .. names[1]
    or string.format("every %s has several workers, or is not called by the script itself", names[1])
end

local function more_workers(facts)
  return parallel(facts, { "map", "image_folder" })
end

local function parallel_reads(facts)
  return parallel(facts, { "interleave" })
end

-- Stages behind which a prefetch still runs ahead of the training.
local passes_on = { prefetch = true, prefetch_to_device = true, take = true, skip = true, repeated = true,
  options = true }

local function has_prefetch(last)
  local node = last
  while node and passes_on[node.name] do
    if node.name:find "^prefetch" then return true end
    node = node.sources[1]
  end
  return false
end

local function runs_in_the_script(chain)
  for _, node in ipairs(chain) do
    if node.name == "from_generator" then return true end
  end
  return false
end

local function behind_each(facts, refusal, append)
  local changes, why = {}, "the script has no pipeline"
  for _, last in ipairs(facts.pipelines) do
    local reason = refusal(last)
    if not reason and not last.site then reason = "its last stage is not called by the script itself" end
    why = reason or why
    if not reason then changes[#changes + 1] = append(last) end
  end
  if #changes > 0 then return changes end
  return nil, why
end

local function prefetch(facts)
  return behind_each(facts, function(last)
    if has_prefetch(last) then return "the pipeline runs ahead of the training already" end
    if runs_in_the_script(record.chain(last)) then return "the elements are made by the script's own thread" end
  end, function(last)
    return change.append(last.site, ":prefetch(gb.AUTOTUNE)", function(data) return data:prefetch(gb.AUTOTUNE) end)
  end)
end

local function prefetch_to_device(facts)
  if not facts.has_own_memory then return nil, "the model's device works in the host's memory" end
  return behind_each(facts, function(last)
    if last.name == "prefetch_to_device" then return "batches wait in the device's memory already" end
    if runs_in_the_script(record.chain(last)) then return "the elements are made by the script's own thread" end
  end, function(last)
    local text = string.format(":prefetch_to_device(%q)", facts.device)
    return change.append(last.site, text, function(data) return data:prefetch_to_device(facts.device) end)
  end)
end

-- Stages that take time for every element.
local costs_time = {
  map = true, filter = true, take_while = true, scan = true, unique = true, group_by_window = true,
  interleave = true, padded_batch = true, throttle = true, tfrecord = true, csv = true,
  image_folder = true, list_files = true, idx = true, safetensors = true,
}

-- Why elements behind this stage differ from epoch to epoch, or must not be kept; nil where they are always the same.
local function varies(node)
  if node.name == "shuffle" then return "elements are shuffled" end
  if node.name == "from_generator" then return "a function of the script makes the elements" end
  if node.is_random then return "a map draws random numbers" end
  local drawn = (node.arguments or {})[node.name == "random" and 1 or 2]
  if (node.name == "random" or node.name == "sample_from_datasets") and type(drawn) == "table"
    and drawn.rerandomize_each_iteration then
    return "elements are drawn anew in each epoch"
  end
  if node.is_lua then return "a Lua function may draw other numbers in each epoch" end
  if node.name == "repeated" or node.name:find "^prefetch" then return "the stages before it take no time" end
  if node.name == "unknown" then return "a stage is not known" end
end

-- The last stage before the first whose elements vary, if a stage up to it takes time.
local function kept_stage(last)
  local kept, takes_time, why
  for _, node in ipairs(record.chain(last)) do
    if node.name == "cache" then return nil, "the pipeline has a cache already" end
    why = varies(node)
    if why then break end
    takes_time = takes_time or costs_time[node.name]
    kept = node
  end
  if not kept or not takes_time then
    return nil, why and why .. " before any stage that takes time" or "no stage takes time for each element"
  end
  if kept.size == math.huge then return nil, "an epoch has no end" end
  if not kept.site then return nil, "the stage to keep is not called by the script itself" end
  return kept
end

-- The first epoch fills a cache; the later ones are those that a training consists of.
local function filled(data)
  local cached = data:cache()
  for _ in cached:iter() do end
  return cached
end

local function cache(facts)
  local changes, why = {}, "the script has no pipeline"
  for _, last in ipairs(facts.pipelines) do
    local kept, reason = kept_stage(last)
    why = reason or why
    if kept then changes[#changes + 1] = change.append(kept.site, ":cache()", filled) end
  end
  if #changes > 0 then return changes end
  return nil, why
end

return {
  { name = "more_workers", propose = more_workers },
  { name = "parallel_reads", propose = parallel_reads },
  { name = "prefetch", propose = prefetch },
  { name = "cache", propose = cache },
  { name = "prefetch_to_device", propose = prefetch_to_device },
}
