-- Pages of sections from Lua: what is given is shown, escaped, and a table that does not fit is a mistake.
local gb = require "gpubench"
local testing = require "testing"
local page = gb._native.page

local function table_of(rows)
  return { caption = "Rates", align = "lr", headings = { "op", "rate" }, rows = rows, looks = { "refuted" } }
end

testing.case("a page has its headline, sections, items and tables", function()
  local html = page.html {
    title = "A check", facts = { "NVIDIA <H200>", "today" }, headline = "1 passed", lines = { "A line." },
    links = { { name = "summary", link = "summary.json" } },
    sections = {
      { id = "one", heading = "One", lines = { "first" }, items = { "an item" }, note = "a note",
        tables = { table_of { { "matmul", "9 TFLOP/s" } } } },
      { id = "two", heading = "Nothing in it" },
    },
  }
  for _, text in ipairs { "<h1>1 passed</h1>", "NVIDIA &lt;H200&gt;", "A line.", "summary.json",
    "<h2 id=\"one\">One</h2>",
    "an item", "a note", "9 TFLOP/s", "verdict refuted" } do
    testing.contains(html, text)
  end
  testing.equal(html:find("Nothing in it", 1, true), nil)
end)

testing.case("a row must have a cell for each heading", function()
  testing.raises("page: a row of 'Rates' has another number of cells than there are headings", page.html,
    { title = "", headline = "",
      sections = { { id = "one", heading = "One", tables = { table_of { { "matmul" } } } } } })
end)

testing.case("JSON becomes tables", function()
  local parsed = page.parse_json('{"parts": [{"name": "a", "seconds": 3}], "none": null}', "summary")
  testing.equal({ parsed.parts[1].name, parsed.parts[1].seconds }, { "a", 3 })
  testing.raises("summary", page.parse_json, '{"parts": [', "summary")
end)
