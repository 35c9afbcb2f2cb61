-- Why figures and claims are in doubt, as data: { kind, text }. The kinds and their words for people are those of
-- core/results/doubt.cpp; no code reads the text.
local columns = require "gpubench.columns"
local results = require("gpubench.native")._native.results

local doubts = {}

local words = results.doubts()

function doubts.of(kind, text)
  assert(words[kind], kind)
  return { kind = kind, text = text }
end

-- What a judge returns as a reason: the text, of an open claim with its kind.
function doubts.reason(verdict, kind, text)
  return verdict == "inconclusive" and doubts.of(kind, text) or text
end

-- Of a row's figures of this quality ("quality", "memory_quality"); nil where they can be relied on.
function doubts.in_row(row, quality)
  local text, kind = row[quality], row[quality == "memory_quality" and "memory_doubt" or "doubt"]
  if text == nil then return nil end
  return results.doubt(tostring(text), kind ~= nil and tostring(kind) or nil)
end

function doubts.put(row, quality, doubt)
  row[quality] = results.quality_text(doubt.text)
  row[quality == "memory_quality" and "memory_doubt" or "doubt"] = doubt.kind
end

-- In a few words, without the figures of the case; nil where only the text itself tells.
function doubts.why(doubt)
  local why = words[doubt.kind].why
  return why ~= "" and why or nil
end

-- What settles a claim about the column; nil where nothing is known to. Of what is counted or held in memory a
-- repetition gives the same. `busy`: other programs disturbed the rounds, so that more of them are no remedy.
local by_scatter = { overlap = true, bound = true }

function doubts.remedy(doubt, column)
  local kind = column and columns.of(column).kind or "unknown"
  local learned, disturbed = kind == "learned", not column or columns.is_disturbed(column)
  if by_scatter[doubt.kind] and not learned and not disturbed then return nil end
  local one = words[disturbed and doubt.busy and "busy" or doubt.kind]
  local remedy = learned and one.remedy_if_learned or one.remedy
  return remedy ~= "" and remedy or nil
end

return doubts
