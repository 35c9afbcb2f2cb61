-- Optimizers and schedules against Keras (optimizers_values.lua, written by optimizers.py).
local gb = require "gpubench"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/optimizers_values.lua"
local of_rules = dofile "tests/peers/conformance/update_rules_values.lua"
local steps_of = dofile "tests/peers/conformance/steps_of.lua"

compare.covers(gb.optimizers, {}, reference.optimizers, of_rules.optimizers)
compare.covers(gb.schedules, {}, reference.schedules, of_rules.schedules)

compare.run(reference.optimizers, steps_of.check_optimizer, {
  ["LossScaleOptimizer initial_scale=2.0, Lion learning_rate=0.1 among={1=nan 2=inf 3=nan}"] =
    "the scale does not fall below 1, as Keras' does",
})

compare.run(reference.schedules, steps_of.check_schedule)
