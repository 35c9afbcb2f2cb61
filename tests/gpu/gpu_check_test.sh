#!/usr/bin/env bash
# tests/gpu_check without a GPU and with CUDA on the CPU:
# gpu_check_test.sh CHECK without_a_gpu|passes|fails|ends|speed PROGRAM TESTS
# shellcheck source=tests/gpu/gpu_check_tools.sh
source "$(dirname "${BASH_SOURCE[0]}")/gpu_check_tools.sh"

case $part in
  without_a_gpu)
    grep -q '^no GPU: ' <("$program" devices) || { echo "skipped: there is a GPU" && exit 77; }
    checked 77
    said '^gpu_check: no GPU: .+; nothing was checked$'
    [[ ! -e results ]] || wrong "a run was written"
    checked 2 conformanse
    said "unknown part 'conformanse'; there are: devices conformance nets gradients "
    checked 2 --quick
    said "unknown option '--quick'"
    checked 2 --limit
    said "--limit needs a value"
    "$check" --list >log
    # Every part can end before its least time is over, and only the sanitizers come behind the fault on purpose.
    awk -F '|' '!($2 > $3 && $3 > 0) { exit 1 } END { exit NR != 17 }' log || wrong "--list"
    [[ $(awk '{ print $1 }' log | tail -n 4 | paste -s -d ' ') == "faults memcheck initcheck racecheck" ]] || wrong "--list"
    for seconds in 0 -5 2m 1e3 9999999; do
      checked 2 --seconds "$seconds"
      said "^gpu_check: --seconds: '$seconds' is no number of seconds$"
    done
    checked 2 --seconds 20
    said "^gpu_check: --seconds: 20 are too few; 'devices' needs 5, with its pages 21$"
    checked 2 --program /nowhere/gpubench devices
    said '^gpu_check: /nowhere/gpubench is not there$'
    checked 2 --into nowhere devices
    said "--into: 'nowhere' is no run of gpu_check"
    ;;
  passes)
    # A part of the op cases is enough: core/backend/cuda tests them all.
    export GTEST_TOTAL_SHARDS=12 GTEST_SHARD_INDEX=1
    export GPU_CHECK_MODELS=M1 GPU_CHECK_STEPS=12 GPU_CHECK_EXAMPLES=96 GPU_CHECK_CHUNK=$((1 << 22)) \
      GPU_CHECK_FAULT_AFTER=60 GPU_CHECK_KERNELS_DEVICE=emulated:h200:0 GPU_CHECK_SMALL=1 GPU_CHECK_KERNELS_OF=M1,ResNet-50
    fake_sanitizer "ERROR SUMMARY: 0 errors"
    PATH=$top/tools:$PATH PYTHON=false checked 0 --limit 250 --archive kept.tar.gz
    for name in devices conformance nets gradients executors training memory cupti faults kernels traces memcheck initcheck racecheck; do
      said "^passed   $name +[0-9]+ s"
    done
    said '^passed   conformance .* [1-9][0-9]+ tests passed$'
    said '^skipped  telemetry .+ s  .+'
    said '^skipped  speed .+ s  .+' && said '^skipped  jobs .+ s  no PyTorch for the GPU: false cannot be run$'
    said '^14 passed, 0 failed, 3 skipped$'
    diff <(grep -E '^(passed|skipped|[0-9])' log) "$run/summary.txt" || wrong "summary.txt differs"
    for file in index.html summary.json environment.json devices.txt conformance.log speed.log; do
      [[ -s $run/$file ]] || wrong "$file is not in the run"
    done
    mkdir unpacked && tar -xzf kept.tar.gz -C unpacked && diff -r unpacked/* "$run" || wrong "the archive is another run"
    cat >json.lua <<'LUA'
local text = assert(io.open(os.getenv "JSON_FILE")):read "a"
assert(text:find '"device": "CUDA on the CPU', "the device")
assert(select(2, text:gsub('"name": "%l+", "status": "passed"', "")) == 14, "fourteen parts that passed")
assert(text:find '"counts": "14 passed, 0 failed, 3 skipped"', "the counts")
assert(text:find('"missing": []', 1, true), "all parts were run")
LUA
    JSON_FILE=$run/summary.json "$program" json.lua || wrong "summary.json"
    shown '<h1>14 passed, 0 failed, 3 skipped</h1>'
    shown 'M1: kernels by time' && shown 'ResNet-50: kernels by time' && shown '>matmul<' && shown '>conv2d<'
    shown 'Verdict: ' && shown 'Suggestions' && shown 'without fuse_' && shown 'products searched among 8'
    shown 'The part speed: skipped, false, which compares the times, cannot be run' && shown 'Bars: 0 met, 0 missed, 10 not'
    shown 'cublaslt:|emulated' && shown '<th[^>]*>algorithm'
    grep -oE '[0-9.]+ [TGM]FLOP/s' "$run/index.html" >/dev/null || wrong "no kernel has a rate"
    # A second call adds to the run; without parts, what is not done: nothing.
    into=$run
    "$check" --program "$program" --tests "$tests" --into "$into" devices >log 2>&1 || wrong "--into failed"
    said '^passed   devices'
    "$check" --program "$program" --tests "$tests" --into "$into" >log 2>&1 || wrong "--into failed"
    ! grep -q devices log || wrong "a part that was done is run again"
    [[ $(grep -c '^devices' "$into/parts.tsv") == 1 ]] || wrong "a part is there twice"
    said '^14 passed, 0 failed, 3 skipped$'
    ! grep -rE "$top|$(dirname "$program")" "$run" || wrong "the run tells where things lie"
    ;;
  fails)
    # A GPU that is lost, in a part that does not expect it.
    CUDA_ON_CPU_FAULT_AFTER=3 checked 1 devices
    said '^failed   devices'
    said '^0 passed, 1 failed, 0 skipped$'
    shown '<h1>0 passed, 1 failed, 0 skipped; 16 parts not done</h1>'
    shown "Not done: conformance, .*, racecheck. To add them: .*/gpu_check --into results/gpu_check/${run##*/}"
    shown 'The part speed has not been run' && shown 'Bars: 0 met, 0 missed, 10 not measured'
    grep -q '"status": "failed"' "$run/summary.json" || wrong "summary.json has no failed part"
    CUDA_ON_CPU_FAULT_AFTER=40 GPU_CHECK_MODELS=M1 GPU_CHECK_STEPS=2 checked 1 executors
    said '^failed   executors'
    # A GPU that is not lost where it should be.
    GPU_CHECK_FAULT_AFTER=1000000 checked 1 faults
    said '^failed   faults .* ended with status 0, expected 2'
    # Kernels with findings; a checker that looks at nothing.
    fake_sanitizer "ERROR SUMMARY: 1 error"
    printf '#!/bin/bash\necho "[  PASSED  ] 1 test."\n' >tools/one_test
    chmod +x tools/one_test
    tests=$top/tools/one_test PATH=$top/tools:$PATH checked 1 memcheck
    said '^failed   memcheck .* memcheck tells no result'
    # A test program that has no such tests, one that fails, and one that hangs.
    printf '#!/bin/bash\necho "[  PASSED  ] 0 tests."\n' >tools/none
    printf '#!/bin/bash\necho "[  PASSED  ] 3 tests."\nexit 1\n' >tools/failing
    printf '#!/bin/bash\necho "what it had found"\nsleep 100\n' >tools/hanging
    chmod +x tools/none tools/failing tools/hanging
    tests=$top/tools/none checked 1 conformance
    said '^failed   conformance .* no test is called'
    tests=$top/tools/failing checked 1 gradients
    said '^failed   gradients .* gpu_tests ended with status 1'
    # Cases that the backend refuses are counted.
    printf '#!/bin/bash\necho "[  PASSED  ] 3 tests."\necho "2 cases unchecked, at least in one type"\n' >tools/none
    tests=$top/tools/none checked 0 conformance
    said '^passed   conformance .* 3 tests passed;2 cases unchecked, at least in one type$'
    tests=$top/tools/hanging checked 1 gradients --limit 1
    said '^failed   gradients .* not done after 1 s'
    grep -q '^what it had found$' "$run/gradients.log" || wrong "what a part printed before its time ended is lost"
    # A machine without a home; an archive that cannot be written.
    (unset HOME && checked 0 devices) || exit
    checked 1 devices --archive nowhere/kept.tar.gz
    said '/nowhere/kept.tar.gz was not written$' && said '^passed   devices'
    # Kernels whose time ends: the models that were done, with the algorithms of a search, stand in the page.
    cat >printed <<'TEXT'
data: {"model":"M1","traced":true,"entries":[
{"op":"matmul","time_s":1e-5,"share":0.1,"calls":1,"implementation":"cublaslt:21"}]}
data: {"model":"M1","traced":true,"search":8,"entries":[
{"op":"matmul","time_s":1e-5,"share":0.1,"calls":1,"implementation":"cublaslt:24 searched"}]}
data: {"mod
TEXT
    sed -i ':join /\[$/{N;s/\n//;bjoin}' printed
    cat >untraced <<'TEXT'
data: {"model":"M1","batch":32,"dtype":"float32","kernels":9,"step_time_s":1e-4,"device":"gpu:0"}
data: {"model":"M1","without":"fuse_metrics","step_time_s":1.02e-4,"step_time_low_s":1.01e-4,"step_time_high_s":1.05e-4}
data: {"model":"M1","without":"fuse_epilogue","step_time_s":2e-4}
data: {"model":"M2","batch":32,"dtype":"float32","kernels":9,"step_time_s":1e-4,"device":"gpu:0"}
data: {"model":"M2","without":"fuse_metrics","step_time_s":1.01e-4}
TEXT
    # shellcheck disable=SC2016  # of the script that is written
    printf '#!/bin/bash\n[[ $1 != *kernels.lua ]] && exec %q "$@"\n[[ -n $GPU_CHECK_TRACED ]] || { cat %q && exit; }\ncat %q\nsleep 100\n' \
      "$program" "$top/untraced" "$top/printed" >tools/slow
    chmod +x tools/slow
    program=$top/tools/slow checked 1 kernels traces --limit 3
    said '^passed   kernels' && said '^failed   traces .* not done after 3 s'
    shown 'Delete fuse_metrics, which gains less than 3 %: at best 2.0 % \(1.0 to 4.8 %\), in M1\.'
    ! grep -q 'Delete fuse_epilogue' "$run/index.html" || wrong "a pass that gains half of the step is to be deleted"
    shown 'a step of 100 us' && shown 'cublaslt:21; when searched: cublaslt:24 searched'
    # A process that ends in the middle of the traces costs no figure that is not traced.
    sed -i 's/^sleep 100$/kill -SEGV $$/' tools/slow
    program=$top/tools/slow checked 1 kernels traces
    said '^passed   kernels' && said '^failed   traces' && shown 'a step of 100 us'
    # Algorithms of traced kernels that no op case took are named.
    printf '#!/bin/bash\necho "[  PASSED  ] 3 tests."\necho "implementation: 2 tests took cublaslt:21"\n' >tools/none
    program=$top/tools/slow tests=$top/tools/none checked 1 conformance traces
    shown 'No op case took cublaslt:24 searched\.'
    # One that the system ends has not used up its time.
    # shellcheck disable=SC2016  # of the script that is written
    printf '#!/bin/bash\n[[ $1 != *training.lua ]] && exec %q "$@"\nkill -KILL $$\n' "$program" >tools/slow
    program=$top/tools/slow checked 1 training
    said '^failed   training .* killed, as a system does that has no memory left'
    ;;
  ends)
    # A part that hangs, with a child in the same group, and does not end by SIGTERM at once.
    mkdir tools
    printf '#!/bin/bash\ntrap "echo told; exit 3" TERM\ntouch %q\nsleep 1000 &\nwait\n' "$top/began" >tools/hanging
    chmod +x tools/hanging
    for signal in TERM HUP INT KILL; do
      rm -rf results began
      # What a script starts beside itself ignores SIGINT.
      env --default-signal=INT "$check" --program "$program" --tests "$top/tools/hanging" devices conformance gradients \
        >log 2>&1 &
      process=$! rc=0
      running test -e began
      run=$(echo results/gpu_check/*)
      shown 'conformance' && shown '<h1>1 passed, 0 failed, 0 skipped, 1 running; 16 parts not done</h1>'
      kill "-$signal" "$process"
      wait "$process" || rc=$?
      ((rc == 128 + $(kill -l "$signal"))) || wrong "SIG$signal: the status is $rc"
      none_hangs() { ! pgrep -f "$top/tools/hanging"; }
      running none_hangs
      [[ $signal != KILL ]] || break
      said "^failed   conformance +[0-9]+ s  ended by SIG$signal$"
      said '^1 passed, 1 failed, 0 skipped$' && shown '<h1>1 passed, 1 failed, 0 skipped; 15 parts'
      shown "Not done: nets, gradients, .*/gpu_check --into results/gpu_check/"
      [[ ! -s $run/gradients.log ]] || wrong "a part began after SIG$signal"
    done
    # The page of before the part is there, and another call adds to it.
    shown '<h1>1 passed, 0 failed, 0 skipped, 1 running; 16 parts' && shown 'not done, or ended with gpu_check'
    "$check" --program "$program" --tests "$tests" --into "$run" devices >log 2>&1 || wrong "--into failed"
    said '^1 passed, 0 failed, 0 skipped, 1 running$'
    ;;
  speed)
    command -v python3 >/dev/null || { echo "skipped: python3 is not installed" && exit 77; }
    export GPU_CHECK_SMALL=1 GPU_CHECK_LINES=m1,host GPU_CHECK_KERNELS_OF=M1 GPU_CHECK_SEARCH=2
    # Without PyTorch and without traces: gpubench's own bars, and the steps.
    mkdir tools
    printf '#!/bin/bash\n[[ $* != *import\\ torch* ]] || { echo "no module torch" >&2; exit 1; }\nexec python3 "$@"\n' >tools/without
    chmod +x tools/without
    PYTHON=$top/tools/without checked 0 speed kernels traces --limit 250
    said '^passed   speed .* s  no PyTorch$' && said '^passed   kernels'
    said '^missed: m1: M1 batch 32 float32: step of gpubench \(graph\): [0-9.]+ ms, at most 40 us$'
    said '^3 passed, 0 failed, 0 skipped; bars: [01] met, [12] missed, 8 not measured$'
    shown '<h1>3 passed, 0 failed, 0 skipped; bars: [01] met, [12] missed, 8 not measured; 14 parts not done</h1>'
    shown 'this line was not asked for' && shown 'no PyTorch: .*no module torch'
    shown 'Its kernels are not listed, because none can be traced: CUPTI' && shown 'without fuse_'
    shown 'products searched among 2' && shown 'missed: m1: M1 batch 32'
    # With a PyTorch that is said to be ten times as slow, and ended in the middle of its second figure.
    cat >tools/with <<'TEXT'
#!/bin/bash
[[ $* == *import\ torch* ]] && exit
[[ $* == *torch_lines.py* ]] || exec python3 "$@"
echo '{"name": "m1 eager", "samples": [100, 101, 102]}'
touch "$TORCH_BEGAN"
sleep 1000
TEXT
    chmod +x tools/with
    rm -rf results
    TORCH_BEGAN=$top/began PYTHON=$top/tools/with "$check" --program "$program" --tests "$tests" speed >log 2>&1 &
    process=$! rc=0
    running test -e began
    kill "$process"
    wait "$process" || rc=$?
    ((rc == 143)) || wrong "the status is $rc"
    run=$(echo results/gpu_check/*)
    said '^failed   speed .* ended by SIGTERM$' && said ' bars: [12] met, [12] missed, [67] not measured$'
    shown 'PyTorch eager over gpubench' && shown '>101 s<' && shown 'Not all processes of the comparison were done'
    # The same at its limit.
    TORCH_BEGAN=$top/began PYTHON=$top/tools/with checked 1 --limit 15 speed
    said '^failed   speed .* not done after 15 s$' && shown '>101 s<'
    ;;
esac
echo "gpu_check does as it should: $part"
