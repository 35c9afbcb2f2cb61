---@meta
-- Augmentation, resizing and scaling of images, named after tf.image: of batches [batch, height, width, channels], or
-- of one image [height, width, channels].

---@class gpubench
local gb = {}

---@class gpubench.image
gb.image = {}

---@class RandomImageOptions
---@field seed integer? numbers of this seed; of one of its own when left out
---@field step Tensor? int64: image i of a batch draws in step s what image 0 draws in step s + i; 0 when left out

--- Every second image mirrored, as a coin decides for each. In steps written by hand, the step grows by the batch size,
--- so that no two images share their numbers. In a map, leave it out: each element draws by its own number then,
--- whether it is mapped alone or within a batch, and in every epoch anew.
---
--- ```lua
--- local gb = require "gpubench"
--- local images = gb.random.uniform { 4, 8, 8, 3 }
--- local step = gb.Variable(0, { name = "step", trainable = false, dtype = "int64" })
--- local augment = gb.compile(function(x)
---   step:assign_add(x.shape[1])
---   return gb.image.random_flip_left_right(gb.image.random_crop(x, { 6, 6 }, { seed = 1, step = step }),
---     { seed = 2, step = step })
--- end)
--- assert(augment(images).shape[2] == 6)
---
--- local flipped = gb.data.Dataset.from_tensor_slices(images):map(gb.image.random_flip_left_right):batch(4)
--- for batch in flipped:iter() do assert(batch.shape[1] == 4) end
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

--- (images - mean) / stddev, with one number each or a list of one per channel. Integers are cast to float32 before,
--- and not scaled.
---
--- ```lua
--- local gb = require "gpubench"
--- local pixel = gb.tensor { { { 0.5, 0.25 } } }
--- assert(gb.image.normalize(pixel, { 0.5, 0.5 }, 0.25):to_table()[1][1][2] == -1)
--- ```
---@param images Tensor
---@param mean number|number[]
---@param stddev number|number[] positive
---@return Tensor
function gb.image.normalize(images, mean, stddev) end

--- Images in another type, between uint8 and floating types: 255 is 1.0, and what is beyond saturates, as in
--- tf.image.convert_image_dtype. (Tensor:cast keeps the numbers instead.)
---
--- ```lua
--- local gb = require "gpubench"
--- local bytes = gb.tensor({ { { 0 }, { 255 } } }, { dtype = "uint8" })
--- assert(gb.image.cast(bytes, "float32"):to_table()[1][2][1] == 1)
--- ```
---@param images Tensor
---@param dtype string
---@return Tensor
function gb.image.cast(images, dtype) end

return gb
