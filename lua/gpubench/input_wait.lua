-- The 95 % interval of a row's input_wait_share, from that of its rate: what a step does beside waiting takes as long in
-- every step, so that steps differ by how long they wait.
return function(row)
  if row.input_wait_low_share or not (row.examples_low_per_s and row.examples_high_per_s) then return row end
  local work = (1 - row.input_wait_share) / row.examples_per_s
  row.input_wait_low_share = math.max(1 - work * row.examples_high_per_s, 0)
  row.input_wait_high_share = math.min(1 - work * row.examples_low_per_s, 1)
  return row
end
