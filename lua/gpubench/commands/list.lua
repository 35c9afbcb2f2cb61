-- `gpubench list`: the questions that experiments answer.
local native = require("gpubench.native")._native
local two_columns = require "gpubench.two_columns"
local system = native.system

-- The text of a field as it is written, literals joined by "..": scripts are not run to be listed. Nil for anything else.
local function text_of_field(declaration, name)
  local at = declaration:match("[%s{,]" .. name .. "%s*=%s*()")
  if not at then return nil end
  local literals = {}
  repeat
    local quote = declaration:match("^[\"']", at)
    local literal, after = declaration:match("^(" .. (quote or "\"") .. "[^\n]-[^\\]" .. (quote or "\"") .. ")()", at)
    if not literal then return nil end
    literals[#literals + 1] = literal
    at = declaration:match("^%s*%.%.%s*()", after)
  until not at
  local read = load("return " .. table.concat(literals, ".."), "=" .. name, "t", {})
  return read and read()
end

-- The question or title of an experiment; nil for a script that declares none.
local function subject_of(file)
  local script <close> = assert(io.open(file))
  local declaration = script:read("a"):match "gb%.experiment%s*%b{}"
  if not declaration then return nil end
  return text_of_field(declaration, "question") or text_of_field(declaration, "title")
    or "(its title is not a plain string)"
end

return function(options)
  local folder = options.folder
  if not folder then folder = system.exists "experiments" and "experiments" or system.resource "experiments" end
  local lines = {}
  for _, file in ipairs(system.scripts_in(folder)) do
    local subject = subject_of(file)
    if subject then lines[#lines + 1] = { file, subject } end
  end
  two_columns.print(lines)
  return 0
end
