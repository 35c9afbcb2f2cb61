# Sourced by run and compare: the arguments of their scripts that name a Python, unless the caller names one. Packages
# lie below build/peers, as those of the other comparisons.

source "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
traces=$peers_folder/traces
export PYTHONDONTWRITEBYTECODE=1

# prepare_packages: what requirements.txt lists, in build/peers/traces/python.
prepare_packages() {
  local folder=$peers_build/traces/python
  export PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
  cmp --silent "$traces/requirements.txt" "$folder/requirements.txt" && return
  say "installing JAX and HolisticTraceAnalysis into build/peers/traces/python"
  rm -rf "$folder"
  "$peers_python" -m pip install --quiet --no-deps --target "$folder" --requirement "$traces/requirements.txt" >&2
  cp "$traces/requirements.txt" "$folder/requirements.txt"
}

# run_traces SCRIPT ARGUMENT...: with the Python that --python names, or the private one.
run_traces() {
  local script=$1
  shift
  case " $* " in
    *" --help "* | *" -h "*) exec python3 -B "$traces/$script" --help ;;
    *" --python "* | *" --python="*) exec python3 -B "$traces/$script" "$@" ;;
  esac
  prepare_python
  prepare_torch
  prepare_packages
  exec "$peers_python" "$traces/$script" --python "$peers_python" --torch-python "$peers_torch_python" "$@"
}
