-- Metrics that count against Keras (counting_metrics_values.lua, written by counting_metrics.py).
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/counting_metrics_values.lua"
local figures_of = dofile "tests/peers/conformance/figures_of.lua"

compare.run(reference.metrics, figures_of.check_metric, {})
