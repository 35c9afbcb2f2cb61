-- Ronneberger, Fischer, Brox: U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015. 31 030 658
-- parameters by the layers of its figure 1, whose last one has 2 classes; with one logit for two classes, 31 030 593.
local gb = require "gpubench.native"
local check = require "gpubench.check"

-- The smallest side, of at least so many pixels, that is even before each pooling. Without padding two convolutions
-- take 4 pixels of it.
local function possible_side(side, options)
  local lost, halvings = options.padding == "valid" and 4 or 0, 1 << options.depth
  local lost_in_all = lost * (halvings - 1)
  local last = math.max(lost + 1, (side - lost_in_all + halvings - 1) // halvings)
  return halvings * last + lost_in_all
end

local most_depth = 12  -- of which each level has twice the channels of the one before

local function check_options(options, shape)
  check.within("gb.zoo.unet: option 'depth'", options.depth, 0, most_depth)
  if options.padding ~= "valid" and options.padding ~= "same" then
    check.fail("gb.zoo.unet: option 'padding': 'valid' or 'same' expected, got '%s'", options.padding)
  end
  for i = 1, 2 do
    local possible = possible_side(shape[i], options)
    if shape[i] ~= possible then
      check.fail("gb.zoo.unet: a side of %d cannot be halved %d times with padding '%s'; the next that can is %d",
        shape[i], options.depth, options.padding, possible)
    end
  end
end

local function convolutions(x, filters, options, name)
  for i = 1, 2 do
    x = gb.layers.Conv2D(filters, 3, { padding = options.padding, activation = "relu", kernel_initializer = "he_normal",
      name = string.format("%s_conv%d", name, i) })(x)
  end
  return x
end

-- The middle of x, as large as y.
local function cropped(x, y)
  local rows, columns = x.shape[1] - y.shape[1], x.shape[2] - y.shape[2]
  if rows == 0 and columns == 0 then return x end
  return gb.layers.Cropping2D { { rows // 2, rows - rows // 2 }, { columns // 2, columns - columns // 2 } }(x)
end

return {
  defaults = { input_shape = { 572, 572, 1 }, classes = 2, width = 64, depth = 4, padding = "valid", dropout = 0.5 },
  build = function(options)
    local input = gb.Input(options.input_shape)
    check_options(options, input.shape)
    local x, skips = input, {}
    for level = 1, options.depth + 1 do
      x = convolutions(x, options.width << (level - 1), options, "down" .. level)
      -- "Drop-out layers at the end of the contracting path", as in the authors' net.
      if level >= options.depth and options.dropout > 0 then x = gb.layers.Dropout(options.dropout)(x) end
      if level <= options.depth then
        skips[level] = x
        x = gb.layers.MaxPooling2D(2)(x)
      end
    end
    for level = options.depth, 1, -1 do
      local filters, name = options.width << (level - 1), "up" .. level
      x = gb.layers.Conv2DTranspose(filters, 2,
        { strides = 2, kernel_initializer = "he_normal", name = name })(x)
      x = convolutions(gb.layers.Concatenate() { cropped(skips[level], x), x }, filters, options, name)
    end
    local logits = gb.layers.Conv2D(options.classes, 1, { name = "classes", dtype = "float32" })(x)
    return gb.Model { inputs = input, outputs = logits, name = "unet" }
  end,
}
