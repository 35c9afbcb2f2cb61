local gb = require "gpubench"
local slow_script = require "slow_script"

-- A diary of the training. Lua takes about a third of the step's time for it.
local function write(diary, count, loss)
  for line = 1, 1500 do diary[line] = string.format("step %d: line %d, loss %s", count, line, loss) end
end

-- On an emulated accelerator: a CPU computes in the script's own thread, and nothing runs ahead that a read could wait
-- for.
slow_script {
  name = "loss_each_step", title = "Every step waits for its loss", remedy = "fewer_synchronizations",
  run = function(is_mended)
    return gb.device("emulated:h200:0", function()
      local weights, x = gb.Variable(gb.zeros { 4096, 4096 }), gb.zeros { 512, 4096 }
      local step = gb.compile(function(input)
        local y = input
        for _ = 1, 6 do y = y:matmul(weights) end
        return y:sum()
      end)
      local ticks = gb.data.Dataset.from_tensor_slices(gb.device("cpu:0",
        function() return gb.zeros { 64 } end)):batch(1)
      local count, value, diary = 0, nil, {}
      return gb.measure.loop(function()
        local loss = step(x)
        count = count + 1
        if not is_mended or count % 100 == 1 then value = loss:item() end
        write(diary, count, value)
        return loss
      end, ticks)
    end)
  end,
}
