-- Every example of the reference runs as it stands.
local gb = require "gpubench"
local documented = require "gpubench.reference.documented"
local testing = require "testing"

local native = gb._native
local doc = documented.read(native.system.scripts_in(native.system.resource "lua/meta"))

testing.is_true(#doc.examples > 0, "examples in lua/meta")

for _, example in ipairs(doc.examples) do
  local where = example.where
  local name = where.file
  testing.case(name .. " line " .. where.line, function()
    -- Empty lines in front, so that errors show the line in the file.
    local text = string.rep("\n", where.line) .. table.concat(example.lines, "\n")
    local chunk, reason = load(text, "@" .. name)
    testing.is_true(chunk, reason)
    chunk()
    chunk = nil
    collectgarbage()
    collectgarbage()
    native.reset_devices()
  end)
end
