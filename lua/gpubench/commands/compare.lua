-- `gpubench compare`: what is slower, faster or the same, and how sure that is.
local judged = require "gpubench.judged"

return function(options)
  return judged.print(judged.sides(options.sides, options))
end
