# kernel_name(FIRST): the short name of the kernel whose readable name begins at this field: its template with its
# arguments, and `/8` where 8 is its last argument.
function kernel_name(first,   name, number) {
  name = $0
  while (--first > 0) sub(/^[^ ]+ /, "", name)
  sub(/^void /, "", name)
  gsub(/[(]anonymous namespace[)]::/, "", name)
  number = match(name, /[< ][0-9]+ ?>[ >]*[(]/) ? "/" substr(name, RSTART + 1) + 0 : ""
  sub(/[<(].*$/, "", name)
  sub(/^.*::/, "", name)
  return name number
}
