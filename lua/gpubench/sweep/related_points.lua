-- Which points of a sweep are measured in turn, because a claim compares them.
local claim = require "gpubench.expect.claim"
local rounds = require "gpubench.sweep.rounds"

local related_points = {}

-- The points that claims compare, by their first one: { [number] = { numbers of points } }, and all of them as a set.
function related_points.of(declaration, axes, points)
  local function point_at(index)
    local values = {}
    for _, one in ipairs(axes) do values[one.name] = points[index][one.name] end
    return values
  end
  local by_first, set = {}, {}
  local has_trials = declaration.trials ~= nil
  for _, group in ipairs(claim.relations(declaration.expect or {}, #points, point_at, axes, has_trials)) do
    by_first[group[1]] = group
    for _, index in ipairs(group) do set[index] = true end
  end
  return by_first, set
end

-- How many calls of `run` a point takes, as far as it is known before the first: a function of the point's number.
function related_points.calls(declaration, axes, points)
  local _, related = related_points.of(declaration, axes, points)
  return function(index) return declaration.trials or related[index] and rounds.most or 1 end
end

return related_points
