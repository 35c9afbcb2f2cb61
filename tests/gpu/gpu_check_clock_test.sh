#!/usr/bin/env bash
# tests/gpu_check on a clock that this test moves, with a program whose parts do nothing and take what they are told to:
# gpu_check_clock_test.sh CHECK seconds|rehearsals|taken_away PROGRAM TESTS
# shellcheck source=tests/gpu/gpu_check_tools.sh
source "$(dirname "${BASH_SOURCE[0]}")/gpu_check_tools.sh"

export GPU_CHECK_CLOCK=$top/clock GPU_CHECK_FAULT_AFTER=60 PYTHON=false PATH=$top/tools:$PATH
fake_sanitizer "Invalid __global__ read of size 4 bytes"
# Seconds of each part; 0 of those that are not here. A part that hangs takes five more than its limit.
cat >takes <<'TEXT'
devices 8
conformance 60
gradients 40
executors 30
speed 290
kernels 150
memory 5
training 57
telemetry 1
faults 1
memcheck 500
TEXT
# Moves the clock, by no more than the limit. The call whose number is in the file kill_at ends gpu_check, whose process
# is in the file checking, before or after its command.
cat >tools/timeout <<TEXT
#!/bin/bash
kind=list
while [[ \$1 == --* ]]; do
  [[ \$1 != --foreground ]] || kind=page
  shift
done
limit=\$1
shift
kind=\${GPU_CHECK_PART:-\$kind}
echo "\$kind \$limit" >>$top/limits
ends() { [[ -e $top/kill_at && \$(<$top/kill_at) == "\$(wc -l <$top/limits) \$1" ]] && kill -KILL "\$(<$top/checking)" && exit; }
ends before
rc=0
"\$@" || rc=\$?
takes=\$(sed -n "s/^\$kind //p" $top/takes)
if [[ \$takes == hangs ]]; then
  takes=\$((limit + 5)) rc=137
elif ((takes >= limit)); then
  takes=\$limit rc=124
fi
read -r before _ <$top/clock
echo "\$((\${before%.*} + takes)).50 0" >$top/clock
ends after
exit "\$rc"
TEXT
# Whose scripts do nothing, but those that gpu_check reads the results of; with EMPTY, none, and pages are empty.
cat >tools/quick <<TEXT
#!/bin/bash
[[ \$1 == --version && -n \$ARCHITECTURES ]] && echo "GPU        CUDA 13.0.88, kernels for \$ARCHITECTURES, cuDNN 9" && exit
[[ -z \$EMPTY || \$1 != */page.lua ]] || { echo "<html></html>" && exit; }
[[ -z \$EMPTY || \$1 != *.lua ]] || exit 0
[[ \$1 != *.lua || \$1 =~ /(devices|memory_sweep|faults|page)\.lua ]] && exec "$program" "\$@"
exit 0
TEXT
# shellcheck disable=SC2016  # of the script that is written
printf '#!/bin/bash\nprintf "[       OK ] %%s (0 ms)\\n" A B\n[[ -z $FAILS ]] || echo "[  FAILED  ] C (0 ms)"\necho "[  PASSED  ] 2 tests."\n' \
  >tools/two_tests
chmod +x tools/*
program=$top/tools/quick tests=$top/tools/two_tests

# begin SECONDS: what the clock shows.
begin() {
  echo "$1.00 0" >clock
  : >limits
}

# in_time SECONDS: gpu_check took no more since begin 1000.
in_time() {
  awk -v most="$1" '{ exit !($1 <= 1000 + most) }' clock || wrong "gpu_check --seconds $1 ended at $(<clock), begun at 1000"
}

# whole DIR: the pages of a run can be read.
whole() {
  [[ $(tail -n 1 "$1/index.html") == *"</html>" ]] || wrong "half a page after $2"
  [[ $(tail -n 1 "$1/summary.json") == "}" && -s $1/summary.txt && -s $1/parts.tsv ]] || wrong "half a summary after $2"
}

begin 1000
case $part in
  seconds)
    checked 0 --seconds 540
    said '^passed   executors +30 s' && said '^skipped  speed +290 s'
    said '^cut      kernels +96 s  not done after 96 s, when the time of --seconds was over$'
    said '^left out memory +0 s  needs 10 s or more, and there are 0 s left$' && said '^left out racecheck'
    said '^5 passed, 0 failed, 1 skipped, 1 cut, 10 left out$'
    shown '<h1>5 passed, 0 failed, 1 skipped, 1 cut, 10 left out; 11 parts not done</h1>'
    shown "Not done: kernels, jobs, memory, training, cupti, telemetry, traces, faults, memcheck, initcheck, racecheck. To add them: .*/gpu_check --into results"
    grep -vE '^(list|page) ' limits | diff - <(cat <<<$'devices 60\nconformance 120\nnets 90\ngradients 60\nexecutors 40\nspeed 300\nkernels 96') || wrong "the limits differ"
    in_time 540
    # What is not done is added, and a short part may fit where a longer one does not.
    add() { "$check" --program "$program" --tests "$tests" --into "$run" "$@" >log 2>&1; }
    echo '2000.99 0' >clock
    add --seconds 240 || wrong "--into with --seconds failed"
    ! grep -qE 'conformance|speed' log || wrong "a part that was done is run again"
    said '^passed   kernels +150 s' && said '^passed   training +57 s' && said '^passed   telemetry'
    said '^left out traces +0 s  needs 20 s or more, and there are 11 s left$' && said '^passed   faults'
    said '^11 passed, 0 failed, 2 skipped, 4 left out$'
    [[ $(grep '^faults' limits) == "faults 11" ]] || wrong "the limit of faults is $(grep '^faults' limits)"
    # A part that does not fit keeps its result of before.
    add --seconds 40 devices conformance || wrong "--into with --seconds failed"
    said '^left out conformance' && said '^11 passed, 0 failed, 2 skipped, 4 left out$'
    # What had failed before the time was over is a failure; so is a finding.
    checked 0 --seconds 70 conformance
    said '^cut      conformance +54 s  not done after 54 s, .* was over: 2 tests passed, 0 failed$'
    FAILS=1 checked 1 --seconds 70 conformance
    said '^failed   conformance +54 s  not done after 54 s, .* was over: 2 tests passed, 1 failed$'
    checked 1 --seconds 70 memcheck
    said '^failed   memcheck .*, 1 findings$'
    # Kernels that the driver compiles are named.
    for architectures in 75-virtual "75 80-real" 90-virtual; do
      ARCHITECTURES=$architectures checked 0 devices
      said "^passed   devices .* the program has them for $architectures, not for 90; build it with -DGPUBENCH_CUDA_ARCHITECTURES=90$"
    done
    for architectures in 90a "75-virtual 90-real" all-major; do
      ARCHITECTURES=$architectures checked 0 devices
      ! grep -q 'the driver compiles' log || wrong "kernels for $architectures are not seen"
    done
    ;;
  rehearsals)
    # Twenty calls in which parts, pages and the list of devices are slow at random, or hang.
    export EMPTY=yes
    mapfile -t names < <("$check" --list | awk '{ print $1, $3 }')
    for ((seed = 1; seed <= 20; ++seed)); do
      RANDOM=$seed
      begin 1000
      echo "page $((RANDOM % 5))"$'\n'"list $((RANDOM % 15))" >takes
      for name in "${names[@]}"; do
        if ((RANDOM % 5 == 0)); then
          echo "${name% *} hangs"
        else
          echo "${name% *} $((RANDOM % (2 * ${name#* })))"
        fi
      done >>takes
      seconds=$((60 + RANDOM % 900)) rc=0
      rm -rf results
      "$check" --program "$program" --tests "$tests" --seconds "$seconds" >log 2>&1 || rc=$?
      # Parts that are over their own limits are failures.
      ((rc <= 1)) || wrong "rehearsal $seed has status $rc"
      in_time "$seconds"
      whole results/gpu_check/* "rehearsal $seed"
      [[ $(wc -l <results/gpu_check/*/parts.tsv) == "${#names[@]}" ]] || wrong "rehearsal $seed says nothing of some parts"
    done
    ;;
  taken_away)
    # The machine is gone at every step of the plan: before or after any part, or while a page is written.
    kept() { "$check" --program "$program" --tests "$tests" --into "$run" devices >log 2>&1; }
    for ((call = 2, rc = 137; rc == 137; ++call)); do
      for when in before after; do
        rm -rf results
        begin 1000
        rc=0
        echo "$call $when" >kill_at
        # shellcheck disable=SC2016  # for the shell that becomes gpu_check
        {
          bash -c 'echo $$ >checking && exec "$@"' - "$check" --program "$program" --tests "$tests" --seconds 540 \
            --archive "$top/kept.tar.gz" >log 2>&1 || rc=$?
        } 2>/dev/null # "Killed", says the shell
        rm kill_at
        run=$(echo results/gpu_check/*)
        # Nothing can be there before the first page.
        ((call == 2)) || whole "$run" "the end $when call $call"
        ((call == 2)) || tar -xzOf kept.tar.gz --wildcards '*/index.html' | grep -q '</html>$' || wrong "half an archive"
        ((call == 2)) || kept || wrong "--into after the end $when call $call"
      done
    done
    ((call > 15)) || wrong "only $call calls were ended"
    ;;
esac
echo "gpu_check does as it should: $part"
