-- Calls from C++ into Lua run on the coroutine that runs: whatever is resumed, closed, raised, collected or called in
-- closing handlers, finalizers and functions that C++ calls, in each other.
local gb = require "gpubench"
local testing = require "testing"

local x, y = gb.ones { 4, 3 }, gb.ones { 4, 2 }
local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
model:compile { optimizer = "sgd", loss = "mse" }

-- The function that C++ calls for the dataset's next element tells where it was called.
local called_on
local told = gb.data.Dataset.from_generator(function()
  return function()
    called_on = coroutine.running()
    return 1
  end
end, { types = { "int64" } })
local next_told = told:iter()
local function probe(where)
  next_told()
  if called_on ~= coroutine.running() then error(where .. ": C++ called on another coroutine", 0) end
end

local function closing(body) return setmetatable({}, { __close = body }) end
local function finalized(body) return setmetatable({}, { __gc = body }) end
local function refused(text, ok, reason)
  if ok or not tostring(reason):find(text, 1, true) then
    error("expected '" .. text .. "', got " .. tostring(reason), 0)
  end
end
local function expect(value, wanted)
  if value ~= wanted then error("expected " .. tostring(wanted) .. ", got " .. tostring(value), 0) end
end

-- What happens.
local events = {
  nothing = function() end,
  resume = function()
    local co = coroutine.create(function(a) probe "resume" return a + coroutine.yield(2) end)
    expect(select(2, coroutine.resume(co, 1)), 2)
    probe "between resumes"
    expect(select(2, coroutine.resume(co, 5)), 6)
    refused("cannot resume dead coroutine", coroutine.resume(co))
  end,
  resume_that_fails = function()
    local co =
      coroutine.create(function() local _ <close> = closing(function() probe "after an error" end) error "odd" end)
    refused("odd", coroutine.resume(co))
    refused("odd", coroutine.close(co))
    expect(coroutine.status(co), "dead")
  end,
  wrap = function()
    local f = coroutine.wrap(function() probe "wrap" coroutine.yield(1) return 2 end)
    expect(f() + f(), 3)
    refused("cannot resume dead coroutine", pcall(f))
  end,
  wrap_that_fails = function()
    local closed = false
    refused("odd", pcall(coroutine.wrap(function()
      local _ <close> = closing(function()
        coroutine.wrap(function() end)()
        probe "closed by wrap"
        closed = true
      end)
      error "odd"
    end)))
    expect(closed, true)
  end,
  close = function()
    local closed = 0
    local co = coroutine.create(function()
      local _ <close> = closing(function() closed = closed + 1 probe "closed" end)
      local _ <close> = closing(function() coroutine.resume(coroutine.create(probe), "resumed while closing") end)
      coroutine.yield()
    end)
    coroutine.resume(co)
    expect(coroutine.close(co), true)
    expect(coroutine.close(co), true)
    expect(coroutine.close(coroutine.create(print)), true)
    expect(closed, 1)
  end,
  close_that_fails = function()
    local co = coroutine.create(function()
      local _ <close> = closing(function() probe "the other handler" end)
      local _ <close> = closing(function() coroutine.wrap(function() end)() error "odd" end)
      coroutine.yield()
    end)
    coroutine.resume(co)
    refused("odd", coroutine.close(co))
  end,
  close_refused = function()
    refused("cannot close a running coroutine", pcall(coroutine.close, coroutine.running()))
    local outer = coroutine.running()
    coroutine.wrap(
      function() refused("cannot close a normal coroutine", pcall(coroutine.close, outer)) probe "inside" end)()
    refused("coroutine expected", pcall(coroutine.close, 1))
  end,
  resume_refused = function()
    refused("cannot resume non-suspended coroutine", coroutine.resume(coroutine.running()))
    local outer = coroutine.running()
    coroutine.wrap(function() refused("cannot resume non-suspended coroutine", coroutine.resume(outer)) end)()
  end,
  close_in_close = function()
    local function nested(depth)
      local co = coroutine.create(function()
        local _ <close> = closing(function()
          if depth > 0 then nested(depth - 1) end
          probe("depth " .. depth)
        end)
        coroutine.yield()
      end)
      coroutine.resume(co)
      expect(coroutine.close(co), true)
      probe("behind depth " .. depth)
    end
    nested(8)
  end,
  forgotten = function()
    coroutine.wrap(function() local _ <close> = closing(error) coroutine.yield() end)()
    collectgarbage()
  end,
  yield_where_none_can = function()
    refused("attempt to yield", pcall(gb.tape, function() coroutine.yield() end))
    refused("attempt to yield", pcall(table.sort, { 1, 2 }, function() coroutine.yield() end))
  end,
  native = function()
    gb.tape(function() probe "tape" coroutine.wrap(probe)("coroutine in a tape") end)
    for _ in gb.data.Dataset.range(1):map(function(v) probe "map" return v + 1 end):iter() do probe "loop" end
  end,
  fit = function()
    model:fit(x, y, { verbose = 0, callbacks = { { on_epoch_begin = function()
      probe "callback"
      coroutine.wrap(function() probe "coroutine in a callback" end)()
    end } } })
  end,
  fit_that_fails = function()
    refused("odd", pcall(model.fit, model, x, y, { verbose = 0, callbacks = { { on_epoch_end = function()
      local _ <close> = closing(function() coroutine.wrap(probe)("coroutine of a failing callback") end)
      error "odd"
    end } } }))
  end,
  generator = function()
    local from = gb.data.Dataset.from_generator(function()
      local _ <close> = closing(function() coroutine.wrap(function() end)() end)
      for i = 1, 2 do probe "generator" coroutine.yield(i) end
    end, { types = { "int64" } })
    for _ in from do probe "loop over a generator" break end
    for _ in from do probe "whole loop" end
    local forgotten = from:iter()
    forgotten()
  end,
}

-- Where it happens: each calls its function.
local places = {
  here = function(event) event() end,
  coroutine = function(event) coroutine.wrap(event)() end,
  closed_coroutine = function(event)
    local co = coroutine.create(function() local _ <close> = closing(event) coroutine.yield() end)
    coroutine.resume(co)
    local ok, reason = coroutine.close(co)
    if not ok then error(reason, 0) end
  end,
  failed_coroutine = function(event)
    local problem
    pcall(coroutine.wrap(function()
      local _ <close> = closing(function() local ok, reason = pcall(event) problem = not ok and reason end)
      error "odd"
    end))
    if problem then error(problem, 0) end
  end,
  end_of_block = function(event) coroutine.wrap(function() local _ <close> = closing(event) end)() end,
  end_of_loop = function(event)
    for _ in next, { 1 }, nil, closing(event) do break end
  end,
  finalizer = function(event)
    local problem
    finalized(function() local ok, reason = pcall(event) problem = not ok and reason end)
    collectgarbage() collectgarbage()
    if problem then error(problem, 0) end
  end,
  finalizer_of_a_coroutine = function(event)
    local problem
    coroutine.wrap(function()
      finalized(function() local ok, reason = pcall(event) problem = not ok and reason end)
      collectgarbage() collectgarbage()
    end)()
    if problem then error(problem, 0) end
  end,
  error_handler = function(event)
    local problem
    xpcall(error, function() local ok, reason = pcall(event) problem = not ok and reason end)
    if problem then error(problem, 0) end
  end,
  sort = function(event)
    local done
    table.sort({ 2, 1 }, function(a, b) if not done then done = true event() end return a < b end)
  end,
  gsub = function(event) string.gsub("a", "a", function() event() end) end,
  metamethod = function(event) return setmetatable({}, { __index = function() event() end }).field end,
  function_of_native_code = function(event) gb.tape(function() event() end) end,
  callback = function(event)
    model:fit(x, y, { verbose = 0, callbacks = { { on_batch_end = function() event() end } } })
  end,
}

local function sorted(names)
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  return list
end
local kept = {}
local function clean_up()
  collectgarbage() collectgarbage()
  for i = 1, 200 do kept[i] = ("x"):rep(i) end  -- in the place of what was freed
  probe "after a collection"
end

for _, outer in ipairs(sorted(places)) do
  testing.case("in " .. outer, function()
    for _, inner in ipairs(sorted(places)) do
      for _, event in ipairs(sorted(events)) do
        local ok, reason = pcall(places[outer], function()
          places[inner](function()
            probe "before"
            events[event]()
            probe "after"
          end)
          probe "around"
        end)
        if not ok then error(inner .. ", " .. event .. ": " .. tostring(reason), 0) end
        probe(inner .. ", " .. event)
      end
      clean_up()
    end
    testing.note()
  end)
end

testing.case("where a coroutine can yield", function()
  testing.equal(coroutine.isyieldable(), false)
  coroutine.wrap(function()
    testing.equal(coroutine.isyieldable(), true)
    gb.tape(function() testing.equal(coroutine.isyieldable(), false) end)
    pcall(coroutine.close, coroutine.create(function() end))
    testing.equal(coroutine.isyieldable(), true)
  end)()
end)
