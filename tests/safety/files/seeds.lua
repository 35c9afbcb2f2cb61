-- Small files of every format, below <out>/results/READER: by the program's own writers where it has one, else by hand.
-- SAFETY_OUT is the folder given as --out.
local gb = require "gpubench"
local npz = require "npz"

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

-- Traces of other profilers: three steps of a loader, an operator, a launch and its kernel, in microseconds.
local function kineto_event(category, name, begin, length, args)
  local thread = category == "kernel" and '"pid":0,"tid":7' or '"pid":10,"tid":10'
  return ('{"ph":"X","cat":"%s","name":"%s",%s,"ts":%.3f,"dur":%.3f,"args":{%s}}'):format(category, name, thread, begin,
    length, args)
end
local function kineto()
  local events = { '{"ph":"M","name":"process_name","pid":10,"args":{"name":"python"}}' }
  for i = 1, 3 do
    local start <const> = 1712195495519703.772 + 1000 * i
    local function add(...) events[#events + 1] = kineto_event(...) end
    add("user_annotation", "ProfilerStep#" .. i, start, 1000, "")
    add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, 200, "")
    for k = 1, 4 do
      local id <const>, at <const> = 10 * i + k, start + 200 + 100 * k
      add("cpu_op", "aten::mm", at, 20, ('"External id":%d'):format(id))
      add("cuda_runtime", "cudaLaunchKernel", at + 5, 5, ('"correlation":%d'):format(id))
      add("kernel", "sgemm \\u003c" .. k .. ">", at + 15, 40,
        ('"device":0,"stream":7,"correlation":%d,"External id":%d'):format(id, id))
    end
  end
  return '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA A100","totalGlobalMem":42949672960}],' ..
    '"distributedInfo":{"rank":1,"world_size":2},"baseTimeNanoseconds":1700000000000000000,"traceEvents":[' ..
    table.concat(events, ",") .. ',{}],"traceName":"a.json"}'
end
local function trace_me_json()
  local events = {}
  for id, name in ipairs { "/host:CPU", "/device:GPU:0" } do
    events[#events + 1] = ('{"ph":"M","pid":%d,"name":"process_name","args":{"name":"%s"}}'):format(id, name)
    events[#events + 1] = ('{"ph":"M","pid":%d,"tid":1,"name":"thread_name","args":{"name":"%s"}}'):format(id,
      id == 1 and "python" or "Stream #1(Kernel,MemcpyH2D)")
  end
  for i = 1, 4 do
    for _, one in ipairs { { 1, "train", 0, 90, i }, { 1, "PjitFunction(step)", 10, 20 },
      { 1, "$train.py:3 batch", 40, 40 }, { 2, "fusion", 30, 50 }, { 2, "MemcpyH2D", 85, 1e-3 } } do
      events[#events + 1] = ('{"ph":"X","pid":%d,"tid":1,"name":"%s","ts":%g,"dur":%g,"args":{%s}}'):format(one[1],
        one[2], 100 * i + one[3], one[4], one[5] and '"step_num":"' .. one[5] .. '"' or "")
    end
  end
  return '{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[' ..
    table.concat(events, ",") .. ",{}]}"
end
-- Protocol buffers: numbers, and texts or messages with their length.
local function varint(number)
  local bytes = ""
  repeat
    local rest <const> = number >> 7
    bytes = bytes .. string.char(number & 0x7f | (rest ~= 0 and 0x80 or 0))
    number = rest
  until number == 0
  return bytes
end
local function number(field, value) return varint(field << 3) .. varint(value) end
local function bytes_of(field, bytes) return varint(field << 3 | 2) .. varint(#bytes) .. bytes end
local function named(field, names)
  local bytes = ""
  for id, name in ipairs(names) do
    bytes = bytes .. bytes_of(field, number(1, id) .. bytes_of(2, number(1, id) .. bytes_of(2, name)))
  end
  return bytes
end
local function xplane()
  local function plane(name, line, events, stats, each)
    local bytes = number(1, 1) .. bytes_of(2, line) .. number(3, 1000000)
    for i = 0, 3 do bytes = bytes .. each(i) end
    return bytes_of(1, number(1, 1) .. bytes_of(2, name) .. named(4, events) .. named(5, stats) .. bytes_of(3, bytes))
  end
  local function event(id, offset, length, stats)
    return bytes_of(4, number(1, id) .. number(2, offset * 1000000) .. number(3, length * 1000000) .. stats)
  end
  local host = plane("/host:CPU", "python", { "train", "PjitFunction(step)", "cuLaunchKernel" },
    { "step_num", "correlation_id" }, function(i)
      return event(1, 100 * i, 90, bytes_of(4, number(1, 1) .. number(4, i))) .. event(2, 100 * i + 5, 20, "") ..
        event(3, 100 * i + 10, 5, bytes_of(4, number(1, 2) .. number(3, i + 1)))
    end)
  local device = plane("/device:GPU:0", "Stream #1(Kernel)", { "fusion", "MemcpyH2D" },
    { "correlation_id", "hlo_op", "memcpy_details", "fusion.1", "device_vendor" }, function(i)
      return event(1, 100 * i + 20, 50, bytes_of(4, number(1, 1) .. number(3, i + 1)) ..
        bytes_of(4, number(1, 2) .. number(7, 4))) ..
        event(2, 100 * i + 75, 5, bytes_of(4, number(1, 3) .. bytes_of(5, "kind_src:pageable size:1024")))
    end)
  return host .. device .. bytes_of(4, "machine")
end

local function save_traces()
  write("chrome", "kineto", kineto())
  write("chrome", "list", '[{"ph":"X","name":"a \\"b\\"","ts":1e2,"dur":9.5,"pid":"p","tid":-1},' ..
    '{"ph":"B","name":"c","ts":2,"pid":1,"tid":1},{"ph":"E","ts":4,"pid":1,"tid":1}]')
  write("chrome", "trace_me", trace_me_json())
  write("xplane", "gpu", xplane())
end

-- Files of the agent of a job (agent/README.md): how long the counters are, the counters, facts.
local function agent()
  local steps = 16
  local bytes = "GPBWATCH" .. string.pack("<I4I4I4I4I4I4", 1, 4096, steps, 128, 2, 512) ..
    string.pack("<i8i8i8i8i8i8i8", 100, 1, -1, -1, -1, 1, 1) ..
    string.pack("<I8I8I8I8I8I8I8I8I8I8I8I8I8I8", steps, 2, 4, 0, 0, 1000, 0, 0, steps, 100, 0, steps, 0, 0)
  bytes = bytes .. ("\0"):rep(512 - #bytes) .. "torch optimizer SGD"
  bytes = bytes .. ("\0"):rep(768 - #bytes) .. "train.py"
  bytes = bytes .. ("\0"):rep(4096 - #bytes)
  for i = 1, steps do
    bytes = bytes .. string.pack("<I8I8I8I8I8I8I8I8I8I8I8I8I8I8I8I8", 10000000 * i, i == 9 and 1025 or 1, 4000000, 1000,
      500, i == 9 and 90000 or 0, 0, 0, 20000, 1, 3000000, 900000 * i, i, 3900000, 0, 0)
  end
  for i, name in ipairs { "Digits.__getitem__", "train" } do
    local site = string.pack("<I4I4I8I8I8I8", i == 1 and 3 or 10, 12 * i, 16, 60000000, 5000000, 15)
    site = site .. ("\0"):rep(64 - #site) .. name
    site = site .. ("\0"):rep(192 - #site) .. "/job/train.py"
    bytes = bytes .. site .. ("\0"):rep(512 - #site)
  end
  return string.pack("<I4", #bytes) .. bytes .. '{"fact":"loader","at":5,"num_workers":0,"file":"/a/b.py","line":9,' ..
    '"getitem_line":3,"getitem_file":"/a/data.py","dataset":"Digits","is_evaluation":false}\n' ..
    '{"fact":"framework","name":"torch","version":"2.12"}\n'
end

local function save_all()
  write("agent", "torch", agent())
  save_traces()
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
  write("npz", "lists", npz.archive { { "x", npz.lists { { 1, 300 }, { 70000, -1 } } }, { "y", npz.numbers { 1, 0 } } })
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
