-- Reads the event files of TensorBoard that gb.callbacks.TensorBoard writes.
local gb = require "gpubench"
local events = {}

local function varint(text, at)
  local value, shift = 0, 0
  repeat
    local byte = text:byte(at)
    value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
  until byte < 128
  return value, at
end

-- The fields of a message of protocol buffers, by number: integers, texts of 4 or 8 bytes, texts.
local function fields(text)
  local found, at = {}, 1
  while at <= #text do
    local tag, size
    tag, at = varint(text, at)
    local kind = tag & 7
    if kind == 0 then
      found[tag >> 3], at = varint(text, at)
    else
      size = kind == 1 and 8 or kind == 5 and 4
      if kind == 2 then size, at = varint(text, at) end
      found[tag >> 3], at = text:sub(at, at + size - 1), at + size
    end
  end
  return found
end

-- { "tag step" = value } of all event files in a folder; the number of files.
function events.read(folder)
  local scalars, files = {}, 0
  for record in gb.data.Dataset.tfrecord(folder .. "/events.out.tfevents.*"):iter() do
    local event = fields(string.char(table.unpack(record:to_table())))
    if event[3] then
      files = files + 1
      assert(event[3] == "brain.Event:2")
    else
      local scalar = fields(fields(event[5])[1])
      scalars[scalar[1] .. " " .. (event[2] or 0)] = string.unpack("<f", scalar[2])
    end
    assert(string.unpack("<d", event[1]) > 1.7e9)
  end
  return scalars, files
end

return events
