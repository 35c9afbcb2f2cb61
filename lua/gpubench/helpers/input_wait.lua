-- The 95 % interval of a row's input_wait_share, from that of its rate: what a step does beside waiting takes as long
-- in every step, so that steps differ by how long they wait.
-- A row that lacks any of these figures is left as it is.
local needed = { "input_wait_share", "examples_per_s", "examples_low_per_s", "examples_high_per_s" }

return function(row)
  if row.input_wait_low_share then return row end
  for _, name in ipairs(needed) do
    if type(row[name]) ~= "number" then return row end
  end
  local work = (1 - row.input_wait_share) / row.examples_per_s
  row.input_wait_low_share = math.max(1 - work * row.examples_high_per_s, 0)
  row.input_wait_high_share = math.min(1 - work * row.examples_low_per_s, 1)
  return row
end
