-- Archives of arrays, as numpy.savez writes them without compression.
local npz = {}

local function npy(descr, count, data)
  local header = string.format("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n", descr, count)
  return "\x93NUMPY\1\0" .. string.pack("<s2", header) .. data
end

-- An array of int64 numbers.
function npz.numbers(list)
  local data = {}
  for index, number in ipairs(list) do data[index] = string.pack("<i8", number) end
  return npy("<i8", #list, table.concat(data))
end

-- An array of lists of numbers, which NumPy pickles.
function npz.lists(lists)
  local objects = {}
  for index, list in ipairs(lists) do
    local numbers = {}
    for place, number in ipairs(list) do numbers[place] = "J" .. string.pack("<i4", number) end
    objects[index] = "](" .. table.concat(numbers) .. "e"
  end
  return npy("|O", #lists, "\x80\2cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R(K\1N](" ..
    table.concat(objects) .. "etb.")
end

-- arrays: { { name, bytes }, ... }. Checksums of members that are not compressed are not read.
function npz.archive(arrays)
  local all, directory = "", ""
  for _, array in ipairs(arrays) do
    local name, bytes = array[1] .. ".npy", array[2]
    local facts = string.pack("<I2I2I2I4I4I4I4I2I2", 20, 0, 0, 0, 0, #bytes, #bytes, #name, 0)
    directory = directory .. "PK\1\2" .. string.pack("<I2", 20) .. facts .. ("\0"):rep(10) ..
      string.pack("<I4", #all) .. name
    all = all .. "PK\3\4" .. facts .. name .. bytes
  end
  return all .. directory .. "PK\5\6" .. string.pack("<I4I2I2I4I4I2", 0, #arrays, #arrays, #directory, #all, 0)
end

return npz
