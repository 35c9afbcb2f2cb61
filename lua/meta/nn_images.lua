---@meta
-- Layers of images [height, width, channels] and of sequences [steps, channels]: convolutions, pooling, borders, sizes.
-- Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

---@class gpubench.layers
gb.layers = {}

---@class Conv1DOptions: DenseOptions
---@field kernel_size integer? required here or as the second argument
---@field strides integer? 1 unless given
---@field padding string? "valid" unless given, "same", or "causal": zeros in front only
---@field dilation_rate integer? 1 unless given
---@field groups integer? 1 unless given

--- Convolution of [steps, channels] sequences.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Conv1D(8, 3, { padding = "causal", dilation_rate = 2 })
--- assert(layer(gb.ones { 2, 10, 4 }).shape[2] == 10)
--- ```
---@param filters integer
---@param kernel_size integer|Conv1DOptions
---@param options Conv1DOptions?
---@return Layer
function gb.layers.Conv1D(filters, kernel_size, options) end

---@class SlidingOptions: LayerOptions
---@field kernel_size integer|integer[]|nil height and width; required here or as an argument
---@field strides integer|integer[]|nil 1 unless given
---@field padding string? "valid" unless given, or "same"
---@field dilation_rate integer|integer[]|nil 1 unless given
---@field activation string? as of DenseOptions; none unless given
---@field use_bias boolean? true unless given
---@field bias_initializer string? "zeros" unless given

---@class DepthwiseConv2DOptions: SlidingOptions
---@field depth_multiplier integer? output channels of each input channel; 1 unless given
---@field depthwise_initializer string? "glorot_uniform" unless given

--- Convolves each channel apart.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.DepthwiseConv2D(3, { padding = "same", use_bias = false })
--- assert(layer(gb.ones { 2, 8, 8, 16 }).shape[4] == 16)
--- assert(layer.variables[1].shape[4] == 1) -- 3 x 3 x 16 x 1
--- ```
---@param kernel_size integer|integer[]|DepthwiseConv2DOptions
---@param options DepthwiseConv2DOptions?
---@return Layer
function gb.layers.DepthwiseConv2D(kernel_size, options) end

---@class SeparableConv2DOptions: DepthwiseConv2DOptions
---@field pointwise_initializer string? "glorot_uniform" unless given

--- A depthwise convolution, then one of 1 x 1 that mixes the channels.
---@param filters integer
---@param kernel_size integer|integer[]|SeparableConv2DOptions
---@param options SeparableConv2DOptions?
---@return Layer
function gb.layers.SeparableConv2D(filters, kernel_size, options) end

---@class Conv2DTransposeOptions: SlidingOptions
---@field kernel_initializer string? "glorot_uniform" unless given

--- The gradient of a convolution as a layer, which makes images larger: with padding "same", strides times as large.
---@param filters integer
---@param kernel_size integer|integer[]|Conv2DTransposeOptions
---@param options Conv2DTransposeOptions?
---@return Layer
function gb.layers.Conv2DTranspose(filters, kernel_size, options) end

---@class Conv1DTransposeOptions: LayerOptions
---@field kernel_size integer? required here or as the second argument
---@field strides integer? 1 unless given
---@field padding string? "valid" unless given, or "same"
---@field dilation_rate integer? 1 unless given
---@field activation string? as of DenseOptions; none unless given
---@field use_bias boolean? true unless given
---@field kernel_initializer string? "glorot_uniform" unless given
---@field bias_initializer string? "zeros" unless given

--- The gradient of a convolution of [steps, channels] as a layer: with padding "same", strides times as many steps.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Conv1DTranspose(8, 3, { strides = 2, padding = "same" })
--- assert(layer(gb.ones { 2, 10, 4 }).shape[2] == 20)
--- ```
---@param filters integer
---@param kernel_size integer|Conv1DTransposeOptions
---@param strides integer|Conv1DTransposeOptions|nil
---@param padding string|Conv1DTransposeOptions|nil
---@param options Conv1DTransposeOptions?
---@return Layer
function gb.layers.Conv1DTranspose(filters, kernel_size, strides, padding, options) end

---@class PoolingOptions: LayerOptions
---@field pool_size integer|integer[]|nil 2 unless given; of sequences one number
---@field strides integer|integer[]|nil pool_size unless given
---@field padding string? "valid" unless given, or "same"

--- The largest value of each window of [height, width, channels], for each channel.
---@param pool_size integer|integer[]|PoolingOptions|nil
---@param options PoolingOptions?
---@return Layer
function gb.layers.MaxPooling2D(pool_size, options) end

--- The mean of each window of [height, width, channels], for each channel.
---@param pool_size integer|integer[]|PoolingOptions|nil
---@param options PoolingOptions?
---@return Layer
function gb.layers.AveragePooling2D(pool_size, options) end

--- The largest value of each window of [steps, channels], for each channel.
---@param pool_size integer|PoolingOptions|nil
---@param options PoolingOptions?
---@return Layer
function gb.layers.MaxPooling1D(pool_size, options) end

--- The mean of each window of [steps, channels], for each channel.
---@param pool_size integer|PoolingOptions|nil
---@param options PoolingOptions?
---@return Layer
function gb.layers.AveragePooling1D(pool_size, options) end

---@class GlobalPoolingOptions: LayerOptions
---@field keepdims boolean? whether height and width, or the steps, stay as 1; false unless given

--- [height, width, channels] -> [channels].
---@param options GlobalPoolingOptions?
---@return Layer
function gb.layers.GlobalAveragePooling2D(options) end

--- [height, width, channels] -> [channels].
---@param options GlobalPoolingOptions?
---@return Layer
function gb.layers.GlobalMaxPooling2D(options) end

--- [steps, channels] -> [channels].
---@param options GlobalPoolingOptions?
---@return Layer
function gb.layers.GlobalAveragePooling1D(options) end

--- [steps, channels] -> [channels].
---@param options GlobalPoolingOptions?
---@return Layer
function gb.layers.GlobalMaxPooling1D(options) end

---@class ZeroPadding2DOptions: LayerOptions
---@field padding integer|integer[]|integer[][]|nil of all sides, {height, width}, or {{top, bottom}, {left, right}}; 1
--- unless given

--- Rows and columns of zeros around [height, width, channels].
---@param padding integer|integer[]|integer[][]|ZeroPadding2DOptions|nil
---@param options ZeroPadding2DOptions?
---@return Layer
function gb.layers.ZeroPadding2D(padding, options) end

---@class ZeroPadding1DOptions: LayerOptions
---@field padding integer|integer[]|nil of both ends, or {first, last}; 1 unless given

--- Steps of zeros before and behind [steps, channels].
---@param padding integer|integer[]|ZeroPadding1DOptions|nil
---@param options ZeroPadding1DOptions?
---@return Layer
function gb.layers.ZeroPadding1D(padding, options) end

---@class Cropping1DOptions: LayerOptions
---@field cropping integer|integer[]|nil of both ends, or {first, last}; 1 unless given

--- [steps, channels] without its first and last steps.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.layers.Cropping1D({ 1, 2 })(gb.ones { 2, 10, 4 }).shape[2] == 7)
--- ```
---@param cropping integer|integer[]|Cropping1DOptions|nil
---@param options Cropping1DOptions?
---@return Layer
function gb.layers.Cropping1D(cropping, options) end

---@class Cropping2DOptions: LayerOptions
---@field cropping integer|integer[]|integer[][]|nil of all sides, {height, width}, or {{top, bottom}, {left, right}}; 0
--- unless given

--- [height, width, channels] without rows and columns at its sides.
---@param cropping integer|integer[]|integer[][]|Cropping2DOptions|nil
---@param options Cropping2DOptions?
---@return Layer
function gb.layers.Cropping2D(cropping, options) end

---@class UpSampling1DOptions: LayerOptions
---@field size integer? 2 unless given

--- Repeats each step of [steps, channels] `size` times.
---@param size integer|UpSampling1DOptions|nil
---@param options UpSampling1DOptions?
---@return Layer
function gb.layers.UpSampling1D(size, options) end

---@class UpSampling2DOptions: LayerOptions
---@field size integer|integer[]|nil 2 unless given
---@field interpolation string? "nearest" unless given, which repeats rows and columns, or "bilinear" between pixels'
--- centres

--- Larger images.
---@param size integer|integer[]|UpSampling2DOptions|nil
---@param options UpSampling2DOptions?
---@return Layer
function gb.layers.UpSampling2D(size, options) end

---@class ResizingOptions: LayerOptions
---@field height integer? required here or as the first argument
---@field width integer? required here or as the second argument
---@field interpolation string? "bilinear" unless given; the methods are those of gb.image.resize
---@field crop_to_aspect_ratio boolean? takes the largest part in the middle that has the ratio of width and height;
--- false unless given: what an image shows is stretched
---@field pad_to_aspect_ratio boolean? puts borders around the image for that ratio; false unless given
---@field fill_value number? of these borders; 0 unless given
---@field antialias boolean? wider filters where images become smaller; false unless given

--- Images of another size. The images may be of integers; the result has the type that the layer computes in
--- (Keras rounds it to integers).
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Resizing(8, 8, { crop_to_aspect_ratio = true })
--- assert(layer(gb.ones { 2, 20, 30, 3 }).shape[3] == 8)
--- ```
---@param height integer|ResizingOptions
---@param width integer|ResizingOptions
---@param interpolation string|ResizingOptions|nil
---@param crop_to_aspect_ratio boolean|ResizingOptions|nil
---@param options ResizingOptions?
---@return Layer
function gb.layers.Resizing(height, width, interpolation, crop_to_aspect_ratio, options) end

---@class RescalingOptions: LayerOptions
---@field offset number? 0 unless given

--- x * scale + offset; integers are cast to the type that the layer computes in.
---@param scale number
---@param offset number|RescalingOptions|nil
---@param options RescalingOptions?
---@return Layer
function gb.layers.Rescaling(scale, offset, options) end

---@class RandomLayerOptions: LayerOptions
---@field seed integer? drawn from the global seed unless given

---@class RandomFlipOptions: RandomLayerOptions
---@field mode string? "horizontal_and_vertical" unless given, "horizontal" or "vertical"

--- Mirrors each image, or not, with probability 1/2 in each direction; with both directions, Keras mirrors in both or
--- in none. This and the following layers change images in training only, each image by its own numbers.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.RandomFlip("horizontal")
--- local x = gb.ones { 2, 4, 4, 1 }
--- assert(layer(x, { training = true }).shape[2] == 4)
--- ```
---@param mode string|RandomFlipOptions|nil
---@param options RandomFlipOptions?
---@return Layer
function gb.layers.RandomFlip(mode, options) end

--- The gradient of the images of these layers is an error: put them in front of what is trained.
---@class RandomMotionOptions: RandomLayerOptions
---@field fill_mode string? what lies outside an image: "reflect" unless given, "wrap", "nearest" or "constant".
--- With "wrap", pixels between the last and the first are interpolated; TensorFlow takes one of the two
---@field fill_value number? 0 unless given
---@field interpolation string? "bilinear" unless given, or "nearest"

--- In training turns each image by an angle of its own.
---@param factor number 0 to 1: the largest angle to either side as a share of a full turn
---@param options RandomMotionOptions?
---@return Layer
function gb.layers.RandomRotation(factor, options) end

--- In training moves each image by its own distances, up or down and to a side.
---@param height_factor number 0 to 1: the furthest to either side as a share of the height
---@param width_factor number of the width
---@param options RandomMotionOptions?
---@return Layer
function gb.layers.RandomTranslation(height_factor, width_factor, options) end

--- In training makes what each image shows larger or smaller, by its own factor.
---@param height_factor number 0 to 1: shows at most 1 + height_factor, at least 1 - height_factor of the height
---@param width_factor number|RandomMotionOptions|nil of the width; as the height, by the same number, unless given
---@param options RandomMotionOptions?
---@return Layer
function gb.layers.RandomZoom(height_factor, width_factor, options) end

---@class RandomCropOptions: RandomLayerOptions
---@field height integer? required here or as the first argument
---@field width integer? required here or as the second argument

--- In training takes a part of each image at a place of its own; Keras takes the same place of all images of a batch.
--- In inference, and of images that are smaller, it is Resizing with crop_to_aspect_ratio, as Keras documents (its code
--- passes images on in inference, whose size then changes). Training gives the images no gradient: the layer stands in
--- front of what is trained.
---@param height integer|RandomCropOptions
---@param width integer|RandomCropOptions
---@param options RandomCropOptions?
---@return Layer
function gb.layers.RandomCrop(height, width, options) end

---@class RandomColorOptions: RandomLayerOptions
---@field value_range integer[]? {0, 255} unless given; results stay in it

--- In training adds a number of its own to each image.
---@param factor number 0 to 1: the largest change to either side as a share of the range
---@param options RandomColorOptions?
---@return Layer
function gb.layers.RandomBrightness(factor, options) end

--- In training multiplies each image's differences from its channels' means by a factor of its own.
---@param factor number 0 to 1: contrast times 1 - factor to 1 + factor, as Keras documents (its code draws from 1 to
--- 1 + factor where factor is one number)
---@param options RandomColorOptions?
---@return Layer
function gb.layers.RandomContrast(factor, options) end

return gb
