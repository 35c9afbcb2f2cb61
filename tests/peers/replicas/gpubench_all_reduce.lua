-- Times of all_reduce between CPU devices of one thread each, for the sizes of PEERS_SIZES; the last line is the
-- result.
local gb = require "gpubench"

local replicas = math.tointeger(os.getenv "PEERS_REPLICAS" or "2")
local threads, devices, sizes = {}, {}, {}
for index = 1, replicas do threads[index], devices[index] = { threads = 1 }, "cpu:" .. index - 1 end
for size in (os.getenv "PEERS_SIZES" or "4096"):gmatch "%d+" do sizes[#sizes + 1] = math.tointeger(size) end
gb.config.set_logical_devices("cpu:0", threads)

local times = {}
for index, row in ipairs(gb.measure.collective { sizes = sizes, devices = devices,
                                                 budget = #sizes * tonumber(os.getenv "PEERS_SECONDS" or "1") }) do
  if row.wrong ~= 0 then error(row.wrong .. " elements are wrong") end
  times[index] = string.format('"%d": %.9g', sizes[index], row.collective_time_s)
end
print(string.format('{"system": "gpubench", "times_s": {%s}, "version": "%s"}', table.concat(times, ", "),
  gb.version or ""))
