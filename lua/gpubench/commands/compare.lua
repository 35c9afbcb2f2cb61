-- `gpubench compare`: what is slower, faster or the same, and how sure that is.
local comparisons = require "gpubench.comparisons"

return function(options)
  return comparisons.print(comparisons.sides(options.sides, options))
end
