#!/usr/bin/env bash
# tests/run FOLDER builds and runs that folder alone: in a made-up tree, with made-up build tools: folder_test.sh SOURCE
set -euo pipefail

source_tree=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
tree=$top/tree calls=$top/calls

fail() {
  cat "$top/log" "$calls" >&2
  echo "folder_test.sh: $*" >&2
  exit 1
}

# says TEXT: a line of the calls.
says() { grep -qxF -- "$1" "$calls" || fail "expected the call '$1'"; }

tool() {
  printf '#!/bin/bash\n%s\n' "$2" >"$top/bin/$1"
  chmod +x "$top/bin/$1"
}

mkdir -p "$top/bin" "$tree"/{tools,tests/core/ops,tests/lua/api} "$tree/build/release/tests/reports"
cp "$source_tree"/tests/{run,summary.awk} "$tree/tests"
cp "$source_tree/tools/dependencies.sh" "$tree/tools"
echo 'build | some-package | command:bash | runs scripts' >"$tree/tools/dependencies.txt"
touch "$tree"/tests/{core/ops,lua/api}/CMakeLists.txt
# As CMake writes it; programs need not be there yet.
printf 'add_test([=[%s]=] "%s" "an argument")\n' cases/core/ops "$tree/build/release/tests/core/ops/test_core_ops" \
  lua/api/model_test.lua "$tree/build/release/bin/gpubench" >"$tree/build/release/tests/CTestTestfile.cmake"
printf "%s: CXX_EXECUTABLE_LINKER__x\n" tests/core/{ops/test_core_ops,nn/test_core_nn} bin/gpubench >"$top/targets"
tool cmake ":"
tool ninja "[[ \$* == *'-t targets'* ]] && exec cat '$top/targets'; shift 4; echo \"ninja \$*\" >>'$calls'"
tool ctest "while ((\$# > 1)); do
  [[ \$1 != --tests-regex ]] || regex=\$2
  [[ \$1 != --output-junit ]] || report=\$2
  shift
done
echo \"ctest \$regex\" >>'$calls'
echo '<testcase name=\"a\" time=\"1\" status=\"run\"></testcase>' >\"\$report\""
export PATH=$top/bin:$PATH

run() {
  : >"$calls"
  rc=0
  "$tree/tests/run" "$@" >"$top/log" 2>&1 || rc=$?
}

run core/ops
((rc == 0)) || fail "status $rc"
says 'ninja tests/core/ops/test_core_ops'
says 'ctest ^cases/(core/ops)(/|$)|^(core/ops)/.*'
[[ $(tail -n 1 "$top/log") == '1 passed, 0 failed, 0 skipped' ]] || fail "the last line counts nothing"

run core/ops lua/api --filter model
says 'ninja tests/core/ops/test_core_ops bin/gpubench'
says 'ctest ^cases/(core/ops|lua/api)(/|$)|^(core/ops|lua/api)/.*model'

run --filter model
says 'ninja '
says 'ctest ^cases/|model'

run core/opps
((rc == 2)) && grep -qF "no folder of tests 'tests/core/opps'" "$top/log" || fail "core/opps: status $rc"
[[ ! -s $calls ]] || fail "core/opps: something was built or run"
echo "folders are built and run alone"
