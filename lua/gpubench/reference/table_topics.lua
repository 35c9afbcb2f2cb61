-- The topics of the program's own tables: commands and their options, columns, findings, remedies, exit statuses,
-- variables of the environment, and experiments. A topic is as in api_topics.
local literals = require "gpubench.literals"
local prose = require "gpubench.reference.prose"
local native = require("gpubench.native")._native

local table_topics = {}

local function rows_as_words(rows)
  local words = {}
  for _, row in ipairs(rows) do words[#words + 1] = row.name .. " " .. row.text end
  return table.concat(words, " ")
end

local function topic(kind, name, sentence, parts, words)
  return { kind = kind, name = name, keys = { full = { name } }, sentence = sentence, parts = parts,
    words = words or sentence }
end

local function text_of_option(option)
  return option.meaning .. (option.choices and " (" .. option.choices:gsub(",", ", ") .. ")" or "")
end

local function command_topics(commands)
  local topics, options = {}, {}
  for _, command in ipairs(commands) do
    local rows = {}
    for _, option in ipairs(command.options) do
      rows[#rows + 1] = { name = option.name, type = option.type, text = text_of_option(option) }
      if not option.is_argument then
        if not options[option.name] then
          options[option.name] = {}
          table.insert(options, option.name)
        end
        table.insert(options[option.name], { name = command.name, type = option.type, text = text_of_option(option) })
      end
    end
    local one = topic("command", command.name, command.description, { { code = { command.help } } },
      command.description .. " " .. rows_as_words(rows))
    one.rows = rows
    topics[#topics + 1] = one
  end
  for _, name in ipairs(options) do
    local list, names = options[name], {}
    for index, one in ipairs(list) do names[index] = one.name end
    topics[#topics + 1] = topic("command option", name, "Option of " .. prose.some(names, 3) .. ".",
      { { title = "Commands that have it", rows = list } }, rows_as_words(list))
  end
  return topics
end

local function ends_of(column)
  return native.results.interval_end(column.name, "low"), native.results.interval_end(column.name, "high")
end

local function column_topics(columns)
  local topics = {}
  for _, column in ipairs(columns) do
    local rows = { { "filled by", column.filled_by }, { "unit", column.unit }, { "better", column.better },
      { "kind", column.kind } }
    if column.has_interval then
      rows[#rows + 1] = { "interval", string.format("95 %%, in %s and %s", ends_of(column)) }
    end
    local facts = {}
    for _, row in ipairs(rows) do
      if row[2] ~= "" then facts[#facts + 1] = { name = row[1], type = "", text = row[2] } end
    end
    local one = topic("column", column.name, column.meaning, { { text = { column.meaning } },
      { title = "Facts", rows = facts } })
    if column.has_interval then
      one.keys.short = { ends_of(column) }
    end
    topics[#topics + 1] = one
  end
  return topics
end

local function finding_topics(findings, remedies)
  local advice = {}
  for _, remedy in ipairs(remedies) do advice[remedy.name] = remedy.advice end
  local topics = {}
  for _, finding in ipairs(findings) do
    local limits, names = {}, {}
    for index, limit in ipairs(finding.limits) do
      limits[index] = { name = limit.name, type = limit.value, text = limit.source }
    end
    for index, name in ipairs(finding.remedies) do names[index] = { name = name, sentence = advice[name] } end
    local parts = { { text = { finding.meaning } }, { title = "Rule", text = { finding.rule } } }
    if limits[1] then parts[#parts + 1] = { title = "Limits", rows = limits } end
    if names[1] then parts[#parts + 1] = { title = "Remedies", names = names } end
    parts[#parts + 1] = { title = "Proof", text = { finding.proof } }
    local one = topic("finding", finding.name, prose.sentence(finding.meaning), parts,
      finding.title .. " " .. finding.meaning .. " " .. finding.rule)
    one.keys.full[2] = finding.title
    topics[#topics + 1] = one
  end
  return topics
end

-- The remedies that `gpubench tune` tries on a script.
local function tuned_remedies()
  local tuned = {}
  for _, name in ipairs(require("gpubench.tune.remedies").names()) do tuned[name] = true end
  return tuned
end

local frameworks = { { "gpubench", "lua" }, { "PyTorch", "pytorch" }, { "Keras", "keras" }, { "JAX", "jax" } }

local function remedy_topics(remedies)
  local topics, tuned = {}, tuned_remedies()
  for _, remedy in ipairs(remedies) do
    local lines = {}
    for _, words in ipairs(frameworks) do
      local line = remedy[words[2]]
      if line ~= "" then lines[#lines + 1] = { name = words[1], type = "", text = line, is_code = true } end
    end
    local names = {}
    for index, name in ipairs(remedy.findings) do names[index] = { name = name, sentence = "" } end
    local text = remedy.advice .. "."
    if remedy.changes_results then text = text .. " It changes what is computed." end
    if tuned[remedy.name] then text = text .. " `gpubench tune` tries it on scripts." end
    local parts = { { text = { text } }, { title = "Lines", rows = lines } }
    if names[1] then parts[#parts + 1] = { title = "Findings that propose it", names = names } end
    local one = topic("remedy", remedy.name, remedy.advice, parts, text)
    one.is_tuned = tuned[remedy.name]
    topics[#topics + 1] = one
  end
  return topics
end

local function status_topics(statuses)
  local topics = {}
  for _, status in ipairs(statuses) do
    topics[#topics + 1] = topic("exit status", status.name, status.text, { { text = { status.text } } })
  end
  return topics
end

local function variable_topics(variables)
  local topics = {}
  for _, one in ipairs(variables) do
    topics[#topics + 1] = topic("variable", one.name, one.text, { { text = { one.text } } })
  end
  return topics
end

local function experiment_topics()
  local topics = {}
  for _, file in ipairs(native.system.scripts_in(native.system.resource "experiments")) do
    local source = literals.read_file(file)
    local texts = source and literals.texts_of_experiment(source)
    if texts then
      local name, rows = file:match "([^/]+)%.lua$", {}
      for _, field in ipairs { "title", "cause", "remedy", "needs" } do
        if texts[field] then rows[#rows + 1] = { name = field, type = "", text = texts[field] } end
      end
      local question = texts.question or texts.title or name
      topics[#topics + 1] = topic("experiment", name, question, { { code = { "gpubench " .. name } },
        { text = { question } }, { title = "Facts", rows = rows } }, question .. " " .. rows_as_words(rows))
    end
  end
  return topics
end

function table_topics.collect()
  local tables = native.reference
  local topics = {}
  for _, list in ipairs {
    command_topics(tables.commands()), column_topics(tables.columns()),
    finding_topics(tables.findings(), tables.remedies()), remedy_topics(tables.remedies()),
    status_topics(tables.exit_statuses()), variable_topics(tables.environment()), experiment_topics(),
  } do
    table.move(list, 1, #list, #topics + 1, topics)
  end
  return topics
end

return table_topics
