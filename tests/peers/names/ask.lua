-- Asks the program for names of Keras and tf.data. Each is "here", has "another form", which is told, or is "absent",
-- and it is told why; anything else is what the program must not say.
local gb = require "gpubench"
local ask = {}

-- What code of Keras calls by these names.
local function subjects()
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = "adam", loss = "mse" }
  return setmetatable({
    model = model,
    layer = model.layers[1],
    optimizer = gb.optimizers.Adam(),
    metric = gb.metrics.Mean(),
    loss = gb.losses.MeanSquaredError(),
    dataset = gb.data.Dataset.range(4),
    tape = gb.tape(),
    callback = setmetatable({}, { __index = function(_, name)
      if name:find "^on_" then return gb.callbacks.LambdaCallback { [name] = print } end
      return gb.callbacks.TerminateOnNaN()[name]
    end }),
  }, { __index = _G })
end
local names = subjects()

-- Answers from the best to the worst.
local ranks = { "here", "another form", "absent", "not told", "another function" }
for rank, answer in ipairs(ranks) do ranks[answer] = rank end

local function is_own(form, name)
  local path = form:match "^gb%.([%w_.]+)" or form:match "^x[:.]([%w_]+)"
  return path ~= nil and path:match "[%w_]+$" == name
end

-- The answer, and what is told: the form, or why there is none.
local function answer_to(code, name)
  local ok, text = pcall(assert(load(code, code, "t", names)))
  if ok then return "here", "" end
  text = tostring(text)
  local form = text:match "; here: (.*)"
  if form then return is_own(form, name) and "here" or "another form", is_own(form, name) and "" or form end
  local why = text:match "; not in gpubench: (.*)"
  why = why and why:gsub(" %(known: .*", "")
  if text:find("did you mean", 1, true) then return "another function", why or text:match "%(did you mean .*" or "" end
  if not why or why:find(" has no '", 1, true) or why:find "; others of .- are in " then return "not told", "" end
  return "absent", why
end

-- A name that is a word of Lua, such as "repeat", stands in brackets.
local function code_of(asked, name)
  local code = "return " .. asked .. "." .. name
  return load(code) and code or ("return %s[%q]"):format(asked, name)
end

-- Of "keras.layers" or "model", and a name.
function ask.of(asked, name)
  local answer, told = answer_to(code_of(asked, name), name)
  if asked ~= "dataset" or answer == "here" then return answer, told end
  local other, more = answer_to(code_of("gb.data.Dataset", name), name)
  if ranks[other] < ranks[answer] then return other, more end
  return answer, told
end

-- The lines of the table: group, asked, name, answer, what is told.
function ask.line(group, asked, name)
  local answer, told = ask.of(asked, name)
  local cells = { group, asked, name, answer, told }
  for index, cell in ipairs(cells) do
    if cell:find '[",\n]' then cells[index] = '"' .. cell:gsub('"', '""') .. '"' end
  end
  return table.concat(cells, ",")
end

ask.header = "group,asked,name,answer,told"

return ask
