-- `gpubench help`: what a command, a function, a column or a finding is.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local other_names = require "gpubench.reference.other_names"
local pages = require "gpubench.reference.pages"
local terminal = require "gpubench.reference.terminal"
local topics = require "gpubench.reference.topics"
local native = gb._native

local function print_lines(lines)
  for _, line in ipairs(lines) do print(line) end
end

-- How a topic is asked for where its name means several.
local function call_of(topic)
  return topic.name:find "^gb" and topic.name or topic.kind .. " " .. topic.name
end

local function print_calls(list)
  local lines = {}
  for index, topic in ipairs(list) do
    lines[index] = terminal.cut(string.format("  gpubench help %s  (%s)", call_of(topic), topic.sentence))
  end
  print_lines(lines)
end

local function print_topics(words, found, others)
  if found[2] then
    print(words .. " is several things:")
    print_calls(found)
  else
    print_lines(terminal.lines_of(found[1]))
  end
  if others[1] then
    print("\nAlso:")
    print_calls(others)
  end
end

local function fail_with_near(list, words)
  local near = topics.near(list, words)
  if not near[1] then near = topics.near(list, words:match "^%S+") end
  local hint = near[1] and " (did you mean '" .. table.concat(near, "', '") .. "'?)" or ""
  check.fail("help: there is no topic '%s'%s\nTry 'gpubench help --search %s'.\n"
    .. "'gpubench help functions' lists all of a kind (columns, findings, options, ...).", words, hint,
    (words:gsub("^%-+", "")))
end

local function print_search(list, words)
  words = words:match "^(.-)%s*$"
  local found = topics.search(list, words)
  if not found[1] then
    check.fail("help: no topic has '%s' in its text; fewer or other words may find more", words)
  end
  print_lines(terminal.list(found))
  print(string.format("%s; gpubench help NAME shows one", gb.format.count(#found, "topic")))
end

-- Names of topics that shells complete: a name that has blanks cannot be completed.
local function print_names(list, kind)
  local some = kind == "" and list or topics.of_kind(list, kind)
    or check.fail("help --names: there is no kind of topics '%s'", kind)
  local seen = {}
  for _, topic in ipairs(some) do
    local name = topic.name:gsub("^gb%.", ""):gsub(":", ".")
    if not seen[name] and not name:find "%s" then print(name) end
    seen[name] = true
  end
end

local function write_pages(list, folder)
  if not pcall(native.system.scripts_in, folder) then
    check.fail("help --pages: there is no folder '%s'; make it first", folder)
  end
  local made = pages.of(list)
  for _, page in ipairs(made) do
    local file, reason = io.open(folder .. "/" .. page.name, "w")
    if not file then check.fail("help --pages: %s", reason) end
    file:write(page.text)
    file:close()
  end
  print(string.format("wrote %s to %s; begin with index.md", gb.format.count(#made, "page"), folder))
end

return function(options)
  -- Options among the topics have a blank in front (lua/host/command_line).
  local words = table.concat(options.topic or {}, " "):match "^%s*(.-)%s*$"
  if options.man then
    io.write(require("gpubench.reference.manual").page(gb.version))
    return 0
  end
  local list = topics.all()
  if options.pages then
    write_pages(list, options.pages)
  elseif options.names then
    print_names(list, words)
  elseif options.search then
    print_search(list, options.search .. " " .. words)
  elseif words == "" then
    print(native.reference.program_help())
  else
    local found, others = topics.find(list, words)
    local of_kind = topics.of_kind(list, words)
    local other = not found[1] and not of_kind and other_names.find(list, words)
    if found[1] then
      print_topics(words, found, others)
    elseif of_kind then
      print_lines(terminal.list(of_kind))
    elseif other then
      print_lines(terminal.lines_of(other))
    else
      fail_with_near(list, words)
    end
  end
  return 0
end
