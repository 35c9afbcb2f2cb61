#!/usr/bin/env bash
# Runs the blocks of README.md that follow a line "<!-- run -->": readme_test.sh SOURCE PROGRAM
# Commands run in a copy of the experiments, so that nothing is written into the repository; runs are shortened.
set -euo pipefail

source_tree=$1
program=$2
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

# The Nth marked block of a language.
block() {
  awk -v language="$1" -v wanted="$2" '
    /^```/ && inside { inside = 0; next }
    inside { print; next }
    marked && $0 == "```" language && ++seen == wanted { inside = 1 }
    { marked = ($0 == "<!-- run -->") }' "$source_tree/README.md"
}

cp -r "$source_tree/experiments" "$top"
cat >"$top/gpubench" <<TEXT
#!/bin/bash
case \${1:-} in
  *.lua) exec "$program" "\$@" --quick ;;
  *) exec "$program" "\$@" ;;
esac
TEXT
chmod +x "$top/gpubench"
cd "$top"

count=0
for language in lua bash; do
  for ((number = 1; ; ++number)); do
    block "$language" "$number" >block
    [[ -s block ]] || break
    count=$((count + 1))
    if [[ $language == lua ]]; then
      mv block script.lua
      ./gpubench script.lua >log 2>&1 || { cat log && exit 1; }
    else
      bash -euo pipefail block >log 2>&1 || { cat log && exit 1; }
    fi
  done
done
((count >= 2)) || { echo "readme_test.sh: README.md has $count marked blocks" && exit 1; }
echo "$count blocks of README.md run"
