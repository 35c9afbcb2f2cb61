-- What the mobile nets of the zoo share.
local mobilenet = {}

-- Channels for a factor of all widths: a multiple of 8, at least 8, and not less than 90 % of what the factor gives.
function mobilenet.scaled(channels, factor)
  local wanted = channels * factor
  local rounded = math.max(8, (wanted + 4) // 8 * 8)
  return math.tointeger(rounded < 0.9 * wanted and rounded + 8 or rounded)
end

return mobilenet
