-- What tests of datasets and images against TensorFlow share: elements in their order, and draws of images.
local gb = require "gpubench"
local compare = dofile "tests/peers/conformance/compare.lua"
local close = compare.close
local checks = {}

-- The first elements of an epoch, at most so many: rows of their tensors.
function checks.listed(data, most)
  local rows = {}
  local next_element = data:iter()
  while #rows < most do
    local row = { next_element() }
    if #row == 0 then break end
    rows[#rows + 1] = row
  end
  return rows
end

-- The numbers of a dataset of scalars.
function checks.order(data, most)
  local numbers = {}
  for index, row in ipairs(checks.listed(data, most)) do numbers[index] = row[1]:item() end
  return numbers
end

-- A string as an element of bytes.
function checks.bytes_of(text)
  return gb.data.Dataset.from_tensor_slices(gb.tensor({ { text:byte(1, -1) } }, { dtype = "uint8" }))
end

-- The names of a class' methods, as keys.
function checks.methods_of(class)
  local names = {}
  for _, name in ipairs(gb._native.classes()[class].methods) do names[name] = true end
  return names
end

-- As many draws as TensorFlow made: means differ by at most five of their standard deviations.
function checks.draws(case)
  local images = gb.tensor({ case.example }, { dtype = case.type }):tile { case.draws, 1, 1, 1 }
  local arguments = { table.unpack(case.arguments) }
  arguments[#arguments + 1] = { seed = 3 }
  local output = gb.image[case.class](images, table.unpack(arguments)):cast("float32"):reshape { case.draws, -1 }
  local mean, deviation = output:mean(0):to_table(), output:std(0):to_table()
  for index, expected in ipairs(case.deviation) do
    close(mean[index], case.mean[index], 5 * expected * (2 / case.draws) ^ 0.5 + 1e-5, "mean of number " .. index)
    close(deviation[index], expected, 0.05 * expected + 1e-5, "deviation of number " .. index)
  end
end

return checks
