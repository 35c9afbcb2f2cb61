-- The manual page, for `man gpubench`: the command line from its own tables, as roff.
local native = require("gpubench.native")._native

local manual = {}

-- Backslashes, hyphens that are minus signs, and a line that begins like a request.
local function escaped(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-")
  return (text:gsub("^([.'])", "\\&%1"):gsub("\n([.'])", "\n\\&%1"))
end

local function add_item(lines, name, text)
  lines[#lines + 1] = ".TP"
  lines[#lines + 1] = ".B " .. escaped(name)
  lines[#lines + 1] = escaped(text)
end

local function section(lines, title, list)
  lines[#lines + 1] = ".SH " .. title
  for _, one in ipairs(list) do add_item(lines, one.name, one.text) end
end

local function add_command(lines, command)
  local arguments = {}
  for _, option in ipairs(command.options) do
    if option.is_argument then
      arguments[#arguments + 1] = option.is_required and option.type or "[" .. option.type .. "]"
    end
  end
  lines[#lines + 1] = ".SS " .. escaped(table.concat({ "gpubench", command.name, "[OPTIONS]",
    table.concat(arguments, " ") }, " "))
  lines[#lines + 1] = escaped(command.description) .. "."
  for _, option in ipairs(command.options) do
    if not option.is_argument and option.name ~= "--help" then
      local value = option.choices and option.choices:gsub(",", "|") or option.type
      add_item(lines, option.name .. (option.takes_value and " " .. value or ""), option.meaning)
    end
  end
end

function manual.page(version)
  local tables = native.reference
  local lines = {
    string.format('.TH GPUBENCH 1 "" "gpubench %s" "User Commands"', version),
    ".SH NAME", "gpubench \\- why an accelerator is not busy, and what makes it busy",
    ".SH SYNOPSIS", ".B gpubench", "[\\fICOMMAND\\fR] [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]", ".br", ".B gpubench",
    "\\fIEXPERIMENT\\fR [\\fIOPTION\\fR...]",
    ".SH DESCRIPTION",
    "gpubench changes one setting of a training, trains a real model with each value, and reports the effect with 95 %",
    "intervals. A word that is no command is the experiment or the script of the command run.",
    "\\fBgpubench help\\fR \\fINAME\\fR explains commands, functions of scripts, columns, findings and remedies.",
    ".SH COMMANDS",
  }
  for _, command in ipairs(tables.commands()) do add_command(lines, command) end
  section(lines, "EXIT STATUS", tables.exit_statuses())
  lines[#lines + 1] = ".P"
  lines[#lines + 1] = "If several apply, 2 comes before 3, and 3 before 1."
  section(lines, "ENVIRONMENT", tables.environment())
  section(lines, "EXAMPLES", tables.examples())
  return table.concat(lines, "\n") .. "\n"
end

return manual
