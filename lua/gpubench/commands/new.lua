-- `gpubench new`: writes a commented script to start from, and beside it the file by which editors complete gb.
local native = require("gpubench.native")._native
local check = require "gpubench.check"
local two_columns = require "gpubench.two_columns"
local system = native.system

-- What the reference says about the functions of a template.
local functions = { training = "measure.training", fit = "Model:fit", loop = "measure.loop",
  pipeline = "measure.pipeline", inference = "measure.inference", compare = "expect.faster" }

local function write(path, text)
  local file, reason = io.open(path, "w")
  if not file then check.fail("new: %s", reason) end
  file:write(text)
  file:close()
  print("wrote " .. path)
end

-- For lua-language-server and its like; what is there already is the user's.
local function write_editor_file(folder)
  local path = folder .. ".luarc.json"
  local ok, meta = pcall(system.resource, "lua/meta")
  if system.exists(path) or not ok then return end
  local settings = { runtime = { version = "Lua 5.4" }, workspace = { library = { meta } } }
  write(path, native.results.json(settings) .. "\n")
end

return function(options)
  local name, kind = options.name, options.kind or "training"
  local path = name:find "%.lua$" and name or name .. ".lua"
  local stem = path:match "([^/]+)%.lua$"
  if not stem or not stem:find "^[%a_][%w_-]*$" then
    check.fail("new: '%s' cannot name an experiment: letters, digits, '_' and '-', a letter first", name)
  end
  if system.exists(path) then check.fail("new: %s is there already", path) end
  local template <close> = assert(io.open(system.resource("lua/gpubench/template/" .. kind .. ".lua")))
  write(path, (template:read("a"):gsub("NAME", stem)))
  write_editor_file(path:match "^(.*/)" or "")
  print "next:"
  two_columns.print({
    { "gpubench " .. path .. " --dry-run", "its points, and how long they take" },
    { "gpubench " .. path, "run it, and write its report" },
    { "gpubench help " .. functions[kind], "what the functions in it take" },
  }, nil, "  ")
  return 0
end
