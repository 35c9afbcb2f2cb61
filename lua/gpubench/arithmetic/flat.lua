-- Flat lists of numbers: what plain loops make of a tensor's elements, in double precision.
local flat = {}

-- c[i][j] = sum over k of a[i][k] * b[k][j], of flat lists.
function flat.product(a, b, m, n, k)
  local c = {}
  for i = 0, m - 1 do
    for j = 0, n - 1 do
      local sum = 0
      for l = 0, k - 1 do sum = sum + a[i * k + l + 1] * b[l * n + j + 1] end
      c[i * n + j + 1] = sum
    end
  end
  return c
end

function flat.transposed(a, rows, columns)
  local result = {}
  for i = 0, rows - 1 do
    for j = 0, columns - 1 do result[j * rows + i + 1] = a[i * columns + j + 1] end
  end
  return result
end

function flat.mapped(list, fn)
  local result = {}
  for index, value in ipairs(list) do result[index] = fn(value) end
  return result
end

return flat
