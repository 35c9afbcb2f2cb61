-- What the tests of the experiments about input share: small data, and rows with figures in place of measured ones.
local gb = require "gpubench"
local sweep = require "gpubench.sweep.points"

local input_rows = { count = 128 }

-- The digits in small: as fast to go through as a test needs. They are made anew in each point, after which no tensor
-- may be left.
function input_rows.small_arrays()
  local classes = {}
  for i = 1, input_rows.count do classes[i] = i % 10 end
  local images = gb.random.uniform({ input_rows.count, 784 }, { seed = 5 })
  return images, gb.tensor(classes, { dtype = "int64" }):one_hot(10)
end

-- In place of gb.datasets.mnist.
function input_rows.small_mnist()
  return gb.data.Dataset.from_tensor_slices { input_rows.small_arrays() }
end

-- JPEG digits lie in the folder of results, which a run makes.
function input_rows.make_results_folder()
  gb.experiment { name = "place_for_files", title = "A place for files", run = function() return {} end }
end

-- The points that are not skipped.
function input_rows.points_of(declaration)
  local list = {}
  for _, point in ipairs(sweep.points(declaration.axes)) do
    if not declaration.skip or not declaration.skip(point) then list[#list + 1] = point end
  end
  return list
end

-- For each of them a row of each of kinds(point), filled by figures(row).
function input_rows.of(declaration, kinds, figures)
  local rows = {}
  for _, point in ipairs(input_rows.points_of(declaration)) do
    for _, kind in ipairs(kinds(point)) do
      local row = { status = "ok", measured = kind }
      for name, value in pairs(point) do row[name] = value end
      figures(row)
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- A copy of a list with another value at one place.
function input_rows.replaced(list, index, value)
  local copy = table.move(list, 1, #list, 1, {})
  copy[index] = value
  return copy
end

-- The position of a value on an axis.
function input_rows.index_of(declaration, axis_name, value)
  for _, axis in ipairs(declaration.axes) do
    if axis.name == axis_name then
      for index, one in ipairs(axis.values) do
        if one == value then return index end
      end
    end
  end
end

return input_rows
