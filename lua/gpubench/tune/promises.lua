-- What the diagnosis of a row promises for each remedy: how many times as good the row could be at most.
local native = require("gpubench.native")._native

local promises = {}

-- Old over new step time where a share of the step disappears (Amdahl's law).
local function times_without(share)
  return share < 1 and 1 / (1 - math.max(share, 0)) or math.huge
end

-- What findings say that disappears at most: they are about different parts of the step, so that their gains add up.
local function gains_by_remedy(row)
  local gains = {}
  for _, finding in ipairs(native.findings(row)) do
    for _, remedy in ipairs(finding.remedies) do
      local gain = gains[remedy.name] or { share = 0, low = 0, high = 0 }
      gain.share = gain.share + finding.gain_share
      gain.low = gain.low + (finding.gain_low_share or finding.gain_share)
      gain.high = gain.high + (finding.gain_high_share or finding.gain_share)
      gains[remedy.name] = gain
    end
  end
  return gains
end

-- sets: those whose remedies are measured, each with reach(row, share): what its change can remove of the share of the step
-- that findings say disappears (all of it where there is none). Returns { [remedy] = { value, low, high } }; a remedy that
-- no finding proposes has none, nor has a row without steps.
function promises.of(row, sets)
  local gains, list = row and gains_by_remedy(row) or {}, {}
  for _, set in ipairs(sets) do
    local gain = gains[set.name]
    local function times(share) return times_without(set.reach and set.reach(row, share) or share) end
    if gain and gain.share > 0 then
      list[set.name] = { value = times(gain.share), low = times(gain.low), high = times(gain.high) }
    end
  end
  return list
end

return promises
