---@meta
-- Augmentation and resizing of batches of images [batch, height, width, channels], named after tf.image.

---@class gpubench
local gb = {}

gb.image = {}

---@class RandomImageOptions
---@field seed integer? numbers of this seed; of one of its own when left out
---@field step Tensor? int64: another step gives the images of a batch other numbers; 0 when left out

--- Images [batch, height, width, channels], every second one mirrored, as a coin decides for each.
---
--- ```lua
--- local gb = require "gpubench"
--- local images = gb.random.uniform { 4, 8, 8, 3 }
--- local step = gb.Variable(0, { name = "step", trainable = false, dtype = "int64" })
--- local augment = gb.compile(function(x)
---   step:assign_add(1)
---   return gb.image.random_flip_left_right(gb.image.random_crop(x, { 6, 6 }, { seed = 1, step = step }),
---     { seed = 2, step = step })
--- end)
--- assert(augment(images).shape[2] == 6)
--- ```
---@param images Tensor
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_flip_left_right(images, options) end

--- A number of [-max_delta, max_delta) added to each image. For uint8, 1 is the whole range, and results saturate.
---@param images Tensor
---@param max_delta number
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_brightness(images, max_delta, options) end

--- (x - mean) * factor + mean, with the mean of each channel of an image and its factor of [lower, upper).
---@param images Tensor
---@param lower number
---@param upper number
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_contrast(images, lower, upper, options) end

--- Cuts { height, width } out of each image, at a place of its own.
---@param images Tensor
---@param size integer[]
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_crop(images, size, options) end

---@class ResizeOptions
---@field method "bilinear"|"nearest"|nil bilinear unless given

--- Images of { height, width }: float32 by bilinear, of their own type by nearest. Pixels' centres lie at halves.
---
--- ```lua
--- local gb = require "gpubench"
--- local wide = gb.image.resize(gb.tensor { { { { 0 }, { 1 } } } }, { 1, 4 })
--- assert(wide:to_table()[1][1][2][1] == 0.25)
--- ```
---@param images Tensor
---@param size integer[]
---@param options ResizeOptions?
---@return Tensor
function gb.image.resize(images, size, options) end

return gb
