-- Why claims stay open, in plain words, and what settles them.
local doubts = {}

-- By what a reason says: the kind, what kept the claim open, and what to do. The first that matches counts.
local known = {
  { "other programs took", "busy", "other programs used the processors while it was measured",
    "repeat the run on an idle machine, or with --wait-idle 600" },
  { "rounds do not fit into", "long", "too few of its rounds fit into the time for a point",
    "repeat the run with a larger --budget" },
  { "came from buffers", "long", "examples that lay ready before the clock started would distort its rate",
    "repeat the run with a larger --budget" },
  { "rounds count, %d+ are needed", "noise", "too few of its rounds were steady",
    "repeat the run with a larger --budget, on an idle machine" },
  { "is known to %d+ %% only", "noise", "its times scatter too much",
    "repeat the run with a larger --budget, on an idle machine" },
  { "not settled after", "noise", "its times had not settled when the time for a point was over",
    "repeat the run with a larger --budget, on an idle machine" },
  { "%d+ of %d+ rows without a figure", "missing", nil, "mend what failed, or leave such points out with --set" },
  { "too few samples", "noise", "too few steps were measured", "repeat the run with a larger --budget" },
  { "points were not measured", "missing", "the run ended before all points were measured", "run it to its end" },
  { "still rising at the largest", "course", "the figure still rises at the last value",
    "measure larger values with --set" },
  { "which tells nothing of its scatter", "noise", "it was measured once, which says nothing of its scatter",
    "repeat the run with a larger --budget" },
  { "intervals overlap", "close", "the difference is smaller than the scatter",
    "a larger --budget narrows the intervals" },
}

-- { kind, why, remedy } of a reason; nil for one that is known by none of these.
function doubts.of(reason)
  for _, one in ipairs(known) do
    if reason:find(one[1]) then return { kind = one[2], why = one[3], remedy = one[4] } end
  end
  if reason:find "%[.*,.*%]" then  -- a figure with its interval, on both sides of a bound
    return { kind = "close", why = nil, remedy = "a larger --budget narrows the interval" }
  end
end

return doubts
