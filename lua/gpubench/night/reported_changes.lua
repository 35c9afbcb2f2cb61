-- Reported changes in words, for `gpubench history` and `gpubench nightly`.
local changes = {}

-- "#7f3k2qa9 open", "#7f3k2qa9 recovered with 20260301T020000Z-vm".
function changes.state(one)
  local id = one.alarm == "" and "" or "#" .. one.alarm .. " "
  local text = id .. one.state
  if one.state == "recovered" then text = text .. " with " .. one.closed end
  if one.state == "resolved" then
    text = text .. " " .. one.closed .. (one.note == "" and "" or " (" .. one.note .. ")")
  end
  return text
end

-- One line: "#7f3k2qa9 matmul step_time_s of size=64 on gpu:0 of vm: takes 4.1 % more time since 2026-03-01; cause:
-- ...". more: what stands behind the change.
function changes.line(one, more)
  return string.format("%s%s %s%s on %s%s: %s%s since %s; cause: %s", one.alarm == "" and "" or "#" .. one.alarm .. " ",
    one.experiment, one.metric, one.axes == "" and "" or " of " .. one.axes,
    one.slot == "" and "" or one.slot .. " of ",
    one.host, one.change, more or "", one.started:match "^[^T]*", one.cause)
end

-- One line for each alarm, of all of its changes: { { alarm, line, changes } }, in the order of their first ones.
function changes.by_alarm(list)
  local groups, order = {}, {}
  for _, one in ipairs(list) do
    if not groups[one.alarm] then
      groups[one.alarm] = { alarm = one.alarm, host = one.host, suite = one.suite }
      order[#order + 1] = groups[one.alarm]
    end
    table.insert(groups[one.alarm], one)
  end
  for _, group in ipairs(order) do
    group.line = changes.line(group[1], #group > 1 and string.format(", and %d more", #group - 1) or "")
  end
  return order
end

return changes
