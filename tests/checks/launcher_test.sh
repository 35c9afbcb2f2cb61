#!/usr/bin/env bash
# The launcher in a made-up tree, with made-up build and package tools: launcher_test.sh SOURCE
set -euo pipefail

source_tree=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
tree=$top/tree
calls=$top/calls

fail() {
  echo "launcher_test.sh: $*" >&2
  exit 1
}

# says FILE TEXT: FILE must hold TEXT.
says() { grep -qF -- "$2" "$1" || { cat "$1" >&2 && fail "expected '$2'"; }; }

tool() {
  printf '#!/bin/bash\n%s\n' "$2" >"$top/bin/$1"
  chmod +x "$top/bin/$1"
}

mkdir -p "$top/bin" "$tree"/{core,lua/bind,lua/api,lua/host,cmake,plots,build/release/bin}
cp "$source_tree/gpubench" "$tree"
cp -r "$source_tree/tools" "$tree"
touch "$tree"/{CMakeLists.txt,plots/style.gp,core/a.cpp}
echo 'build | some-package | command:bash | runs scripts' >"$tree/tools/dependencies.txt"
cat >"$top/program" <<'PROGRAM'
#!/bin/bash
echo "pid $$"
printf '<%s>' "$@"
[[ ${1:-} != wait ]] || kill -TERM $$
exit 7
PROGRAM
chmod +x "$top/program"
tool cmake "echo cmake \$* >>'$calls'; touch '$tree/build/release/build.ninja'"
tool ninja "[[ \$* == *-n* ]] && exit; echo ninja \$* >>'$calls'; echo compiling
for p in 5 40 45 100; do s=\${NINJA_STATUS//%p/ \$p%}; echo \"\${s//%e/\$p.25}a step\"; done
cp '$top/program' '$tree/build/release/bin/gpubench'; exit \${NINJA_RESULT:-0}"
tool apt-get "echo apt-get \$* >>'$calls'"
export PATH=$top/bin:$PATH

launch() {
  : >"$calls"
  rc=0
  "$tree/gpubench" "$@" >"$top/out" 2>"$top/err" </dev/null || rc=$?
}

# The first use configures, builds and becomes the program.
launch run 'two words' ''
((rc == 7)) || fail "status $rc instead of the program's 7"
says "$top/out" '<run><two words><>'
says "$calls" 'cmake --preset release -DGPUBENCH_TESTS=OFF'
says "$calls" 'ninja -C'
says "$top/err" 'building the program, about '
[[ $(grep -c ' % done after ' "$top/err") == 2 ]] || fail "the progress is not two lines: $(cat "$top/err")"
says "$top/err" 'gpubench: 40 % done after 40 s'
! grep -q apt-get "$calls" || fail "apt-get was called though nothing is missing"

# The next one starts the program only: same process, nothing on standard error.
launch
[[ ! -s $calls && ! -s $top/err ]] || fail "a second start built again"
launch wait 2>/dev/null
((rc == 143)) || fail "the program's signal came out as status $rc"

# A newer source builds; a link to the launcher finds its tree.
touch -d '+1 second' "$tree/core/a.cpp"
launch
says "$calls" 'ninja -C'
! grep -q ' % done' "$top/err" || fail "a later build shows progress in a log"
touch "$tree/core/a.cpp"
launch
ln -s "$tree/gpubench" "$top/link"
(cd / && : >"$calls" && "$top/link" x >"$top/out") || true
says "$top/out" '<x>'
[[ ! -s $calls ]] || fail "a start through a link built again"

# A build that fails is shown, with status 2, and is tried again.
rm "$tree/core/a.cpp"
NINJA_RESULT=1 launch
((rc == 2)) || fail "a failed build gave status $rc"
says "$top/err" 'compiling'
says "$top/err" 'failed with status 1'
launch
((rc == 7)) || fail "status $rc after the build was mended"

# What is missing is named with its reason.
rm "$tree/build/release/launcher.stamp"
cat >"$tree/tools/dependencies.txt" <<'LIST'
build | some-package | command:no-such-command | compiles things
build | header-package | header:no/such/header.h | declares things
test  | other-package | command:no-such-command | is not needed here
LIST
GPUBENCH_INSTALL=no launch
((rc == 2)) || fail "missing packages gave status $rc"
says "$top/err" 'some-package             compiles things'
says "$top/err" 'header-package           declares things'
says "$top/err" 'apt-get install --no-install-recommends some-package header-package'
! grep -q other-package "$top/err" || fail "a package of the tests was asked for"
[[ ! -s $calls ]] || fail "something was called under GPUBENCH_INSTALL=no"

# Of several names the one that apt knows is taken, after its lists were read.
cp "$tree/tools/dependencies.txt" "$top/list"
echo 'build | name-of-debian or name-of-ubuntu or third-name | command:no-such-command | has two names' \
  >>"$tree/tools/dependencies.txt"
tool apt-cache '[[ $2 != name-of-ubuntu ]] || echo "Package: $2"'
GPUBENCH_INSTALL=no launch
says "$top/err" 'name-of-debian or name-of-ubuntu or third-name has two names'
says "$top/err" 'header-package name-of-ubuntu'
tool apt-cache 'exit 100'
GPUBENCH_INSTALL=no launch
says "$top/err" 'header-package name-of-debian'
mv "$top/list" "$tree/tools/dependencies.txt"

# Where packages cannot be installed, the ways without root are named.
if ((EUID == 0)); then
  rc=0
  chmod -R a+rwX "$top"
  PATH=$top/bin:/usr/bin:/bin setpriv --reuid=65534 --clear-groups "$tree/gpubench" >"$top/out" 2>"$top/err" </dev/null || rc=$?
  ((rc == 2)) || fail "a user without root got status $rc"
  says "$top/err" 'without root, take the archive or the wheel'
fi

if ((EUID == 0)); then
  launch
  says "$calls" 'apt-get update'
  says "$calls" 'apt-get install -y --no-install-recommends some-package header-package'
fi

# Charts are not worth a refusal.
rm -f "$tree/build/release/launcher.stamp"
sed -i 's/^build/chart/' "$tree/tools/dependencies.txt"
GPUBENCH_INSTALL=no launch
((rc == 7)) || fail "a missing gnuplot gave status $rc"
says "$top/err" 'some-package'
echo "the launcher builds when it must and starts the program"
