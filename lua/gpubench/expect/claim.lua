-- A claim: its text and the function that judges it on the rows of a run.
local native = require("gpubench.native")._native

local claim = {}
local mark = {}

-- fields: text, judge(claim, rows, axes) -> verdict, reason, and what judge reads.
function claim.new(fields)
  fields[mark] = true
  return fields
end

function claim.is(value)
  return type(value) == "table" and rawget(value, mark) == true
end

function claim.texts(claims)
  local texts = {}
  for index, one in ipairs(claims) do texts[index] = one.text end
  return texts
end

-- An array of { claim, verdict, reason }. A claim that fails is inconclusive: it must not cost the run. So is one that
-- holds for what was measured when `unmeasured` points never were.
function claim.judge_all(claims, rows, axes, unmeasured)
  local judged = {}
  for index, one in ipairs(claims) do
    local ok, verdict, reason = native.protect(one.judge, one, rows, axes)
    if not ok then verdict, reason = "inconclusive", "judging failed: " .. tostring(reason) end
    if verdict == "confirmed" and unmeasured and unmeasured > 0 then
      verdict, reason = "inconclusive", string.format("%d points were not measured; so far: %s", unmeasured, reason)
    end
    judged[index] = { claim = one.text, verdict = verdict, reason = reason }
  end
  return judged
end

return claim
