-- Prints the table of names: of the list in the file PEERS_NAMES, with a line "group asked name" each.
local ask = dofile "tests/peers/names/ask.lua"

print(ask.header)
for line in io.lines(os.getenv "PEERS_NAMES") do
  local group, asked, name = line:match "^(%S+) (%S+) (%S+)$"
  print(ask.line(group, asked, name))
end
