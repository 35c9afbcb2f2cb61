#!/usr/bin/env bash
# An installed prefix works after it was moved, with an empty environment and from any folder: install_test.sh BUILD
set -euo pipefail

build=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cmake --install "$build" --prefix "$top/first" >/dev/null
mv "$top/first" "$top/moved"
cd "$top"

installed() {
  env -i PATH=/usr/bin:/bin HOME="$top" ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} \
    ${TSAN_OPTIONS:+TSAN_OPTIONS="$TSAN_OPTIONS"} "$top/moved/bin/gpubench" "$@"
}

expect() {
  local what=$1
  shift
  "$@" || { echo "install_test.sh: $what" >&2 && exit 1; }
}

cat >digits.lua <<'LUA'
local gb = require "gpubench"
gb.experiment {
  name = "installed",
  title = "An installed program works",
  axes = { gb.axis("width", { 8, 4321 }) },
  run = function(point)
    local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    return gb.measure.training(model, gb.datasets.mnist("test"):batch(100))
  end,
}
LUA

expect "--version prints no version" grep -qE '^gpubench [0-9]+\.[0-9]+\.[0-9]+' <(installed --version)
installed digits.lua --quick --out out >log 2>&1 || { cat log && exit 1; }
expect "the run left no rows" grep -q 4321 out/results/installed/*/results.csv
expect "the run left no page" grep -q 'An installed program works' out/results/installed/*/report.html
installed list "$top/moved/share/gpubench/experiments" >list
expect "the experiments are not installed" grep -q 'batch_size.lua' list
expect "the samples, which have times, are not installed" grep -q ' s in the sample, on ' <(installed list --long)
installed help layers.Dense >help
expect "help does not read the installed reference" grep -q '^gb.layers.Dense(units ' help
for file in lua/meta data/mnist README.md LICENSE CHANGELOG.md docs/columns.md docs/pictures/report.png; do
  expect "share/gpubench/$file is not installed" test -e "$top/moved/share/gpubench/$file"
done
for file in bash-completion/completions/gpubench zsh/vendor-completions/_gpubench \
  fish/vendor_completions.d/gpubench.fish; do
  expect "the completion share/$file is not installed" grep -q comp "$top/moved/share/$file"
done
expect "the manual page is not installed" grep -q '^[.]TH GPUBENCH 1 ' "$top/moved/share/man/man1/gpubench.1"
for file in copyright licences/README licences/libcli11-dev licences/nlohmann-json3-dev; do
  expect "share/doc/gpubench/$file is not installed" test -s "$top/moved/share/doc/gpubench/$file"
done
echo "an installed prefix works"
