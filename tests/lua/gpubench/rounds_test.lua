-- How points that claims compare are measured: which, in what order, how often, and what becomes of their rows.
local gb = require "gpubench"
local estimate = require "gpubench.expect.estimate"
local experiment = require "gpubench.experiment"
local rounds = require "gpubench.sweep.rounds"
local testing = require "testing"
local statistics = gb._native.statistics

-- What others take from each call: tests decide it, not the machine that runs them.
local lost_shares, waits = {}, 0
local contention = gb._native.contention
contention.during = function(f, ...) return { lost_share = table.remove(lost_shares, 1) or 0 }, f(...) end
contention.wait_idle = function()
  waits = waits + 1
  return waits < 3
end

-- As in a script of its own.
local function run_experiment(declaration)
  experiment.declared = {}
  return gb.experiment(declaration)
end

local function sweep(options)
  local declaration = { name = "rounds_test", title = "rounds" }
  for key, value in pairs(options) do declaration[key] = value end
  local rows = run_experiment(declaration)
  local status = experiment.status
  experiment.status = 0
  return rows, status
end

testing.case("the interval of few values: sorted ones that hold the median with 95 %", function()
  testing.equal(statistics.estimate { 1, 2, 3, 4, 5 }, { value = 3 })
  testing.equal(statistics.estimate { 1, 2 }, { value = 1.5 })
  testing.raises("no values", statistics.estimate, {})
  testing.equal(statistics.estimate { 6, 1, 3, 2, 5, 4 }, { value = 3.5, low = 1, high = 6 })
  testing.equal(statistics.estimate { 1, 2, 3, 4, 5, 6, 7, 8 }, { value = 4.5, low = 1, high = 8 })
  testing.equal(statistics.estimate { 90, 2, 3, 4, 5, 6, 7, 8, 1 }, { value = 5, low = 2, high = 8 })
  local many = {}
  for i = 1, 31 do many[i] = i end
  -- published tables: 10th and 22nd of 31
  testing.equal(statistics.estimate(many), { value = 16, low = 10, high = 22 })
  for k = 1, 3000 do many[k] = k end
  testing.equal(statistics.estimate(many), { value = 1500.5, low = 1446, high = 1555 })
end)

testing.case("points of a claim about times take turns, in order and in reverse", function()
  local calls = {}
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2, 3 }) },
    run = function(point)
      calls[#calls + 1] = point.n
      return { work_s = point.n * 1.0 }
    end,
    expect = { gb.expect.ratio { y = "work_s", of = { n = 2 }, over = { n = 1 }, at_least = 2 } },
  }
  testing.equal(table.concat(calls), ("1221"):rep(6) .. "3")
  testing.equal({ rows[1].rounds, rows[2].rounds, rows[3].rounds }, { 12, 12, 1 })
  testing.equal({ rows[2].work_s, rows[2].work_low_s, rows[2].work_high_s }, { 2.0, 2.0, 2.0 })
  testing.equal(rows[3].work_low_s, nil)
end)

testing.case("claims that share a point join their points; counted figures and memory take one call", function()
  local count = {}
  sweep {
    axes = { gb.axis("n", { 1, 2, 3, 4 }) },
    columns = { gb.column("parts", { kind = "counted" }) },
    run = function(point)
      count[point.n] = (count[point.n] or 0) + 1
      return { work_s = point.n * 1.0, held_bytes = point.n, parts = point.n }
    end,
    expect = {
      gb.expect.ratio { y = "work_s", of = { n = 2 }, over = { n = 1 }, at_least = 2 },
      gb.expect.ratio { y = "work_s", of = { n = 3 }, over = { n = 2 }, at_least = 1.5 },
      gb.expect.ratio { y = "held_bytes", of = { n = 4 }, over = { n = 1 }, at_least = 4 },
      gb.expect.increasing { x = "n", y = "parts" },
    },
  }
  testing.equal(count, { 12, 12, 12, 1 })
end)

testing.case("a drift of the machine is no difference between points", function()
  local clock = 0
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2 }) },
    run = function(point)
      clock = clock + 1
      return { work_s = (1 + clock) * (point.n == 2 and 1.1 or 1) }
    end,
    expect = { gb.expect.ratio { y = "work_s", of = { n = 2 }, over = { n = 1 }, at_least = 0.95, at_most = 1.3 } },
  }
  local run = gb._native.results.read(("rounds_test"), gb._native.options.out)
  testing.equal(run.info.expectations[1].verdict, "confirmed")
  testing.is_true(rows[1].work_high_s > 1.5 * rows[1].work_low_s)
end)

testing.case("every round has its own seed, the same for all points", function()
  local seen = { {}, {} }
  sweep {
    axes = { gb.axis("n", { 1, 2 }) }, trials = 6,
    run = function(point)
      local value = gb.random.uniform({ 1 }):item()
      table.insert(seen[point.n], value)
      return { test_accuracy = value }
    end,
  }
  testing.equal(#seen[1], 6)
  testing.equal(seen[1], seen[2])
  testing.is_true(seen[1][1] ~= seen[1][2])
end)

testing.case("trials give learned figures an interval; one training decides nothing", function()
  local function judge(trials)
    sweep {
      axes = { gb.axis("n", { 1, 2 }) }, trials = trials,
      run = function(point) return { test_accuracy = point.n == 1 and 0.5 or 0.9 } end,
      expect = { gb.expect.ratio { y = "test_accuracy", of = { n = 2 }, over = { n = 1 }, at_least = 1.5 } },
    }
    local one = gb._native.results.read("rounds_test", gb._native.options.out).info.expectations[1]
    return one.verdict, one.reason
  end
  testing.equal(judge(6), "confirmed")
  local verdict, reason = judge(nil)
  testing.equal(verdict, "inconclusive")
  testing.contains(reason, "one training, which tells nothing of another seed's; give the experiment 'trials'")
  testing.raises("gb.experiment: option 'trials': 5; an interval of 95 % takes at least 6, and at "
    .. "most 1000 are possible", sweep,
    { trials = 5, run = function() return {} end })
  testing.raises("gb.experiment: option 'trials': 0;", sweep, { trials = 0, run = function() return {} end })
end)

testing.case("a point whose set-up is too long for six rounds decides nothing about times", function()
  local calls = 0
  local limit = rounds.limit_s()
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2 }) },
    run = function(point)
      calls = calls + (point.n == 2 and 1 or 0)
      local begun = gb.clock()
      while point.n == 2 and gb.clock() - begun < limit / 5 do end
      return { work_s = point.n * 1.0 }
    end,
    expect = { gb.expect.ratio { y = "work_s", of = { n = 2 }, over = { n = 1 }, at_least = 2 } },
  }
  testing.equal(calls, 1)
  testing.contains(rows[2].quality, "6 rounds do not fit into")
  testing.equal(rows[1].rounds, 12)
  testing.equal(gb._native.results.read("rounds_test", gb._native.options.out).info.expectations[1].verdict,
    "inconclusive")
end)

testing.case("what a script makes once takes no time of a round", function()
  local made = 0
  local function slow()
    made = made + 1
    local until_s = gb.clock() + 1.5 * rounds.limit_s() / statistics.least_for_interval
    while gb.clock() < until_s do end
    return made, nil, "third"
  end
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2 }) },
    run = function(point)
      testing.equal(table.pack(gb.once("slow", slow)), { n = 3, 1, nil, "third" })
      return { figure_s = point.n }
    end,
    expect = { gb.expect.ratio { y = "figure_s", of = { n = 2 }, over = { n = 1 }, at_least = 2 } },
  }
  testing.equal({ rows[1].rounds, rows[2].rounds, made }, { 12, 12, 1 })
end)

testing.case("an error in what is made once is raised, and nothing is kept", function()
  local fails = true
  local function make() return fails and error "no weights" or "made" end
  testing.raises("no weights", gb.once, "flaky", make)
  fails = false
  testing.equal(gb.once("flaky", make), "made")
  testing.raises("gb.once: key: string expected, got number", gb.once, 1, make)
  testing.raises("gb.once: make: function expected, got no value", gb.once, "key")
end)

testing.case("a later round that fails is what became of the point", function()
  local calls = 0
  local rows = sweep {
    run = function()
      calls = calls + 1
      if calls == 3 then error("broken") end
      return { work_s = 1.0 }
    end,
    expect = { gb.expect.at_most { y = "work_s", value = 2 } },
  }
  testing.equal({ calls, rows[1].status }, { 3, "error" })
  testing.contains(rows[1].detail, "in round 3: ")
end)

local function taken_in_calls(shares, count)
  local calls = 0
  lost_shares, waits = shares, 0
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2 }) },
    run = function(point)
      calls = calls + 1
      return { work_s = point.n * 1.0 }
    end,
    expect = { gb.expect.ratio { y = "work_s", of = { n = 2 }, over = { n = 1 }, at_least = 2 } },
  }
  lost_shares = {}
  testing.equal(calls, count)
  local run = gb._native.results.read("rounds_test", gb._native.options.out)
  return rows, run.info.expectations[1], run.info.warnings
end

testing.case("disturbed rounds are repeated when the machine is calm, and leave a claim open "
    .. "where it never is", function()
  -- The fourth to the tenth round of both points: five of twelve count. One more does.
  local some = { 0, 0, 0, 0, 0, 0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3 }
  local rows, one, warnings = taken_in_calls(some, 2 * 13)
  testing.equal({ one.verdict, waits, warnings }, { "confirmed", 1, nil })
  testing.equal({ rows[1].rounds, rows[1].quality }, { 13, nil })
  local all = {}
  for call = 1, 100 do all[call] = 0.2 end
  rows, one, warnings = taken_in_calls(all, 2 * 14)  -- calm twice, then no more
  testing.equal({ one.verdict, waits }, { "inconclusive", 3 })
  testing.equal(rows[1].quality,
    "unreliable: the times of 0 of 14 rounds count, 6 are needed: other programs took 20 % of the processor "
      .. "time that it wanted")
  testing.contains(warnings[1], "Other programs took up to 20 % of the processor time that 2 of 2 points wanted")
  testing.contains(one.reason, "other programs took 20 %")
end)

testing.case("a point that is measured once and disturbed has unreliable times, and sound bytes", function()
  lost_shares = { 0.5 }
  local axes = { gb.axis("n", { 1 }) }
  testing.equal(sweep({ axes = axes, run = function() return { held_bytes = 5, test_accuracy = 0.5 } end })[1].quality,
    nil)
  lost_shares = { 0.5 }
  local rows = sweep {
    run = function() return { held_bytes = 5, work_s = 0.1 } end,
    expect = { gb.expect.at_most { y = "held_bytes", value = 5 } },
  }
  testing.contains(rows[1].quality, "other programs took 50 %")
  testing.near(rows[1].cpu_lost_share, 0.5, 0)
  testing.equal(gb._native.results.read("rounds_test",
    gb._native.options.out).info.expectations[1].verdict, "confirmed")
end)

testing.case("what is learned or counted does not wait for a calm machine", function()
  local function waits_for(column)
    lost_shares, waits = {}, 0
    for index = 1, 100 do lost_shares[index] = 0.2 end
    local calls = 0
    local rows = sweep {
      axes = { gb.axis("n", { 1, 2 }) }, trials = 6,
      run = function(point)
        calls = calls + 1
        return { [column] = point.n * 0.1, fit_s = 1.0 }
      end,
      expect = { gb.expect.increasing { x = "n", y = column } },
    }
    lost_shares = {}
    return { waits, calls, rows[1].rounds }
  end
  testing.equal(waits_for "test_accuracy", { 0, 12, 6 })
  testing.equal(waits_for "kernels", { 0, 12, 6 })
  testing.equal(waits_for "work_s"[1] > 0, true)
end)

testing.case("figures are compared round by round, where both have it", function()
  local function row_of(values)
    local row, figures = { status = "ok", work_s = values[1] }, {}
    for round, value in pairs(values) do figures[round] = { row = { work_s = value }, counts = true } end
    estimate.set_rounds(row, { rounds = figures })
    return row
  end
  local a, b = row_of { 2, 4, 6, 8, 10, 12, [8] = 99 }, row_of { 1, 2, 3, 4, 5, 6, 7 }
  testing.equal(gb.expect.compare(a, b, "work_s"), { value = 2.0, low = 2.0, high = 2.0 })
  testing.equal(gb.expect.figure(b, "work_s"), { value = 4, low = 1, high = 7 })
  local _, why = gb.expect.figure({ status = "ok", work_s = 1 }, "work_s")
  testing.equal(why, "work_s: it was measured once, which tells nothing of its scatter")
end)

testing.case("names that choose rows are axes or declared columns, before the first point", function()
  local function declare(expect, columns)
    return run_experiment {
      name = "rounds_test", title = "t", axes = { gb.axis("execution", { "graph", "eager" }) }, columns = columns,
      run = function() return { work_s = 1.0, stage = "a" } end, expect = { expect },
    }
  end
  local of, over = { execution = "graph" }, { execution = "eager" }
  testing.raises("expectation 1: option 'of': there is no axis 'exection' (axes: execution)", declare,
    gb.expect.ratio { y = "work_s", of = { exection = "graph" }, over = over, at_most = 1 })
  testing.raises("did you mean 'execution'?", declare,
    gb.expect.ratio { y = "work_s", of = { exection = "graph" }, over = over, at_most = 1 })
  testing.raises("expectation 1: option 'x': there is no axis 'm'", declare,
    gb.expect.increasing { x = "m", y = "work_s" })
  testing.raises("expectation 1: option 'by': there is no axis 'devise'", declare,
    gb.expect.at_most { y = "work_s", value = 2, by = { "execution", "devise" } })
  testing.raises("expectation 1: option 'where': there is no axis 'stage'", declare,
    gb.expect.at_most { y = "work_s", value = 2, where = { stage = "a" } })
  testing.equal(#declare(gb.expect.at_most { y = "work_s", value = 2, where = { stage = "a" } }, { "stage" }), 2)
  testing.equal(#declare(gb.expect.ratio { y = "work_s", of = of, over = over, at_most = 2 }), 2)
end)

testing.case("a figure that no row has is an error: at once where it is misspelt, else at the end", function()
  local count
  local function measure(expect, charts)
    count = 0
    return run_experiment {
      name = "rounds_test", title = "t", axes = { gb.axis("n", { 1, 2, 3 }) }, charts = charts, expect = expect,
      run = function(point)
        count = count + 1
        if point.n == 1 then gb.skip "not here" end
        return { yield_bytes = 1 }
      end,
    }
  end
  testing.raises("claim 'yeild_bytes is at least 1': no row has the column 'yeild_bytes' (did you mean 'yield_bytes'?)",
    measure, { gb.expect.at_least { y = "yeild_bytes", value = 1 } })
  testing.equal(count, 2)
  testing.raises("claim 'gain_bytes is at least 1': no row has the column 'gain_bytes'; they have ", measure,
    { gb.expect.at_least { y = "gain_bytes", value = 1 } })
  testing.equal(count, 3)
  testing.raises("chart 'yeild_bytes_by_n': no row has the column 'yeild_bytes' (did you mean "
    .. "'yield_bytes'?)", measure, nil,
    { gb.chart.line { x = "n", y = "yeild_bytes" } })
  testing.equal(#measure { gb.expect.at_least { y = "power_w", value = 1 } }, 3)
end)

testing.case("the better direction is the column's, and an error where it has none", function()
  local function judge(better)
    local claim = gb.expect.best { x = "n", y = "test_accuracy", value = 2, tolerance = 0.01, better = better }
    local function row(n, accuracy)
      return { status = "ok", n = n, test_accuracy = accuracy, test_accuracy_low = accuracy,
        test_accuracy_high = accuracy }
    end
    return require("gpubench.expect.claim").judge_all({ claim }, { row(1, 0.5), row(2, 0.99), row(3, 0.2) },
      { gb.axis("n", { 1, 2, 3 }) })[1].verdict
  end
  testing.equal({ judge(), judge "lower" }, { "confirmed", "refuted" })
  testing.equal(gb.expect.faster { axis = "n", value = 1, than = 2, y = "mfu" }.at_least, 1)
  testing.equal(gb.expect.faster { axis = "n", value = 1, than = 2, y = "step_time_s" }.at_least, 1)
  testing.raises("gb.expect.best: whether 'score' is better lower or higher is not known: "
    .. "say it by the option 'better'",
    gb.expect.best, { x = "n", y = "score", value = 2, tolerance = 0.01 })
  testing.raises("('lower' or 'higher', got 'more')", gb.expect.faster,
    { axis = "n", value = 1, than = 2, y = "copy_share", better = "more" })
end)

testing.case("columns say what their names do not", function()
  testing.raises("gb.column 'mfu': the program fills this column", gb.column, "mfu", { kind = "time" })
  testing.raises("unknown kind of a column 'quick'", gb.column, "gain", { kind = "quick" })
  testing.raises("gb.experiment: column 1 is no name and not made by gb.column(name, options)", sweep,
    { columns = { { name = "gain" } }, run = function() return {} end })
  sweep {
    columns = { gb.column("gain", { kind = "memory", better = "higher", unit = "bytes" }) },
    run = function() return { gain = 5 } end,
  }
  for _, column in ipairs(gb._native.results.read("rounds_test", gb._native.options.out).columns) do
    if column.name == "gain" then
      testing.equal({ column.kind, column.better, column.unit }, { "memory", "higher", "bytes" })
    end
  end
end)
