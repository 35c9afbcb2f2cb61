-- The reference as Markdown pages: one for each module and class of gb, for the commands, and for each table. Every
-- topic has an anchor of its name, and an index page links all of them.
local prose = require "gpubench.reference.prose"

local pages = {}

local titles = {
  command = { "commands", "Commands" }, column = { "columns", "Columns" }, finding = { "findings", "Findings" },
  remedy = { "remedies", "Remedies" }, experiment = { "experiments", "Experiments" },
  ["exit status"] = { "exit_status", "Exit status" }, variable = { "environment", "Variables of the environment" },
}

-- File and title of the page that has a topic; nil for one that other topics show.
local function place_of(topic)
  if titles[topic.kind] then return table.unpack(titles[topic.kind]) end
  if topic.kind == "function" or topic.kind == "value" then
    local module = topic.name:match "^(.*)%.[^.]+$"
    return module, module
  end
  if topic.kind == "module" then return topic.name, topic.name end
  if topic.kind == "method" then return topic.class, topic.class end
  if topic.kind == "class" and not topic.is_options then return topic.has_page and topic.name or "types",
    topic.has_page and topic.name or "Types of results and arguments" end
end

local function anchor_of(topic)
  return (topic.name:gsub("[^%w_.-]", "-"))
end

-- "<" and "|" would be read as HTML and as the end of a cell.
local function cell(text)
  return (text:gsub("|", "\\|"):gsub("<", "&lt;"):gsub("%s*\n%s*", " "))
end

local function linked(name, links)
  return links[name] and string.format("[%s](%s)", cell(name), links[name]) or "`" .. name .. "`"
end

-- A type with the classes in it as links.
local function type_cell(text, links)
  if text == "" then return "" end
  for class in text:gmatch "[%a_][%w_.]*" do
    if links[class] and not class:find "^%l" then return cell(text:gsub("[%a_][%w_.]*", function(name)
      return links[name] and not name:find "^%l" and "\1" .. name .. "\2" or nil
    end)):gsub("\1(.-)\2", function(name) return string.format("[%s](%s)", name, links[name]) end) end
  end
  return "`" .. text:gsub("|", "\\|") .. "`"
end

local function add_text(lines, text)
  local before
  for _, paragraph in ipairs(prose.paragraphs(text)) do
    if before and not (before.is_item and paragraph.is_item) then lines[#lines + 1] = "" end
    if paragraph.lines then
      lines[#lines + 1] = "```lua"
      table.move(paragraph.lines, 1, #paragraph.lines, #lines + 1, lines)
      lines[#lines + 1] = "```"
    else
      lines[#lines + 1] = (paragraph.is_item and "- " or "") .. paragraph.text:gsub("<", "&lt;")
    end
    before = paragraph
  end
end

local function add_rows(lines, part, links)
  local has_types = false
  for _, row in ipairs(part.rows) do has_types = has_types or row.type ~= "" end
  lines[#lines + 1] = has_types and "| name | type | meaning |" or "| name | meaning |"
  lines[#lines + 1] = has_types and "|---|---|---|" or "|---|---|"
  for _, row in ipairs(part.rows) do
    local cells = { "`" .. cell(row.name) .. "`", has_types and type_cell(row.type, links) or nil }
    cells[#cells + 1] = row.is_code and "`" .. row.text:gsub("|", "\\|") .. "`" or cell(row.text)
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
end

local function add_part(lines, part, links)
  lines[#lines + 1] = ""
  if part.title then
    lines[#lines + 1] = "**" .. part.title .. "**"
    lines[#lines + 1] = ""
  end
  local code = part.code or part.signature and { part.signature }
  if code then
    lines[#lines + 1] = "```text"
    table.move(code, 1, #code, #lines + 1, lines)
    lines[#lines + 1] = "```"
  end
  if part.text then add_text(lines, part.text) end
  if part.rows then add_rows(lines, part, links) end
  for _, one in ipairs(part.names or {}) do
    lines[#lines + 1] = "- " .. linked(one.name, links) .. (one.sentence ~= "" and ": " .. one.sentence or "")
  end
end

-- The topics by the file that has them; files in the order of their first topic.
local function by_file(list)
  local with_methods = {}
  for _, topic in ipairs(list) do
    if topic.kind == "method" then with_methods[topic.class] = true end
  end
  local files = {}
  for _, topic in ipairs(list) do
    topic.has_page = with_methods[topic.name]
    local file, title = place_of(topic)
    if file then
      if not files[file] then
        files[file] = { name = file, title = title }
        table.insert(files, files[file])
      end
      table.insert(files[file], topic)
    end
  end
  -- What a page is about stands first on it.
  for _, file in ipairs(files) do
    for index, topic in ipairs(file) do
      if topic.name == file.name then table.insert(file, 1, table.remove(file, index)) end
    end
  end
  return files
end

local function links_of(files)
  local links = {}
  for _, file in ipairs(files) do
    for _, topic in ipairs(file) do
      links[topic.name] = links[topic.name] or string.format("%s.md#%s", file.name, anchor_of(topic))
    end
  end
  return links
end

local function page_of(file, links)
  local lines = { "# " .. file.title }
  for _, topic in ipairs(file) do
    lines[#lines + 1] = ""
    lines[#lines + 1] = string.format('<a id="%s"></a>', anchor_of(topic))
    if topic.name ~= file.title then
      lines[#lines + 1] = ""
      lines[#lines + 1] = "## " .. topic.name
    end
    for _, part in ipairs(topic.parts) do add_part(lines, part, links) end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function index_of(files, links)
  local lines = { "# Reference", "", "Everything that scripts and the command line know, from the same text as "
    .. "`gpubench help NAME`." }
  for _, file in ipairs(files) do
    lines[#lines + 1] = ""
    lines[#lines + 1] = string.format("## [%s](%s.md)", file.title, file.name)
    lines[#lines + 1] = ""
    for _, topic in ipairs(file) do
      if topic.name ~= file.title then
        lines[#lines + 1] = string.format("- [%s](%s): %s", topic.name, links[topic.name], cell(topic.sentence))
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- { { name = "index.md", text }, ... }
function pages.of(list)
  local files = by_file(list)
  local links = links_of(files)
  local made = { { name = "index.md", text = index_of(files, links) } }
  for index, file in ipairs(files) do made[index + 1] = { name = file.name .. ".md", text = page_of(file, links) } end
  return made
end

return pages
