-- Closes what a script must not reach: running programs, loading machine code, writing outside the output folder.
-- Reading stays open. What is missing says so when it is called, rather than being nil.
local gb = require "gpubench.native"
local native = gb._native

local function fail(name)
  native.fail(name .. " is not available to scripts (--trusted allows it)")
end

local function refuse(library, library_name, name)
  library[name] = function() fail(library_name .. "." .. name) end
end

local function close_io(io)
  local open, output = io.open, io.output
  function io.open(name, mode, ...)
    if type(mode) == "string" and mode:find("[wa+]") then name = native.system.output_path(name, "io.open") end
    return open(name, mode, ...)
  end
  function io.output(file, ...)
    if type(file) == "string" then file = native.system.output_path(file, "io.output") end
    if file == nil then return output() end
    return output(file, ...)
  end
  refuse(io, "io", "popen")
  refuse(io, "io", "tmpfile")
end

local function close_os(os)
  local remove, rename = os.remove, os.rename
  function os.remove(name)
    return remove(native.system.output_path(name, "os.remove"))
  end
  function os.rename(from, to)
    return rename(native.system.output_path(from, "os.rename"), native.system.output_path(to, "os.rename"))
  end
  for _, name in ipairs { "execute", "exit", "tmpname", "setlocale" } do refuse(os, "os", name) end
end

-- Source text only: a crafted binary chunk can crash the interpreter.
local function close_loading()
  local load_any, loadfile_any = load, loadfile
  function load(chunk, name, _, ...) return load_any(chunk, name, "t", ...) end
  function loadfile(name, _, ...) return loadfile_any(name, "t", ...) end
  function dofile(name)
    local chunk, reason = loadfile_any(name, "t")
    if not chunk then native.fail(reason) end
    return chunk()
  end
  refuse(package, "package", "loadlib")
  package.cpath = ""
end

local function close_debug()
  local closed = setmetatable({}, {
    __index = function(_, name) fail("debug." .. tostring(name)) end,
    __metatable = false,
  })
  debug = closed
  package.loaded.debug = closed
end

local sandbox = {}

function sandbox.close()
  close_io(io)
  close_os(os)
  close_loading()
  close_debug()
end

return sandbox
