-- Small files of every format, below <out>/results/READER: by the program's own writers where it has one, else by hand.
-- SAFETY_OUT is the folder given as --out.
local gb = require "gpubench"

local out = assert(os.getenv "SAFETY_OUT") .. "/results/"

local function write(reader, name, bytes)
  local file = assert(io.open(out .. reader .. "/" .. name, "wb"))
  file:write(bytes)
  file:close()
end
local function read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end
local function crc32(text)
  local crc = 0xffffffff
  for i = 1, #text do
    crc = crc ~ text:byte(i)
    for _ = 1, 8 do crc = crc & 1 == 1 and (crc >> 1) ~ 0xedb88320 or crc >> 1 end
  end
  return crc ~ 0xffffffff
end
-- Deflate's form for bytes as they are.
local function stored(bytes) return "\1" .. string.pack("<I2I2", #bytes, #bytes ~ 0xffff) .. bytes end
local function gzip(bytes)
  return "\31\139\8\0\0\0\0\0\0\3" .. stored(bytes) .. string.pack("<I4I4", crc32(bytes), #bytes)
end
local function adler32(bytes)
  local a, b = 1, 0
  for i = 1, #bytes do
    a = (a + bytes:byte(i)) % 65521
    b = (b + a) % 65521
  end
  return b << 16 | a
end
local function png(width, height, depth, color, palette)
  local samples = ({ [0] = 1, [2] = 3, [3] = 1, [4] = 2, [6] = 4 })[color]
  local row = "\0" .. ("\1"):rep((width * samples * depth + 7) // 8)
  local function chunk(kind, bytes)
    return string.pack(">I4", #bytes) .. kind .. bytes .. string.pack(">I4", crc32(kind .. bytes))
  end
  local rows = row:rep(height)
  return "\137PNG\r\n\26\n" .. chunk("IHDR", string.pack(">I4I4BBBBB", width, height, depth, color, 0, 0, 0)) ..
    (palette and chunk("PLTE", ("\1\2\3"):rep(4)) or "") ..
    chunk("IDAT", "\120\1" .. stored(rows) .. string.pack(">I4", adler32(rows))) .. chunk("IEND", "")
end

local function save_all()
  write("csv", "numbers", "a,b,c\n1.5,2,x\r\n\"-3e5\",4,\"y \"\"z\"\"\"\n,5,\n")
  write("json", "nested", [[{"a":[1,-2.5e10,null,true,"\u00e9\n"],"b":{"c":{}}}]])
  local idx = "\0\0\8\3" .. string.pack(">I4I4I4", 2, 2, 2) .. ("\7"):rep(8)
  write("idx", "bytes", idx)
  write("idx", "floats", "\0\0\13\1" .. string.pack(">I4>f>f", 2, 1, 2))
  write("cifar10", "two", ("\3" .. ("x"):rep(3072)):rep(2))
  write("text", "lines", "one\r\n\nthree")
  write("text", "gzip", gzip "one\ntwo\n")
  write("gzip", "plain", gzip(idx))
  write("gzip", "two", gzip(idx) .. gzip "")
  for name, x in pairs { floats = gb.ones { 2, 3 }, ints = gb.tensor({ 1, 2 }, { dtype = "int64" }),
    scalar = gb.ones {}, none = gb.zeros { 0, 2 } } do
    gb.save_npy(out .. "npy/" .. name, x)
  end
  for _, color in ipairs { 0, 2, 3, 4, 6 } do write("png", "color" .. color, png(3, 2, 8, color, color == 3)) end
  write("png", "bits", png(9, 2, 1, 0))
  write("png", "deep", png(2, 2, 16, 2))
  for channels = 1, 3, 2 do
    local bytes = gb.image.encode_jpeg(gb.full({ 9, 17, channels }, 90, { dtype = "uint8" }))
    local text = {}
    for k, byte in ipairs(bytes:to_table()) do text[k] = string.char(byte) end
    write("jpeg", "channels" .. channels, table.concat(text))
  end
  for _, compression in ipairs { "none", "gzip" } do
    local path = out .. "tfrecord/" .. compression
    local writer = gb.data.tfrecord_writer(path, { compression = compression })
    for i = 1, 3 do writer:write(gb.data.example { number = i, name = "x", values = { 0.5, i } }) end
    writer:close()
  end
  local identity <const> = "x"
  local element = string.pack("<i8i8i8", 2, 1, 3)
  local start = 16 + #identity
  local data = element .. ("\0"):rep(-(start + #element) % 64) .. string.pack("<ff", 1, 2)
  data = data .. ("\0"):rep(-(start + #data) % 64) .. "\1\2\3"
  data = data .. ("\0"):rep(-(start + #data) % 64)
  local index = string.pack("<I8", start)
  write("cache", "one", "GPBCACH1" .. string.pack("<I8", #identity) .. identity .. data .. index ..
    string.pack("<I8I8I4I4", start + #data, 1, crc32(index), 0) .. "1HCACBPG")
  local plain = read(out .. "tfrecord/none")
  write("example", "three", plain:sub(13, 12 + string.unpack("<I8", plain)))
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:save(out .. "saved")
  model:save_weights(out .. "safetensors/weights")
  model:fit(gb.ones { 4, 3 }, gb.ones { 4, 2 }, { verbose = 0, resume = out .. "state/trained" })
end

gb.experiment { name = "seeds", title = "Files to begin with", run = function()
  save_all()
  return { v = 1.0, text = "a \"b\", c", samples = { 0.1, 0.2 } }
end }
