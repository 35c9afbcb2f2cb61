#!/usr/bin/env bash
# Runs every block of Lua or Bash in README.md and docs/: documents_test.sh SOURCE PROGRAM
# A block behind a line "<!-- not run: REASON -->" is left out. Commands run in a copy of the experiments, so that nothing
# is written into the repository; runs are shortened by --quick. GPUs are hidden, as from the other tests.
set -euo pipefail
export CUDA_VISIBLE_DEVICES=

source_tree=$1
program=$2
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

# blocks_of PAGE: writes each of its blocks to a file "block.NUMBER.LANGUAGE" and prints the files' names.
blocks_of() {
  awk '
    /^```/ && inside { inside = 0; if (file) close(file); next }
    inside { if (file) print > file; next }
    /^```/ {
      inside = 1
      language = substr($0, 4)
      runs = (language == "lua" || language == "bash") && before !~ /^<!-- not run: .+ -->$/
      file = runs ? sprintf("block.%d.%s", ++count, language) : ""
      if (file) print file
      next
    }
    { before = $0 }' "$1"
}

cp -r "$source_tree/experiments" "$top"
cat >"$top/gpubench" <<TEXT
#!/bin/bash
for argument; do
  [[ \$argument != *.lua ]] || exec "$program" "\$@" --quick
done
[[ ! -e experiments/\$1.lua ]] || exec "$program" "\$@" --quick
exec "$program" "\$@"
TEXT
chmod +x "$top/gpubench"
cd "$top"
mkdir -p photos/cats photos/dogs
"$program" "$source_tree/tests/checks/documents_data.lua" --trusted

count=0
for page in "$source_tree"/README.md "$source_tree"/docs/{,*/}*.md; do
  for block in $(blocks_of "$page"); do
    count=$((count + 1))
    if [[ $block == *.lua ]]; then
      command=(./gpubench "$block")
    else
      command=(bash -euo pipefail "$block")
    fi
    "${command[@]}" >log 2>&1 </dev/null ||
      { echo "documents_test.sh: ${page#"$source_tree"/}: $block fails:" && cat "$block" log && exit 1; }
  done
  rm -f block.*
done
((count >= 10)) || { echo "documents_test.sh: there are only $count blocks" && exit 1; }
echo "$count blocks of README.md and docs run"
