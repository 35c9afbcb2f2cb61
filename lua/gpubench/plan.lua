-- What a sweep is going to do, told before it: which points it leaves out and how long each takes.
local native = require("gpubench.native")._native
local options = native.options

local plan = {}

-- skip may also end with gb.skip(reason).
local function reason_to_skip(declaration, point)
  if not declaration.skip then return nil end
  local ok, status, detail = native.protect(declaration.skip, point)
  if ok then return status and tostring(status) end
  if status == "skipped" then return detail end
  error(detail, 0)
end

-- For each point { skipped = reason, seconds = about }: no seconds where it is left out.
function plan.of(declaration, points)
  local list = {}
  for index, point in ipairs(points) do
    local skipped, seconds = reason_to_skip(declaration, point), 0
    if not skipped then
      seconds = declaration.seconds and declaration.seconds(point, options.point_s) or options.point_s
    end
    list[index] = { skipped = skipped, seconds = seconds }
  end
  return list
end

return plan
