-- `gpubench prune`: removes old runs.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local native = gb._native
local system = native.system

-- The folder that holds results/, which the user names, or the folder that this is in.
local function out_of(folder)
  if not folder then return native.options.out end
  local path = folder == "/" and folder or folder:gsub("/+$", "")
  if path:match "[^/]+$" == "results" then
    local parent = path:match "^(.*)/results$"
    return parent == "" and "/" or parent or "."
  end
  if system.exists(path .. "/results") then return path end
  check.fail("prune: '%s' is not named results, and holds no folder of that name", folder)
end

return function(options)
  local removed = native.results.prune {
    out = out_of(options.folder), keep = options.keep, keep_tagged = options.keep_tags, dry_run = options.dry_run,
  }
  for _, directory in ipairs(removed) do print(native.results.one_line((directory:gsub("^%./", "")))) end
  print(string.format("%s %s", gb.format.count(#removed, "run"), options.dry_run and "would be removed" or "removed"))
  return 0
end
