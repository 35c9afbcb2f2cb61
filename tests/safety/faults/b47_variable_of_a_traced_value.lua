-- A value of a function that was being traced has no numbers: no variable can begin with it.
local gb = require "gpubench"
local testing = require "testing"

testing.case("gb.Variable of a traced value, while it is traced and later", function()
  local kept
  gb.compile(function(x)
    testing.refuses(gb.Variable, x)
    kept = x + 1
    return kept
  end)(gb.ones { 2 })
  testing.refuses(gb.Variable, kept)
end)
