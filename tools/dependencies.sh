# Installs missing packages of tools/dependencies.txt. Sourced by gpubench, tests/run and .ci/run.
# Prints to standard error only, and calls no package tool if nothing is missing.

dependencies_file=${BASH_SOURCE[0]%/*}/dependencies.txt

# header_exists FILE: whether FILE is below a folder that the compiler or CPATH searches.
header_exists() {
  local folder folders
  IFS=: read -ra folders <<<"${CPATH:-}:${CPLUS_INCLUDE_PATH:-}:/usr/local/include:/usr/include"
  for folder in "${folders[@]}" /usr/include/*-linux-gnu*; do
    [[ -n $folder && -e $folder/$1 ]] && return
  done
  return 1
}

# packages_of ENTRY...: a line for each; of "NAME or NAME..." the first that apt knows, or else the first.
packages_of() {
  local entry name chosen
  for entry in "$@"; do
    chosen=${entry%% *}
    [[ $entry != *" or "* ]] || for name in ${entry// or / }; do
      [[ -z $(apt-cache show "$name" 2>/dev/null) ]] || { chosen=$name && break; }
    done
    echo "$chosen"
  done
}

# missing_dependencies ROLE...: prints "package|why" for each entry with one of these roles whose check fails.
missing_dependencies() {
  local role package check why
  while IFS='|' read -r role package check why; do
    read -r role <<<"$role"
    [[ " $* " == *" $role "* ]] || continue
    read -r package <<<"$package"  # without the spaces around it
    read -r check <<<"$check"
    read -r why <<<"$why"
    case $check in
      command:*) command -v "${check#command:}" >/dev/null && continue ;;
      header:*) header_exists "${check#header:}" && continue ;;
      file:*) compgen -G "${check#file:}" >/dev/null && continue ;;
      *) echo "tools/dependencies.txt: $package has an unknown check '$check'" >&2 && return 2 ;;
    esac
    echo "$package|$why"
  done < <(grep -v '^#' "$dependencies_file")
}

# require_dependencies ROLE...: installs missing packages, or says why it cannot and returns 1.
# GPUBENCH_INSTALL=no only lists them.
require_dependencies() {
  local missing package why entries=() packages as_root=()
  missing=$(missing_dependencies "$@") || return 1
  [[ -n $missing ]] || return 0
  echo "gpubench needs packages that are not installed:" >&2
  while IFS='|' read -r package why; do
    printf '  %-24s %s\n' "$package" "$why" >&2
    entries+=("$package")
  done <<<"$missing"

  mapfile -t packages < <(packages_of "${entries[@]}")
  local by_hand="install them with: apt-get install --no-install-recommends ${packages[*]}"
  local without="without root, take the archive or the wheel, which need no package: docs/install.md"
  if [[ ${GPUBENCH_INSTALL:-yes} == no ]]; then
    echo "GPUBENCH_INSTALL=no: nothing was installed; $by_hand" >&2
    return 1
  fi
  if ! command -v apt-get >/dev/null; then
    echo "this system has no apt-get: install its equivalents of these Debian packages with its own package tool;" \
      "$without" >&2
    return 1
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "this user is not root and there is no sudo; as root, $by_hand; $without" >&2
      return 1
    fi
    as_root=(sudo)
    [[ -t 0 ]] || as_root=(sudo -n)
  fi
  echo "installing them with ${as_root[*]:+sudo }apt-get ..." >&2
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update && mapfile -t packages < <(packages_of "${entries[@]}") &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"; } \
    </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "the installation failed; $by_hand; $without" >&2
    return 1
  fi
  rm -f "$log"
}
