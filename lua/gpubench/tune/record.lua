-- What a script's run calls, as plain data that keeps no dataset, model or tensor alive: the stages of its pipelines,
-- and how it trains on them.
local Recorder = {}
Recorder.__index = Recorder

local record = {}

local most_depth = 3

-- Numbers, texts and tables of them; of anything else only what it is.
local function plain(value, depth)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" or kind == "nil" then return value end
  if kind ~= "table" or depth == 0 then return { is = kind } end
  local copy = {}
  for key, own in pairs(value) do
    if type(key) == "number" or type(key) == "string" then copy[key] = plain(own, depth - 1) end
  end
  return copy
end

local function is_dataset(value)
  return type(value) == "userdata" and tostring(value):find "^Dataset%(" ~= nil
end

function record.new()
  return setmetatable({
    nodes = setmetatable({}, { __mode = "k" }), stages = {}, uses = {}, compiles = {}, devices = {}, reads = {},
    policies = 0, random_calls = 0, lua_functions = setmetatable({}, { __mode = "k" }),
  }, Recorder)
end

-- Calls from here on are those of the experiment's function `run`, which is defined on this line.
function Recorder:enter_run(line)
  self.run_line, self.is_in_run = line, true
end

function Recorder:begin()
  return self.random_calls
end

-- The nodes of datasets among values, also of those in a list.
local function sources_among(self, values, count)
  local list = {}
  for index = 1, count do
    local value = values[index]
    if is_dataset(value) then
      list[#list + 1] = self.nodes[value] or { name = "unknown", sources = {}, arguments = {} }
    elseif type(value) == "table" then
      table.move(sources_among(self, value, #value), 1, #value, #list + 1, list)
    end
  end
  return list
end

-- Arguments without self.
local function plain_arguments(target, packed)
  local first, list = target.is_method and 2 or 1, {}
  for index = first, packed.n do list[index - first + 1] = plain(packed[index], most_depth) end
  return list
end

local finishers = {}

function finishers.stage(self, target, site, begun, packed, results)
  local dataset = results[1]
  if not is_dataset(dataset) then return end
  local node = {
    name = target.name, site = site, sources = sources_among(self, packed, packed.n), size = dataset.size,
    arguments = plain_arguments(target, packed), is_random = self.random_calls > begun,
  }
  for index = 1, packed.n do
    if type(packed[index]) == "userdata" and self.lua_functions[packed[index]] then node.is_lua = true end
  end
  for _, own in ipairs(node.sources) do own.readers = (own.readers or 0) + 1 end
  self.nodes[dataset] = node
  self.stages[#self.stages + 1] = node
end

function finishers.use(self, target, site, _, packed)
  self.uses[#self.uses + 1] = {
    name = target.name, site = site, arguments = plain_arguments(target, packed),
    sources = sources_among(self, packed, packed.n),
  }
end

function finishers.compile(self, target, site, _, packed)
  self.compiles[#self.compiles + 1] = { site = site, arguments = plain_arguments(target, packed) }
end

function finishers.policy(self)
  self.policies = self.policies + 1
end

function finishers.device(self, target, site, _, packed)
  self.devices[#self.devices + 1] = { site = site, arguments = plain_arguments(target, packed) }
end

function finishers.layer(self)
  if self.has_layers then return end
  self.has_layers, self.layers_line = true, self.is_in_run and self.run_line or nil
end

function finishers.random(self)
  self.random_calls = self.random_calls + 1
end

finishers["lua_function"] = function(self, _, _, _, _, results)
  self.lua_functions[results[1]] = true
end

-- Reads of the device, by the place where they stand.
function finishers.read(self, _, site)
  if not site then return end
  for _, one in ipairs(self.reads) do
    if one.site.line == site.line and one.site.number == site.number and one.site.file == site.file then
      one.count = one.count + 1
      return
    end
  end
  self.reads[#self.reads + 1] = { site = site, count = 1 }
end

function Recorder:finish(target, site, begun, packed, results)
  finishers[target.kind](self, target, site, begun, packed, results)
end

-- The pipelines that are trained on, each its last stage; where none is known, those that nothing else reads.
function Recorder:pipelines()
  local list, seen = {}, {}
  local function add(node)
    if not seen[node] then list[#list + 1] = node end
    seen[node] = true
  end
  for _, use in ipairs(self.uses) do
    for _, node in ipairs(use.sources) do add(node) end
  end
  for _, node in ipairs(#list == 0 and self.stages or {}) do
    if not node.readers then add(node) end
  end
  return list
end

-- A pipeline's stages, sources first.
function record.chain(last)
  local chain, seen = {}, {}
  local function visit(node)
    if seen[node] then return end
    seen[node] = true
    for _, own in ipairs(node.sources) do visit(own) end
    chain[#chain + 1] = node
  end
  visit(last)
  return chain
end

-- The stages of that name in pipelines, each once.
function record.stages(pipelines, name)
  local list, seen = {}, {}
  for _, last in ipairs(pipelines) do
    for _, node in ipairs(record.chain(last)) do
      if node.name == name and not seen[node] then list[#list + 1] = node end
      seen[node] = true
    end
  end
  return list
end

-- The options of a stage whose second argument they are.
function record.options(node)
  local options = node.arguments[2]
  return type(options) == "table" and not options.is and options or {}
end

-- Whether the run has anything that a remedy could be about.
function Recorder:is_empty()
  return #self.stages == 0 and #self.uses == 0 and #self.compiles == 0
end

return record
