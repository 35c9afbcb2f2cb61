# The private Python environment of the comparisons: build/peers/venv. Sourced; everything it prints goes to standard
# error. What is installed stays inside build/, but for Debian's python3-torch where PyTorch's own wheel does not load.

peers_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peers_root=$(cd "$peers_folder/../.." && pwd)
peers_build=$peers_root/build/peers
peers_python=$peers_build/venv/bin/python
peers_torch_python=
export PYTHONPYCACHEPREFIX=$peers_build/pycache

say() { echo "peers: $*" >&2; }

# usable_python: the first Python of at least 3.10 that can make environments.
usable_python() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null &&
      echo "$candidate" && return
  done
  return 1
}

# with_root COMMAND...: runs it as root, with sudo when needed.
with_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install_package() {
  say "installing Debian's $1: $2"
  with_root apt-get install --yes --no-install-recommends "$1" >&2
}

# prepare_python: TensorFlow in the private environment. Reused while the requirement files stay as they are.
prepare_python() {
  local stamp wanted base
  stamp=$peers_build/requirements.stamp
  wanted=$(cat "$peers_folder"/requirements*.txt | sha256sum)
  if [[ -x $peers_python && -e $stamp && $(<"$stamp") == "$wanted" ]]; then
    say "using the Python environment in build/peers/venv"
    return
  fi
  base=$(usable_python) || { install_package python3-venv "makes the private Python environment" && base=/usr/bin/python3; }
  say "making a private Python environment in build/peers/venv: TensorFlow and Keras, to compare with (about 1.5 GB)"
  rm -rf "$peers_build/venv" "$stamp"
  mkdir -p "$peers_build"
  "$base" -m venv "$peers_build/venv"
  "$peers_python" -m pip install --quiet --requirement "$peers_folder/requirements.txt" >&2
  say "adding PyTorch (about 4 GB, because its wheel does not load without NVIDIA's libraries)"
  "$peers_python" -m pip install --quiet --no-deps --requirement "$peers_folder/requirements-torch.txt" >&2 ||
    say "PyTorch's wheel could not be installed"
  echo "$wanted" >"$stamp"
}

# prepare_torch: sets peers_torch_python to a Python that imports PyTorch, or leaves it empty and says why.
prepare_torch() {
  local candidate
  for candidate in "$peers_python" /usr/bin/python3; do
    "$candidate" -c 'import torch, numpy' 2>/dev/null && peers_torch_python=$candidate && return
  done
  say "PyTorch does not load from the private environment"
  install_package python3-torch "PyTorch, to compare with" && /usr/bin/python3 -c 'import torch, numpy' 2>/dev/null &&
    peers_torch_python=/usr/bin/python3 && return
  say "PyTorch cannot be installed here; its columns stay empty"
}

# prepare_programs TARGET...: builds these targets of the release preset.
prepare_programs() {
  source "$peers_root/tools/dependencies.sh"
  require_dependencies build test
  say "building $*"
  cmake -S "$peers_root" --preset release -DGPUBENCH_TESTS=ON >/dev/null
  ninja -C "$peers_root/build/release" "$@" >&2
}

# find_digits: the full digits when they lie beside the repository; else every system uses the sample.
find_digits() {
  local beside=$peers_root/../shared/data/mnist
  [[ -n ${GPUBENCH_DATA:-} || ! -d $beside ]] || GPUBENCH_DATA=$(cd "$beside" && pwd)
  export GPUBENCH_DATA=${GPUBENCH_DATA:-}
  [[ -n $GPUBENCH_DATA ]] || unset GPUBENCH_DATA
}
