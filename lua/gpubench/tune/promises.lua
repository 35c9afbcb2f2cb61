-- What the diagnosis of a row promises for each remedy.
local promises = {}

-- { [remedy] = { value = how many times as good the figure would be at most } }
function promises.of()
  return {}
end

return promises
