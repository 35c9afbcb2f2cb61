---@meta
-- Images from files.

---@class gpubench
local gb = {}

--- Images: decoding, augmentation, resizing, scaling.
---@class gpubench.image
gb.image = {}

---@class DecodeOptions
---@field channels integer? 1 (grey; rounded, where TensorFlow cuts off what is behind the point of a PNG's), 3 (RGB) or
--- 0: as the file has them (0)
---@field size integer[]? { height, width } to resize to; each image's own when absent
---@field method "bilinear"|"nearest"|nil how to resize ("bilinear": pixels' centres at halves, no antialiasing)
---@field dtype "uint8"|"float32"|nil uint8, or float32 of [0, 1] ("uint8")
---@field ratio integer? 1, 2, 4 or 8, by which JPEGs are divided while they are decoded; when absent the largest that
--- leaves at least `size` pixels, and 1 without a size

--- Makes images [height, width, channels] of JPEG and PNG files' bytes, for Dataset:map. They are resized row by row
--- while they are decoded. JPEGs of inks (CMYK, YCCK) become RGB, without colour profiles. What EXIF says of an image's
--- orientation is ignored: pixels come as they are stored. PNGs of 16 bits a sample become 8 bits, rounded (TensorFlow
--- takes the upper byte). JPEGs are decoded by the accurate cosine transform: TensorFlow's dct_method
--- "INTEGER_ACCURATE".
---
--- ```lua
--- local gb = require "gpubench"
--- local decode = gb.image.decode { channels = 3, size = { 224, 224 } }
--- local files = gb.data.Dataset.list_files "data/mnist/*.gz"
--- local images = files:map(gb.data.read_file()):map(decode):ignore_errors()
--- assert(images.element_types[1] == "uint8[224, 224, 3]")
--- for image in images:iter() do error "these files are no images" end
--- ```
---@param options DecodeOptions?
---@return ElementFunction
function gb.image.decode(options) end

---@class EncodeJpegOptions
---@field quality integer? 1 to 100 (95)

--- A JPEG file of an image, as bytes.
---
--- ```lua
--- local gb = require "gpubench"
--- local image = gb.full({ 8, 8, 1 }, 200, { dtype = "uint8" })
--- local bytes = gb.image.encode_jpeg(image)
--- local files = gb.data.Dataset.from_tensor_slices(bytes:reshape { 1, #bytes })
--- for decoded in files:map(gb.image.decode { channels = 1, size = { 8, 8 } }):iter() do
---   assert(math.abs(decoded:cast("float32"):mean():item() - 200) < 2)
--- end
--- ```
---@param image Tensor uint8 [height, width, channels] of 1 or 3 channels
---@param options EncodeJpegOptions?
---@return Tensor
function gb.image.encode_jpeg(image, options) end

---@class gpubench.data
gb.data = {}

---@class gpubench.data.Dataset
gb.data.Dataset = {}

---@class ImageFolderOptions
---@field channels integer? 1, 3 or 0: as each file has them (3)
---@field size integer[]? { height, width }; without it only images of one size can be batched
---@field method "bilinear"|"nearest"|nil how to resize ("bilinear")
---@field dtype "uint8"|"float32"|nil ("uint8")
---@field shuffle boolean? another order of the files in every epoch (false: class by class)
---@field seed integer? what decides the order; a new one derived from gb.config.set_seed when absent
---@field num_parallel_calls integer? workers that read and decode; gb.AUTOTUNE: as many as keep the consumer busy;
--- absent: its own thread
---@field deterministic boolean? whether images keep their order with several workers (true)

--- Images (.jpg, .jpeg, .png) of a folder with a folder for each class. Elements are (image, int64 label), labels count
--- the classes from 0 in the order of their names.
---
--- ```lua
--- local gb = require "gpubench"
--- local ok, reason = pcall(gb.data.Dataset.image_folder, "no/such/folder", { size = { 28, 28 } })
--- assert(not ok and tostring(reason):find("there is no folder no/such/folder", 1, true))
--- ```
---@param root string
---@param options ImageFolderOptions?
---@return Dataset
---@return string[] class_names
function gb.data.Dataset.image_folder(root, options) end

return gb
