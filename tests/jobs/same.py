"""Whether jobs print, write and end under `gpubench watch` as they do without it.

    python tests/jobs/same.py GPUBENCH                       every job, a few steps of each
    python tests/jobs/same.py GPUBENCH torch/photo_classes   those whose names begin so

Each runs twice alone and once under `watch`. What the first two have in common, with times masked, must be the same in
the third: lines of both outputs in their order, the status, names and contents of the files that are left in TMPDIR, and
the state of the random number generators of Python, NumPy and PyTorch at the end. Exit status 1 if one is not."""
import argparse
import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import costs

TIMES = re.compile(r"\d[\d.,e+-]*\s*(?=(?:s|ms|us|µs|min|it/s|s/it|s/step|ms/step|us/step)\b)|\d+:\d\d(?::\d\d)?|\bETA:.*")
RANDOM_NAMES = re.compile(r"tmp[a-z0-9_]{8}")
# Found by the chain of `sitecustomize`, with the agent and without it.
AT_THE_END = '''
import atexit, hashlib, os, sys
def states():
    found = []
    if "random" in sys.modules: found.append(repr(sys.modules["random"].getstate()))
    if "numpy" in sys.modules: found.append(repr(sys.modules["numpy"].random.get_state()))
    if "torch" in sys.modules: found.append(repr(sys.modules["torch"].get_rng_state().sum().item()))
    with open(os.path.join(os.environ["GPUBENCH_TEST_STATES"], str(len(sys.argv)) + "-" + os.environ.get("RANK", "0")), "a") as file:
        print(hashlib.sha256(" ".join(found).encode()).hexdigest() if found else "", file=file)
if sys.argv and sys.argv[0].endswith("train.py") or "train.py" in " ".join(getattr(sys, "orig_argv", [])): atexit.register(states)
'''


def run(job, python, before):
    """Of a run of a few steps: named lists of lines."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        temporary, states = os.path.join(folder, "tmp"), os.path.join(folder, "states")
        site = os.path.join(folder, "site")
        for one in (temporary, states, site):
            os.mkdir(one)
        pathlib.Path(site, "sitecustomize.py").write_text(AT_THE_END)
        command = [python if word == "python" else word for word in job["command"]] + job["smoke"]
        environment = dict(os.environ, TMPDIR=temporary, GPUBENCH_TEST_STATES=states, PYTHONUNBUFFERED="1",
                           PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", TF_CPP_MIN_LOG_LEVEL="2",
                           PYTHONPATH=site + os.pathsep + os.environ.get("PYTHONPATH", ""))
        done = subprocess.run([*before, *(["--out", folder, "--"] if before else []), *command], cwd=job["folder"],
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace", timeout=600)
        files = sorted(path for path in pathlib.Path(temporary).rglob("*") if path.is_file())
        return {"output": masked(done.stdout, folder), "errors": masked(done.stderr, folder),
                "status": [str(done.returncode)],
                "files": ["%s %s" % (RANDOM_NAMES.sub("#", str(path.relative_to(temporary))),
                                     hashlib.sha256(path.read_bytes()).hexdigest()) for path in files],
                "random numbers": [text for path in sorted(pathlib.Path(states).iterdir())
                                   for text in path.read_text().split()]}


def masked(text, folder):
    lines = re.split(r"[\r\n]+", text.replace(folder, "FOLDER"))
    return [RANDOM_NAMES.sub("#", TIMES.sub("#", line)).rstrip() for line in lines if line.strip()]


def common(a, b):
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [line for block in blocks for line in a[block.a:block.a + block.size]]


def compare(job, python, gpubench):
    first, second = run(job, python, []), run(job, python, [])
    watched = run(job, python, [gpubench, "watch"])
    wrong = []
    for name in first:
        shared = common(first[name], second[name])
        rest = iter(watched[name])
        lost = next((line for line in shared if line not in rest), None)
        if lost is not None:
            wrong.append("%s: %r is missing or elsewhere" % (name, lost[:200]))
        if len(first[name]) == len(second[name]) == len(shared) and name != "errors" and watched[name] != shared:
            wrong.append("%s: there is more: %d instead of %d" % (name, len(watched[name]), len(shared)))
    shared = sum(len(common(first[name], second[name])) for name in first)
    return wrong, shared


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpubench")
    parser.add_argument("jobs", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_intermixed_args()
    gpubench = str(pathlib.Path(options.gpubench).resolve())
    same = total = 0
    for job in costs.read_jobs(options.jobs):
        wrong, shared = compare(job, options.python, gpubench)
        total += 1
        same += not wrong
        print(f"{'same' if not wrong else 'OTHER':6} {job['name']}: {shared} lines, files and states; " + "; ".join(wrong),
              flush=True)
    print(f"{same} of {total} the same")
    sys.exit(same != total)


if __name__ == "__main__":
    main()
