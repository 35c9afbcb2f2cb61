#!/usr/bin/env bash
# The archive and the wheel of a release work in minimal systems of the named releases of Debian, without a network and
# with nothing of ours beside them: bundle_test.sh SOURCE FILES RELEASE... . FILES: what tools/release has made, or a build
# folder, of which it makes them. Debian 12 (bookworm) has the glibc that programs built on it need; in Debian 11 (bullseye)
# the glibc of the bundle starts them. RELEASE may be "package": the Debian package in Debian 12, with a network. The file
# systems are made once and kept below SOURCE/build.
set -euo pipefail

skip() {
  echo "skipped: $*"
  exit 77
}

# expect WHAT COMMAND...: says what is wrong when the command fails.
expect() {
  local what=$1
  shift
  "$@" || { echo "bundle_test.sh: ${release:-}: $what" >&2 && exit 1; }
}

# loads_own_glibc COMMAND...: whether the program runs with the glibc of its bundle, and not with the system's.
loads_own_glibc() {
  LD_DEBUG=files "$@" 2>&1 >/dev/null | grep 'calling init: .*/lib/glibc/libc[.]so' >/dev/null
}

# --- Inside a system, with an archive unpacked below /opt and its wheel beside it ----------------------------------------

# check_program PLACE LAUNCHER OUTER...: the gpubench in the folder PLACE, which LAUNCHER starts again, below another one.
check_program() {
  local place=$1 launcher=$2 out
  out=$(mktemp -d)
  shift 2
  (
    PATH=$place:$PATH
    expect "--version prints no version" grep -qE '^gpubench [0-9]' <(gpubench --version)
    gpubench devices >found
    expect "no processor is found" grep -q '^cpu:0 ' found
    expect "nothing says why there is no GPU" grep -q '^no GPU: .' found
    expect "the experiments are not listed" grep -q '^  batch_size ' <(gpubench list)
    [[ $release == package ]] ||
      expect "doctor does not find gnuplot" grep -q 'the one that comes with gpubench' <(gpubench doctor --json)
    "$@" gpubench batch_size --quick --set batch_size=16,64 --out "$out" >log 2>&1 || { cat log && exit 1; }
    expect "the experiment left no rows" grep -q ',ok,' "$out"/results/batch_size/*/results.csv
    expect "the experiment left no chart" grep -q '<svg' "$out"/plots/batch_size/*/step_time_s_by_batch_size.svg
    expect "the run does not name $launcher" grep -qF "\"$launcher\"" "$out"/results/batch_size/*/run.json
    gpubench watch -- python3 -c 'import os, ssl; print(sorted(n for n in os.environ if n.startswith("LD_")))' >log 2>&1
    expect "a job under watch sees variables of the loader" grep -qxF '[]' log
  )
}

# check_start BUNDLE: which glibc is used, and what is said where the programs cannot run.
check_start() {
  local gpubench=$1/bin/gpubench odd=$PWD/odd:name/gpubench rc=0 needed has answer
  needed=$(sed -n 's/.*programs need glibc 2[.]\([0-9]*\)[.].*/\1/p' "$1/libexec/start")
  has=$(getconf GNU_LIBC_VERSION | sed 's/.*[.]//')
  if ((has < needed)); then
    expect "the system's old glibc is used" loads_own_glibc "$gpubench" --version
    return
  fi
  expect "a library is not in the bundle" test -z "$(ldd "$1"/libexec/gpubench | grep 'not found')"
  ! loads_own_glibc "$gpubench" --version || expect "the system's glibc is not used" false
  # As where there is another C library, or an older one.
  mkdir -p fake "${odd%/*}"
  for answer in 'exit 1' 'echo glibc 2.28' 'echo glibc 2.9.1'; do
    printf '#!/bin/sh\n%s\n' "$answer" >fake/getconf && chmod +x fake/getconf
    PATH=$PWD/fake:$PATH expect "'$answer': the system's glibc is used" loads_own_glibc "$gpubench" --version
  done
  cp -r "$1" "$odd"
  PATH=$PWD/fake:$PATH "$odd/bin/gpubench" --version >log 2>&1 || rc=$?
  expect "a name with ':' is not refused" grep -q "whose glibc is older than 2[.]$needed, .* with ':' or ';' in its name" log
  expect "the status of that is $rc" test "$rc" = 2
  "$odd/bin/gpubench" --version >/dev/null
  rm -r "${odd%/*}"
  printf '#!/bin/sh\necho Linux aarch64\n' >fake/uname && chmod +x fake/uname
  rc=0
  PATH=$PWD/fake:$PATH "$gpubench" --version >log 2>&1 || rc=$?
  expect "another processor is not named" grep -q 'for x86-64 processors with Linux, and this system is Linux aarch64;' log
  expect "the status of that is $rc" test "$rc" = 2
}

checks_inside() {
  local rc=0 bundle name recipe
  cd /tmp
  bundle=$(echo /opt/gpubench-*)
  check_start "$bundle"
  check_program "$bundle/bin" "$bundle/bin/gpubench"
  "$bundle/bin/gpu_check" >log 2>&1 || rc=$?
  expect "gpu_check has status $rc without a GPU" test "$rc" = 77
  expect "gpu_check does not say why" grep -q '^gpu_check: no GPU: .*; nothing was checked$' log
  expect "gpu_check lists no parts" grep -q '^conformance ' <("$bundle/bin/gpu_check" --list)
  if [[ -e $bundle/bin/gpu_tests ]]; then  # a build with the CUDA toolkit
    rc=0
    "$bundle/bin/gpu_tests" >log 2>&1 || rc=$?
    expect "gpu_tests has status $rc without a GPU" test "$rc" = 77
  fi
  # What containers of the archive do.
  for recipe in /tmp/Dockerfile /tmp/apptainer.def; do
    rm -f /usr/local/bin/*
    sh -ec "$(sed -n 's/^RUN //p; s/^    ln /ln /p' "$recipe")"
    expect "$recipe puts no gpubench on the path" test "$(PATH=/usr/local/bin command -v gpubench)" = /usr/local/bin/gpubench
    expect "the gpubench of $recipe does not run" grep -q '^gpubench [0-9]' <(/usr/local/bin/gpubench --version)
  done
  expect "the README is not there" grep -q '^# gpubench' "$bundle/README.md"
  expect "our own licence is not there" grep -q '^SPDX-License-Identifier: ' "$bundle/LICENSE"
  for name in libdnnl2 libc6 gnuplot-nox; do
    expect "the licence of $name is not there" test -s "$bundle/share/doc/gpubench/licences/$name"
  done

  python3 -m venv env
  env/bin/pip --disable-pip-version-check install --quiet --no-index /opt/*.whl
  # Below the archive's program, which has another place.
  check_program "$PWD/env/bin" "$PWD/env/opt/gpubench/bin/gpubench" "$bundle/bin/gpubench" watch --
  env/bin/pip uninstall --quiet --yes whyidle
  expect "files are left when it is uninstalled" test -z "$(find env/opt env/bin/gpubench -type f 2>/dev/null)"
}

# The package installed by apt, with what it recommends.
checks_of_package() {
  cd /tmp
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y ./gpubench_*.deb python3; } >log 2>&1 ||
    { tail -n 20 log && exit 1; }
  check_program /usr/bin /usr/bin/gpubench
  for name in copyright licences/nlohmann-json3-dev; do
    expect "$name is not there" test -s "/usr/share/doc/gpubench/$name"
  done
  for name in bash-completion/completions/gpubench zsh/vendor-completions/_gpubench \
    fish/vendor_completions.d/gpubench.fish man/man1/gpubench.1; do
    expect "$name is not there" grep -q gpubench "/usr/share/$name"
  done
  apt-get remove -y gpubench >log 2>&1
  expect "files are left when it is removed" test ! -e /usr/share/gpubench -a ! -e /usr/bin/gpubench
}

# --- Outside -------------------------------------------------------------------------------------------------------------

# In namespaces of its own: mounts end with it, and there is no network. No HOME, and a read-only installation.
in_namespaces() {
  local root=$1 files=$2
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/tmp"
  cp "$script" "${script%/tests/*}"/packaging/* "$root/tmp"
  if [[ $release == package ]]; then
    cp "$files"/*.deb "$root/tmp"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
  else
    mount -t tmpfs tmpfs "$root/opt"
    mount -t tmpfs tmpfs "$root/usr/local/bin"
    tar -C "$root/opt" -xJf "$files"/*.tar.xz
    cp "$files"/*.whl "$root/opt"
    mount -o remount,ro "$root/opt"
  fi
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin release="$release" bash /tmp/bundle_test.sh --inside
}

# The repository that apt takes Debian's packages from on this machine.
mirror() {
  # shellcheck disable=SC2016  # apt's own names
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "Debian" && $3 == "main" { print $1; exit }'
}

# make_root ROOT: of $release, with Python, whose packages are unpacked and not set up: that takes a third of the time. For
# the package a whole one of Debian 12.
make_root() {
  local root=$1 from package name=$release log=$1.log options=(--foreign --include=python3-venv)
  [[ ! -e $root.done ]] || return 0
  from=$(mirror)
  [[ -n $from ]] || skip "apt knows no mirror of Debian"
  [[ $release != package ]] || { name=bookworm && options=(); }
  rm -rf "$root"
  debootstrap --variant=minbase "${options[@]}" "$name" "$root" "$from" >"$log" 2>&1 ||
    skip "debootstrap made no root file system of $name: $(tail -n 1 "$log")"
  if [[ $release != package ]]; then
    for package in "$root"/var/cache/apt/archives/*.deb; do
      dpkg-deb --fsys-tarfile "$package" | tar -C "$root" --keep-directory-symlink -xf -
    done
    # What packages make when they are set up.
    rm -f "$root/proc"  # a link where debootstrap itself runs in a container
    mkdir -p "$root/proc" "$root/opt" "$root/usr/local/bin"
    [[ -e $root/bin/sh ]] || ln -s dash "$root/bin/sh"
  fi
  rm -rf "$root"/var/cache/apt/archives/*.deb
  touch "$root.done"
}

# check_versions ARCHIVE: each file of the archive that needs a glibc above 2.28 is one that libexec/start starts with a new
# enough one, or a library of those.
check_versions() {
  local tree file version needed carried above=0
  tree=$(mktemp -d)
  tar -C "$tree" --strip-components 1 -xJf "$1"
  needed=$(sed -n 's/.*programs need glibc \([0-9.]*\)[.] .*/\1/p' "$tree/libexec/start")
  carried=$(objdump -p "$tree/lib/glibc/libc.so.6" | sed -n 's/.* GLIBC_\([0-9.]*\) *$/\1/p' | sort -Vu | tail -n 1)
  expect "libexec/start does not say which glibc the programs need" test -n "$needed"
  expect "the archive has glibc $carried, and its programs need $needed" test "$(newer "$needed" "$carried")" = "$carried"
  while IFS= read -r file; do
    version=$(objdump -p "$file" 2>/dev/null | sed -n 's/.* GLIBC_\([0-9.]*\)$/\1/p' | sort -Vu | tail -n 1 || true)
    [[ $(newer "$version" 2.28) != 2.28 ]] || continue
    expect "${file#"$tree/"} needs glibc $version, and nothing gives it that" \
      test "$(newer "$version" "$needed")" = "$needed" -a -n "$(sed -nE '\#/(libexec|lib)/[^/]+$#p' <<<"$file")"
    above=$((above + 1))
  done < <(find "$tree" -type f -not -path '*/lib/glibc/*' \( -perm -u+x -o -name '*.so*' \))
  rm -r "$tree"
  echo "$above files need more than glibc 2.28, at most $needed, and get it"
}

newer() {
  printf '%s\n' "$@" | sort -V | tail -n 1
}

script=$(readlink -f "${BASH_SOURCE[0]}")
case $1 in
  --inside)
    if [[ $release == package ]]; then checks_of_package; else checks_inside; fi
    exit
    ;;
  --in-namespaces)
    release=$2
    in_namespaces "$3" "$4"
    exit
    ;;
esac

source_tree=$(readlink -f "$1") files=$(readlink -f "$2")
shift 2
((EUID == 0)) || skip "a root file system needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --net --pid --fork true 2>/dev/null || skip "this machine refuses namespaces"
if [[ -e $files/bundle/pack.cmake ]]; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  "$source_tree/tools/release" --build "$files" "$made/files"
  files=$made/files
fi
(cd "$files" && sha256sum --quiet --check SHA256SUMS)
check_versions "$files"/*.tar.xz
expect "the package does not depend on oneDNN" grep -q libdnnl <(dpkg-deb --field "$files"/*.deb Depends)
mkdir -p "$source_tree/build/rootfs"
for release in "$@"; do
  root=$source_tree/build/rootfs/$release network=(--net)
  [[ $release != package ]] || network=()
  exec {lock}>"$root.lock"
  flock "$lock"
  make_root "$root"
  unshare --mount "${network[@]}" --pid --fork bash "$script" --in-namespaces "$release" "$root" "$files"
  exec {lock}>&-
  echo "$release: works"
done
