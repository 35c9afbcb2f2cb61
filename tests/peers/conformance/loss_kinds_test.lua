-- Losses for rare classes, overlaps, margins, counts and relative errors, and metrics of the same, against Keras
-- (loss_kinds_values.lua, written by loss_kinds.py).
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/loss_kinds_values.lua"
local figures_of = dofile "tests/peers/conformance/figures_of.lua"

compare.run(reference.losses, figures_of.check_loss, {})
compare.run(reference.metrics, figures_of.check_metric, {})
