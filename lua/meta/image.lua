---@meta
-- Augmentation, colours, resizing and scaling of images, named after tf.image: of batches [batch, height, width,
-- channels], or of one image [height, width, channels].

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

--- Every second image mirrored about its middle row, as a coin decides for each.
---@param images Tensor
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_flip_up_down(images, options) end

--- The hue of each image turned by a number of [-max_delta, max_delta) of the circle.
---@param images Tensor of three channels (RGB)
---@param max_delta number 0 to 0.5
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_hue(images, max_delta, options) end

--- The saturation of each image times its factor of [lower, upper).
---
--- ```lua
--- local gb = require "gpubench"
--- local images = gb.data.Dataset.synthetic { types = { "float32[4, 4, 3]" }, count = 6 }
--- local augmented = images:map(function(x)
---   return gb.image.random_saturation(gb.image.random_hue(x, 0.1), 0.7, 1.3)
--- end)
--- for batch in augmented:batch(6):iter() do assert(batch.shape[4] == 3) end
--- ```
---@param images Tensor of three channels (RGB)
---@param lower number
---@param upper number
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_saturation(images, lower, upper, options) end

--- Cuts { height, width } out of each image, at a place of its own.
---@param images Tensor
---@param size integer[]
---@param options RandomImageOptions?
---@return Tensor
function gb.image.random_crop(images, size, options) end

--- Images mirrored about their middle column.
---
--- ```lua
--- local gb = require "gpubench"
--- local image = gb.tensor { { { 1 }, { 2 } }, { { 3 }, { 4 } } }
--- assert(gb.image.flip_left_right(image):to_table()[1][1][1] == 2)
--- assert(gb.image.flip_up_down(image):to_table()[1][1][1] == 3)
--- ```
---@param images Tensor
---@return Tensor
function gb.image.flip_left_right(images) end

--- Images mirrored about their middle row.
---@param images Tensor
---@return Tensor
function gb.image.flip_up_down(images) end

--- A number added to all pixels. For uint8, 1 is the whole range, and results saturate, as for all functions of
--- colours.
---@param images Tensor
---@param delta number|Tensor one number, or [batch, 1, 1, 1]
---@return Tensor
function gb.image.adjust_brightness(images, delta) end

--- (x - mean) * factor + mean, with the mean of each channel of an image.
---@param images Tensor
---@param contrast_factor number|Tensor one number, or [batch, 1, 1, 1]
---@return Tensor
function gb.image.adjust_contrast(images, contrast_factor) end

--- gain * x ^ gamma.
---
--- ```lua
--- local gb = require "gpubench"
--- local pixel = gb.tensor { { { 0.5 } } }
--- assert(gb.image.adjust_gamma(pixel, 2, 2):to_table()[1][1][1] == 0.5)
--- ```
---@param images Tensor
---@param gamma number? 1 unless given
---@param gain number? 1 unless given
---@return Tensor
function gb.image.adjust_gamma(images, gamma, gain) end

--- The hue turned by `delta` of the circle: by a third, red becomes green.
---
--- ```lua
--- local gb = require "gpubench"
--- local red = gb.tensor { { { 1, 0, 0 } } }
--- local green = gb.image.adjust_hue(red, 1 / 3):to_table()[1][1]
--- assert(math.abs(green[1]) < 1e-5 and math.abs(green[2] - 1) < 1e-5)
--- ```
---@param images Tensor of three channels (RGB)
---@param delta number|Tensor one number, or [batch, 1, 1, 1]
---@return Tensor
function gb.image.adjust_hue(images, delta) end

--- The saturation times a factor, at most as much as there is; 0 makes grey.
---@param images Tensor of three channels (RGB)
---@param saturation_factor number|Tensor one number, or [batch, 1, 1, 1]
---@return Tensor
function gb.image.adjust_saturation(images, saturation_factor) end

--- Grey images of one channel: 0.2989 of red, 0.587 of green, 0.114 of blue.
---@param images Tensor of three channels (RGB)
---@return Tensor
function gb.image.rgb_to_grayscale(images) end

--- Images of three equal channels.
---
--- ```lua
--- local gb = require "gpubench"
--- local grey = gb.image.rgb_to_grayscale(gb.ones { 2, 2, 3 })
--- assert(grey.shape[3] == 1 and gb.image.grayscale_to_rgb(grey).shape[3] == 3)
--- ```
---@param images Tensor of one channel
---@return Tensor
function gb.image.grayscale_to_rgb(images) end

--- (x - mean) / deviation of each image in float32, with both over all its pixels and channels. The deviation counts as
--- at least 1 / sqrt(numbers of the image), so that an image of one colour becomes zeros.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.image.per_image_standardization(gb.ones { 2, 2, 3 }):to_table()[1][1][1] == 0)
--- ```
---@param images Tensor
---@return Tensor
function gb.image.per_image_standardization(images) end

--- The middle of images: that part of their height and of their width.
---@param images Tensor
---@param central_fraction number above 0, at most 1
---@return Tensor
function gb.image.central_crop(images, central_fraction) end

--- The part of images that begins at an offset, from 0.
---
--- ```lua
--- local gb = require "gpubench"
--- local image = gb.arange(12):reshape { 3, 4, 1 }
--- local part = gb.image.crop_to_bounding_box(image, 1, 2, 2, 2)
--- assert(part:to_table()[1][1][1] == 6 and part.shape[1] == 2)
--- ```
---@param images Tensor
---@param offset_height integer rows above it
---@param offset_width integer columns left of it
---@param target_height integer
---@param target_width integer
---@return Tensor
function gb.image.crop_to_bounding_box(images, offset_height, offset_width, target_height, target_width) end

--- Images of target_height x target_width, zeros around the given ones, which begin at an offset, from 0.
---@param images Tensor
---@param offset_height integer rows of zeros above
---@param offset_width integer columns of zeros on the left
---@param target_height integer
---@param target_width integer
---@return Tensor
function gb.image.pad_to_bounding_box(images, offset_height, offset_width, target_height, target_width) end

---@class ResizeOptions
---@field method "bilinear"|"nearest"|"bicubic"|"area"|"lanczos3"|"lanczos5"|"gaussian"|"mitchellcubic"|nil bilinear
--- unless given
---@field preserve_aspect_ratio boolean? the largest images of the given proportions that fit into the size (false)
---@field antialias boolean? wider filters where images become smaller; not by nearest and area (false)

--- Images of { height, width }: of their own type by nearest, else float32. Pixels' centres lie at halves. Bilinear
--- without antialiasing, and nearest, have kernels of their own; other methods are products with matrices.
---
--- ```lua
--- local gb = require "gpubench"
--- local wide = gb.image.resize(gb.tensor { { { { 0 }, { 1 } } } }, { 1, 4 })
--- assert(wide:to_table()[1][1][2][1] == 0.25)
--- local small = gb.image.resize(gb.zeros { 8, 12, 3 }, { 4, 4 }, {
---   method = "lanczos3", antialias = true, preserve_aspect_ratio = true })
--- assert(small.shape[1] == 3 and small.shape[2] == 4)
--- ```
---@param images Tensor
---@param size integer[]
---@param options ResizeOptions?
---@return Tensor
function gb.image.resize(images, size, options) end

--- The middle of images, or zeros around them, in each dimension as it is needed.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.image.resize_with_crop_or_pad(gb.ones { 4, 10, 1 }, 6, 6):sum():item() == 24)
--- ```
---@param images Tensor
---@param target_height integer
---@param target_width integer
---@return Tensor
function gb.image.resize_with_crop_or_pad(images, target_height, target_width) end

---@class ResizeWithPadOptions
---@field method string? as of resize (bilinear)
---@field antialias boolean? as of resize (false)

--- Images resized to the largest that fit, with their proportions, and zeros around them.
---@param images Tensor
---@param target_height integer
---@param target_width integer
---@param options ResizeWithPadOptions?
---@return Tensor
function gb.image.resize_with_pad(images, target_height, target_width, options) end

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
