-- Rows that claims are judged on, for the tests of gb.expect.
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local claim_rows = {}

claim_rows.axes = { gb.axis("device", { "a", "b" }), gb.axis("n", { 1, 2, 4 }) }

-- One row per figure; `relative_error` is the half-width of the step time's interval, whose ends are those of the rate.
function claim_rows.of_rates(device, rates, relative_error)
  local list = {}
  for index, rate in ipairs(rates) do
    local n, time, off = 2 ^ (index - 1) // 1, 1 / rate, relative_error or 0
    list[index] = {
      status = "ok", device = device, n = math.tointeger(n), examples_per_s = rate, step_time_s = time,
      step_time_low_s = time * (1 - off), step_time_high_s = time * (1 + off),
      examples_low_per_s = rate / (1 + off), examples_high_per_s = rate / (1 - off),
    }
  end
  return list
end

-- The verdict on all these rows, and its reason.
function claim_rows.judge(claim, ...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  local one = claims.judge_all({ claim }, all, claim_rows.axes)[1]
  return one.verdict, one.reason
end

return claim_rows
