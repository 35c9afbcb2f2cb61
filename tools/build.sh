# Builds the program of the release preset. Sourced by the launcher gpubench when the build is out of date. Uses its
# variables root, build, program and stamp, and its function up_to_date. The stamp file gets the time at which the build
# began, so that an edit made during the build is not missed.

source "$root/tools/dependencies.sh"

progress_status='[%p %es] '  # ninja's, of which run_quietly shows a line for each tenth that is done

# run_quietly LOG COMMAND...: runs COMMAND; shows its progress, and its output only if it fails.
run_quietly() {
  local log=$1 rc=0
  shift
  "$@" </dev/null 2>&1 | tee "$log" | awk -F '[][%s ]+' '/^\[ *[0-9]+% [0-9.]+s\]/ && int($2 / 10) > tenths {
    tenths = int($2 / 10); printf "gpubench: %d %% done after %d s\n", $2, $3; fflush() }' >&2 || rc=$?
  if ((rc != 0)); then
    cat "$log" >&2
    echo "gpubench: '$*' failed with status $rc" >&2
  fi
  return "$rc"
}

configure_program() {
  [[ ! -e $build/build.ninja ]] || return 0
  echo "gpubench: configuring the build (in $build) ..." >&2
  (cd "$root" && run_quietly "$build/configure.log" cmake --preset release -DGPUBENCH_TESTS=OFF)
}

# On a terminal ninja shows its one-line progress. One job a core: with the one more that ninja would start, the
# compilers' page faults make two cores a tenth slower.
compile_program() {
  local cores status=
  cores=$(nproc)
  local ninja=(ninja -C "$build" -j "$cores" gpubench)
  [[ $("${ninja[@]}" -n 2>&1) != *"no work to do"* ]] || return 0
  if [[ -e $program ]]; then
    echo "gpubench: building what has changed ..." >&2
  else
    local seconds=420  # of one processor
    status=$progress_status
    echo "gpubench: building the program, about $((1 + seconds / cores / 60)) minutes on $cores processors ..." >&2
  fi
  if [[ -t 2 ]]; then
    NINJA_STATUS='[%p of %t steps, %es] ' "${ninja[@]}" </dev/null >&2
  else
    NINJA_STATUS=$status run_quietly "$build/build.log" "${ninja[@]}"
  fi
}

# Charts are optional: if gnuplot cannot be installed, this says so and the build continues.
require_packages() {
  require_dependencies build chart || [[ -z $(missing_dependencies build) ]]
}

build_program() {
  local started lock
  mkdir -p "$build"
  exec {lock}>"$build/launcher.lock"
  flock "$lock"
  if ! up_to_date; then
    require_packages || return 1
    started=$(mktemp "$build/launcher.XXXXXX")
    if ! { configure_program && compile_program; }; then
      rm -f "$started"
      return 1
    fi
    mv "$started" "$stamp"
  fi
  exec {lock}>&-
}
