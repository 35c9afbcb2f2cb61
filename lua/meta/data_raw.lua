---@meta
-- Numbers from byte strings.

---@class gpubench
local gb = {}

---@class gpubench.data
---@class gpubench.data
gb.data = {}

---@class DecodeRawOptions
---@field dtype string "float32", "uint8", ...
---@field shape integer[]? one extent may be -1: as much as there is ({ -1 })

--- Makes a tensor of each element's first tensor, a byte string of little-endian numbers, for Dataset:map.
---
--- ```lua
--- local gb = require "gpubench"
--- local pixels = gb.data.Dataset.from_generator(function()
---   for i = 1, 3 do coroutine.yield(string.rep(string.char(i), 4)) end
--- end, { types = { "uint8[?]" } }):map(gb.data.decode_raw { dtype = "uint8", shape = { 2, 2 } })
--- assert(pixels.element_types[1] == "uint8[2, 2]")
--- for image in pixels:batch(3):iter() do assert(image[2]:to_table()[1][1] == 2) end
--- ```
---@param options DecodeRawOptions
---@return ElementFunction
function gb.data.decode_raw(options) end

return gb
