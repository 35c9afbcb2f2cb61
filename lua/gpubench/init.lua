-- The table that scripts know as `gb`: the native modules and what is written in Lua on top of them.
local gb = require "gpubench.native"
local counted = require "gpubench.counted"

gb.axis = counted.of("gb.axis", require("gpubench.axis").new)
gb.column = counted.of("gb.column", require("gpubench.columns").new)
gb.chart = counted.module("gb.chart", require("gpubench.chart").kinds)
gb.expect = counted.module("gb.expect", require "gpubench.expect")
gb.param = counted.of("gb.param", require("gpubench.param").new)
gb.once = counted.of("gb.once", require("gpubench.sweep.once").made)
gb.experiment = counted.of("gb.experiment", require("gpubench.experiment").declare)
gb.measure.efficiency = counted.of("gb.measure.efficiency", require "gpubench.helpers.efficiency")
gb.measure.in_process = counted.of("gb.measure.in_process", require "gpubench.in_process")
gb.zoo = counted.module("gb.zoo", require "gpubench.zoo")
gb.quick = gb._native.options.quick
gb.clock = gb._native.system.seconds

gb._native.name_members()

return gb
