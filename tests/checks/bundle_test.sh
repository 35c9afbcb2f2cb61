#!/usr/bin/env bash
# The bundle works in a minimal Debian 12 (glibc 2.36), without a network and with nothing of ours beside it:
# bundle_test.sh SOURCE BUILD. The root file system is made once and kept below SOURCE/build.
set -euo pipefail

skip() {
  echo "skipped: $*"
  exit 77
}

# expect WHAT COMMAND...: says what is wrong when the command fails.
expect() {
  local what=$1
  shift
  "$@" || { echo "bundle_test.sh: $what" >&2 && exit 1; }
}

# What is run inside, in a bundle unpacked below /opt.
checks_inside() {
  cd /tmp
  local rc=0 bundle
  bundle=$(echo /opt/gpubench-*)
  PATH=$bundle/bin:$PATH
  expect "a library is not in the bundle" test -z "$(ldd "$bundle"/bin/gpubench "$bundle"/libexec/gpubench/* | grep 'not found')"
  expect "--version prints no version" grep -qE '^gpubench [0-9]' <(gpubench --version)
  gpubench devices >found
  expect "no processor is found" grep -q '^cpu:0 ' found
  expect "nothing says why there is no GPU" grep -q '^no GPU: .' found
  expect "the experiments are not listed" grep -q '^  batch_size ' <(gpubench list)
  gpubench "$bundle/share/gpubench/experiments/batch_size.lua" --quick --set batch_size=16,64 --out out >log 2>&1 ||
    { cat log && exit 1; }
  expect "the experiment left no rows" grep -q ',ok,' out/results/batch_size/*/results.csv
  expect "nothing says why there are no charts" grep -q 'gnuplot is not installed' log
  "$bundle/bin/gpu_check" >log 2>&1 || rc=$?
  expect "gpu_check has status $rc without a GPU" test "$rc" = 77
  expect "gpu_check does not say why" grep -q '^gpu_check: no GPU: .*; nothing was checked$' log
  expect "gpu_check lists no parts" grep -q '^conformance ' <("$bundle/bin/gpu_check" --list)
  expect "the README is not there" grep -q '^# gpubench' "$bundle/README.md"
  expect "our own licence is not there" grep -q '^SPDX-License-Identifier: ' "$bundle/LICENSE"
  expect "the licences are not there" test -s "$bundle/share/doc/gpubench/licences/libdnnl2"
}

# In namespaces of its own: mounts end with it, and there is no network.
in_namespaces() {
  local root=$1 archive=$2
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t tmpfs tmpfs "$root/opt"
  tar -C "$root/opt" -xJf "$archive"
  install -m 755 "$script" "$root/tmp/bundle_test.sh"
  chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp bash /tmp/bundle_test.sh --inside
}

make_root() {
  local root=$1 mirror log=$1.log
  [[ ! -e $root.done ]] || return 0
  # shellcheck disable=SC2016  # apt's own names
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  [[ -n $mirror ]] || skip "apt knows no mirror of Debian 12"
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$log" 2>&1 ||
    skip "debootstrap made no root file system: $(tail -n 1 "$log")"
  touch "$root.done"
}

script=$(readlink -f "${BASH_SOURCE[0]}")
case $1 in
  --inside) checks_inside && exit ;;
  --in-namespaces) in_namespaces "$2" "$3" && exit ;;
esac

source_tree=$1 build=$2
((EUID == 0)) || skip "a root file system needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --net --pid --fork true 2>/dev/null || skip "this machine refuses namespaces"
mkdir -p "$source_tree/build/rootfs"
root=$source_tree/build/rootfs/bookworm
exec {lock}>"$root.lock"
flock "$lock"
make_root "$root"
cmake -P "$build/bundle/pack.cmake"
archives=("$build"/gpubench-*.tar.xz)
expect "there is not one archive but ${#archives[@]}" test "${#archives[@]}" = 1
unshare --mount --net --pid --fork bash "$script" --in-namespaces "$root" "${archives[0]}"
echo "the bundle works in a minimal system"
