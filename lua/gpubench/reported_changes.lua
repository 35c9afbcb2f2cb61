-- Reported changes in words, for `gpubench history` and `gpubench nightly`.
local changes = {}

-- "#3 open", "#3 recovered with 20260301T020000Z-vm".
function changes.state(one)
  if one.state == "better" then return "#" .. one.id .. " better" end
  local text = string.format("#%d %s", one.id, one.state)
  if one.state == "recovered" then text = text .. " with " .. one.closed end
  if one.state == "resolved" then text = text .. " " .. one.closed .. (one.note == "" and "" or " (" .. one.note .. ")") end
  return text
end

-- One line: "#3 matmul step_time_s takes 4.1 % more time since 20260301T020000Z-vm on gpu:0 of vm, size=64; cause: ...".
function changes.line(one)
  return string.format("#%d %s %s %s since %s on %s%s%s; cause: %s", one.id, one.experiment, one.metric, one.change, one.run,
    one.slot == "" and "" or one.slot .. " of ", one.host, one.axes == "" and "" or ", " .. one.axes, one.cause)
end

return changes
