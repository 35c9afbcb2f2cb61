-- The remedies that `gpubench tune` tries, in its order, by the names of core/diagnose. A row is { name,
-- propose(facts), changes_results, divides }: propose returns the changes of the script (change.lua), or nil and why it
-- does not apply; rows that change what is learned are measured apart from the others; divides: by how much the change
-- divides what it would remove, if it does not remove all of it.
--
-- facts: what a run called (record.lua: pipelines, uses, compiles, devices, reads, policies, has_layers, layers_line),
-- the device of the model, whether that has_own_memory, the figure to improve, and of_no_use: what the row's facts rule
-- out (core/diagnose/no_use).
local check = require "gpubench.check"
local native = require("gpubench.native")._native

local remedies = {}

local rows = {}
for _, list in ipairs {
  require "gpubench.tune.input_remedies", require "gpubench.tune.batch_remedies", require "gpubench.tune.step_remedies",
} do
  table.move(list, 1, #list, #rows + 1, rows)
end

function remedies.names()
  local names = {}
  for index, row in ipairs(rows) do names[index] = row.name end
  return names
end

-- The names that the command line asks for; all where it asks for none.
function remedies.check(wanted)
  local known, names = {}, remedies.names()
  for _, name in ipairs(names) do known[name] = true end
  for _, name in ipairs(wanted or {}) do
    if not known[name] then
      check.fail("tune: --remedy %s: there is no such remedy (remedies: %s)%s", name, table.concat(names, ", "),
        native.results.suggestion(name, names))
    end
  end
end

-- A call that is made several times is changed once.
local function distinct(changes)
  local list, seen = {}, {}
  for _, one in ipairs(changes) do
    local site = one.site
    local key = site and string.format("%s:%d:%s:%d:%s", site.file, site.line, site.name, site.number,
      one.what) or one.what
    if not seen[key] then list[#list + 1] = one end
    seen[key] = true
  end
  return list
end

-- Those that apply, each { name, changes, changes_results, divides }, and of the others { name, reason }.
function remedies.propose(facts, wanted)
  local asked = {}
  for _, name in ipairs(wanted or remedies.names()) do asked[name] = true end
  local applicable, others = {}, {}
  for _, row in ipairs(rows) do
    if asked[row.name] then
      local changes, reason
      if facts.of_no_use[row.name] then reason = facts.of_no_use[row.name] else changes, reason = row.propose(facts) end
      if changes then
        applicable[#applicable + 1] = {
          name = row.name, changes = distinct(changes), changes_results = row.changes_results or false,
          divides = row.divides,
        }
      else
        others[#others + 1] = { name = row.name, reason = reason }
      end
    end
  end
  return applicable, others
end

return remedies
