"""Makes each trace of cases.py with its framework, and compares the first finding of `gpubench explain TRACE --json`
with the cause that the script has. Prints a line a trace and a total; exit status 1 where more than two are wrong."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cases

here = pathlib.Path(__file__).resolve().parent
MOST_WRONG = 2


def arguments():
    parser = argparse.ArgumentParser(prog="tests/peers/traces/run", description=__doc__)
    parser.add_argument("program", help="the gpubench to ask")
    parser.add_argument("--python", help="a Python with the frameworks (default: installs them below build/peers)")
    parser.add_argument("--torch-python", help="the same, of PyTorch alone")
    parser.add_argument("--only", default="", metavar="REGEX", help="traces whose FRAMEWORK/NAME matches")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keeps the traces there, and does not make those that lie there")
    return parser.parse_intermixed_args()


def make(case, folder, python):
    """Makes the trace; an error has the last line of what the script printed."""
    folder.mkdir(parents=True)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu",
                   "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    done = subprocess.run([python, here / f"{case.framework}_traces.py", case.name, folder], env=environment, text=True,
                          capture_output=True, timeout=900)
    if done.returncode != 0:
        folder.rename(folder.with_name(folder.name + ".failed"))
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])


def text_of(finding, kind):
    return f"{finding} ({kind})" if kind else finding


def judge(case, folder, program):
    """What gpubench says of the trace, and whether it is the cause."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([program, "explain", folder, "--json", "--out", out], text=True, capture_output=True)
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return (done.stderr.strip().splitlines() or ["no output"])[0], False
    points = told["points"]
    if case.rank is not None:
        ranks = [trace.get("rank") for trace in told["traces"]]
        if case.rank not in ranks:
            return f"no rank {case.rank} among {ranks}", False
        points = [points[ranks.index(case.rank)]]
    findings = points[0]["findings"]
    if not findings:
        return points[0]["verdict"], case.finding == "compute_bound" and told["status"] == "healthy"
    # The others wait for a late rank, which all rows say; what the late one does is the finding behind it.
    own = [one for one in findings if case.rank is None or one["name"] != "uneven_replicas"] or findings
    first = own[0]
    says_idle = [one["evidence"] for one in findings if re.search(r"\bidles?\b", one["headline"] + one["evidence"])]
    said = text_of(first["name"], first.get("kind")) + f": {first['headline']}"
    if says_idle:
        return f"{said}; a processor is called idle: {says_idle[0]}", False
    if case.named and case.named not in first["evidence"]:
        return f"{said}; {case.named} is not named: {first['evidence']}", False
    return said, first["name"] == case.finding and (case.kind is None or first.get("kind") == case.kind)


def main():
    options = arguments()
    python = {"torch": options.torch_python or options.python, "keras": options.python, "jax": options.python}
    chosen = [case for case in cases.CASES if re.search(options.only, f"{case.framework}/{case.name}")]
    right = 0
    with tempfile.TemporaryDirectory() as temporary:
        for case in chosen:
            folder = (options.keep or pathlib.Path(temporary)).resolve() / case.framework / case.name
            try:
                if not folder.exists():
                    make(case, folder, python[case.framework])
                said, is_right = judge(case, folder, options.program)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                said, is_right = f"the trace was not made: {error}", False
            right += is_right
            wanted = "" if is_right else f"; expected {text_of(case.finding, case.kind)}"
            print(f"{'right' if is_right else 'WRONG'}  {case.framework}/{case.name}: {said}{wanted}", flush=True)
    print(f"{right} of {len(chosen)} traces explained by their cause")
    sys.exit(right < len(chosen) - MOST_WRONG)


if __name__ == "__main__":
    main()
