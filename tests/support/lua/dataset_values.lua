-- All elements of an epoch of a dataset, one value of each, as text.
return function(dataset, options)
  local found = {}
  for value in dataset:iter(options) do
    local plain = value:to_table()
    found[#found + 1] = type(plain) == "table" and table.concat(plain, ",") or tostring(plain)
  end
  return table.concat(found, " ")
end
