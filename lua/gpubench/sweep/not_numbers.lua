-- Figures that are no numbers, as those of a training that diverged: a row with one is no measurement of it.
local not_numbers = {}

-- "NaN", "inf" or "-inf"; nil for what is a number, or no figure at all.
local function name_of(value)
  if math.type(value) ~= "float" then return nil end
  if value ~= value then return "NaN" end
  if value == math.huge then return "infinite" end
  if value == -math.huge then return "-infinite" end
end

-- "loss is NaN"; nil where the column is a number.
function not_numbers.in_column(row, column)
  local name = name_of(row[column])
  return name and column .. " is " .. name
end

-- Of all columns, "accuracy is NaN, loss is infinite"; nil where there is none.
function not_numbers.in_row(row)
  local texts = {}
  for column in next, row do
    if type(column) == "string" then texts[#texts + 1] = not_numbers.in_column(row, column) end
  end
  table.sort(texts)
  return texts[1] and table.concat(texts, ", ")
end

-- Says it in the row's detail, which may be of any type before the row has been checked.
function not_numbers.note(row)
  local text = not_numbers.in_row(row)
  local detail = row.detail or ""
  if text and type(detail) == "string" and not detail:find(text, 1, true) then
    row.detail = detail == "" and text or text .. "; " .. detail
  end
end

return not_numbers
