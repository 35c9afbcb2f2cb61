-- A dataset of very many stages is an error that says how many there may be.
local gb = require "gpubench"
local testing = require "testing"

testing.case("300 000 stages", function()
  testing.contains(testing.refuses(function()
    local d = gb.data.Dataset.range(10)
    for _ = 1, 300000 do d = d:take(10) end
    for _ in d:iter() do end
  end), "stages")
end)
testing.case("a concatenation of 50 000", function()
  testing.contains(testing.refuses(function()
    local d = gb.data.Dataset.range(1)
    for _ = 1, 50000 do d = d:concatenate(gb.data.Dataset.range(1)) end
    for _ in d:iter() do end
  end), "stages")
end)
