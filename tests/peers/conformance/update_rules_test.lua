-- Other rules of optimizers, averages of weights and schedules with restarts against Keras (update_rules_values.lua,
-- written by update_rules.py).
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/update_rules_values.lua"
local steps_of = dofile "tests/peers/conformance/steps_of.lua"

compare.run(reference.optimizers, steps_of.check_optimizer)
compare.run(reference.schedules, steps_of.check_schedule)
