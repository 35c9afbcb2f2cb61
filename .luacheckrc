std = "lua54"
max_line_length = 120
self = false  -- methods that do not need it
exclude_files = { "build", "results", "tests/peers/*/*_values.lua" }
ignore = {
  "241",  -- a table that is only filled: keeps values from being collected
  "311",  -- an unused nil: what it replaces can be collected
  "512",  -- a loop that ends in its first round: takes one element of a dataset
  "581",  -- "not (a < b)": also true where one is no number
}
files["lua/meta"] = { ignore = { "211", "212" } }  -- declarations without bodies
files["tests"] = { globals = { "io", "print", "string" } }  -- replaced while a test looks at what is printed
