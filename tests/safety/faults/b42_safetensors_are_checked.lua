-- Headers of safetensors that say a thing twice, or not as it must be said, are refused in the program's own words.
local gb = require "gpubench"
local testing = require "testing"

gb.experiment { name = "place_for_files", title = "A place for files", run = function() return {} end }
local function refused(name, header)
  testing.case(name, function()
    local path = "out/results/" .. name .. ".safetensors"
    local file = assert(io.open(path, "wb"))
    file:write(string.pack("<I8", #header), header, string.pack("<ff", 1, 2))
    file:close()
    testing.contains(testing.refuses(function()
      for _ in gb.data.Dataset.safetensors(path):iter() do end
    end), path)
  end)
end
refused("names_twice",
  [[{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}]])
refused("a_key_twice", [[{"a":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}}]])
refused("a_shape_with_names", [[{"a":{"dtype":"F32","shape":{"a":1},"data_offsets":[0,8]}}]])
refused("a_shape_of_text", [[{"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}}]])
refused("a_shape_below_zero", [[{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}]])
refused("a_shape_of_fractions", [[{"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}}]])
refused("a_shape_that_wraps", [[{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}]])
refused("a_type_of_numbers", [[{"a":{"dtype":32,"shape":[2],"data_offsets":[0,8]}}]])
refused("offsets_of_text", [[{"a":{"dtype":"F32","shape":[2],"data_offsets":"08"}}]])
refused("no_offsets", [[{"a":{"dtype":"F32","shape":[2]}}]])
refused("a_number_as_tensor", [[{"a":5}]])
refused("a_list", [==[[1]]==])
refused("no_json", "{")
