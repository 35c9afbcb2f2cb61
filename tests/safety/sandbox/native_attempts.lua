-- Attempts of attempts.lua by what is in gb._native: the groups natives and databases.
local gb = require "gpubench"

return function(groups, attempt, outside)
  -- What the library's own code reaches and a script could call: nothing in it leads out.
  function groups.natives()
    local native = rawget(gb, "_native")
    for _, of in ipairs { native, package.loaded["gpubench.native"]._native, require "gpubench.native"._native } do
      for _, name in ipairs { "history", "compare", "changes", "device_details", "host", "programs" } do
        attempt("gb._native." .. name, function() return rawget(of, name) end)
      end
      for _, name in ipairs { "finish", "pack", "prune", "render", "explain", "list" } do
        attempt("gb._native.results." .. name, function() return rawget(of.results, name) end)
      end
    end
    local commands = { "ab", "baseline", "calibrate", "changes", "check", "compare", "doctor", "explain",
      "finish", "history",
      "list", "new", "nightly", "pack", "prune", "repeat", "report", "show", "tune" }
    for _, command in ipairs(commands) do
      attempt("require of the command " .. command, function() return require("gpubench.commands." .. command) end)
      attempt("a searcher's loader of the command " .. command, function()
        for _, searcher in ipairs(package.searchers) do
          local ok, loader = pcall(searcher, "gpubench.commands." .. command)
          if ok and type(loader) == "function" then return loader end
        end
      end)
    end
    attempt("starting processes", function()
      return require("gpubench.fresh_processes").run { words = { "touch", outside .. "/new" }, script = "x" }
    end)
    for _, out in ipairs { outside, "../outside/deeper", "out/results/link", "/tmp/gpubench-new",
        "out/results/up/outside", "." } do
      attempt("a run in " .. out,
        function() return native.results.new_run { experiment = "new", title = "t", out = out, axes = {} } end)
    end
    for _, name in ipairs { "../../../outside/new", "..", "link", "linked", "a/b", "" } do
      attempt("a run named " .. name, function()
        return native.results.new_run { experiment = name, title = "t", out = "out", axes = {} }
      end)
    end
    -- Their files have other names, which run looks for outside.
    for index, name in ipairs { "../../../../outside/new", "/tmp/gpubench-new", "../x", "a/../../b" } do
      attempt("a chart named " .. name, function()
        gb.experiment { name = "charted_" .. index, title = "t", axes = { gb.axis("n", { 1, 2 }) },
          charts = { gb.chart.line { name = name, x = "n", y = "v" } },
          run = function(point) return { v = point.n } end }
      end)
    end
    for _, variable in ipairs { "LD_PRELOAD", "PATH", "LD_LIBRARY_PATH", "GPUBENCH_PATH", "OCL_ICD_FILENAMES",
        "A\nLD_PRELOAD" } do
      attempt("a variable of a probe " .. variable, function()
        return native.probe { environment = { [variable] = "./planted.so" } }
      end)
    end
    for _, setting in ipairs { "--trusted", "x=1 --trusted", "batch_size\0" } do
      attempt("a setting of a probe " .. setting, function() return native.probe { settings = { [setting] = "1" } } end)
    end
    for _, folder in ipairs { "../outside/run", "out/results/link/run", "out/results/up/outside/run",
        "out/results/absolute/run" } do
      attempt("the end of the run " .. folder, function() return native.results.end_abandoned(folder, "by another") end)
    end
  end

  -- Databases that a script leaves for the commands behind it; run calls them. A journal beside names a victim as its
  -- super-journal, which SQLite would remove.
  function groups.databases()
    local function be4(x) return string.pack(">I4", x) end
    local header = "SQLite format 3\0" .. string.pack(">I2", 4096) .. "\1\1\0\64\32\32" .. be4(1) .. be4(1) .. be4(0) ..
      be4(0) .. be4(0) .. be4(4) .. be4(0) .. be4(0) .. be4(1) .. be4(0) .. be4(0) .. be4(0x67706268) ..
      ("\0"):rep(20) ..
      be4(1) .. be4(3040001)
    local page = header .. "\13\0\0\0\0" .. string.pack(">I2", 4096) .. "\0"
    page = page .. ("\0"):rep(4096 - #page)
    local function write(path, bytes)
      local file <close> = assert(io.open(path, "wb"))
      file:write(bytes)
    end
    local function journal_of(target)
      local magic, sum = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 0
      for i = 1, #target do sum = sum + string.unpack("b", target, i) end
      local head = magic .. be4(0) .. be4(0) .. be4(1) .. be4(512) .. be4(4096)
      return head .. ("\0"):rep(512 - #head) .. be4(0x40000000 // 4096 + 1) .. target .. be4(#target)
        .. be4(sum & 0xffffffff) .. magic
    end
    local victim = assert(os.getenv "SAFETY_VICTIM")
    for _, name in ipairs { "history.db", "other.db" } do
      write("out/results/" .. name, page)
      write("out/results/" .. name .. "-journal", journal_of(victim))
    end
    local native = rawget(gb, "_native")
    for _, name in ipairs { "runs", "rebuild", "merge", "judge", "trend", "experiments", "latest", "append",
        "write_page", "json" } do
      attempt("the history's " .. name, function() return native.history[name](".") or native.history[name]("out") end)
    end
    attempt("reading runs beside it", function() return native.results.read("history.db", "out") end)
    for _, path in ipairs { "out/baselines/v1/run.json", "out/calibration/machine.json",
      "out/results/../baselines/x", "out/new",
      "out/results/up/outside/new" } do
      attempt("writing " .. path, function() return io.open(path, "w") end)
      attempt("renaming to " .. path, function()
        write("out/results/text", "x")
        return os.rename("out/results/text", path)
      end)
    end
  end
end
