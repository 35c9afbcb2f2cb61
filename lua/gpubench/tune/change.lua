-- A change of one call of a script: what happens to its arguments or its result while it is made, and how the text that
-- makes it would have to be edited. A remedy (remedies.lua) consists of changes.
--
-- { site = { file, line, name, number = of the call in its expression }, what = the part of the call that it changes,
-- arguments(packed, first) -> packed, result(value) -> value, instead(original, ...) -> results, before() = ahead of
-- the script, edit(source, call) -> edits or nil, text, advice = what is told where there is no edit }
local change = {}

-- "map in line 12"
local function place_of(site)
  return string.format("%s in line %d", site.name, site.line)
end

-- `:prefetch(gb.AUTOTUNE)` behind the call of a stage.
function change.append(site, text, result)
  return {
    site = site, what = text, result = result,
    text = string.format("%s behind %s", text:gsub("^:", ""), place_of(site)),
    edit = function(source, call) return source:append(call, text) end,
  }
end

local function with_field(packed, index, name, value)
  local copy = {}
  for key, own in pairs(type(packed[index]) == "table" and packed[index] or {}) do copy[key] = own end
  copy[name] = value
  packed[index] = copy
  packed.n = math.max(packed.n, index)
  return packed
end

-- `name = value` in the table that is the argument `number`; value_text: as the script would write it.
function change.field(site, number, name, value, value_text)
  return {
    site = site, what = name, text = string.format("%s = %s in %s", name, value_text, place_of(site)),
    arguments = function(packed, first) return with_field(packed, first + number - 1, name, value) end,
    edit = function(source, call) return source:set_field(call, number, name, value_text) end,
  }
end

-- Another value for the argument `number`: replace(value) -> value, and edit(source, call) -> edits.
function change.argument(site, number, text, replace, edit)
  return {
    site = site, what = number, text = string.format("%s in %s", text, place_of(site)), edit = edit,
    arguments = function(packed, first)
      packed[first + number - 1] = replace(packed[first + number - 1])
      return packed
    end,
  }
end

-- Another way to make the call: instead(original, ...). The text has no line that says the same, so that the summary
-- has a comment: advice.
function change.instead(site, advice, instead)
  return { site = site, what = "all", text = string.format("%s: %s", place_of(site), advice), instead = instead,
    advice = advice }
end

-- A statement ahead of the script's layers: `before` does it. line: of the function that it begins; nil: of the script.
function change.statement(text, before, line)
  return {
    what = text, text = text, before = before,
    edit = function(source)
      local name, required = source:library_name()
      local statement = text:gsub("^gb%.", name .. ".")
      if line then return source:begin_function(line, statement) end
      return source:before_line(required + 1, statement)
    end,
  }
end

-- The edits of a change in the script's source; where its text cannot say it, a comment in front of the call.
function change.edits(one, source)
  local site = one.site
  if site and site.file ~= source.path then return nil end
  local call = site and source:call(site.line, site.name, site.number)
  local edits = one.edit and (call or not site) and one.edit(source, call)
  if edits then return edits end
  local line = call and source.tokens[call].line or site and site.line or 1
  return source:before_line(line, "-- gpubench tune: " .. (one.advice or one.text))
end

return change
