-- Random orders of their own generator: what a script draws with math.random does not change.

-- The numbers 1 to count in an order that depends on the seed only (Fisher and Yates; Knuth's MMIX generator).
return function(count, seed)
  local order, state = {}, seed
  for index = 1, count do
    state = state * 6364136223846793005 + 1442695040888963407
    local place = (state >> 33) % index + 1
    order[index] = order[place]
    order[place] = index
  end
  return order
end
