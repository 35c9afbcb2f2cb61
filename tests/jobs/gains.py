"""Has `gpubench tune` measure its remedies on each job, and compares the gain with that of the cure by hand.

    python tests/jobs/gains.py GPUBENCH                       every job whose cure can be applied from outside
    python tests/jobs/gains.py GPUBENCH torch/photo_classes   those whose names begin so
    python tests/jobs/gains.py GPUBENCH --healthy             the healthy ones: nothing may be called a gain
    python tests/jobs/gains.py GPUBENCH --budget 120          seconds a job (300)

A job is right where its remedy is among what helped and the interval of the gain overlaps the range of train.py over
cured.py (costs.py, in pairs). Exit status 1 where a gain was said on a healthy job, or more than one job is not right.
An idle machine; a job takes its budget and a minute.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import costs

FOLDER = pathlib.Path(__file__).resolve().parent


def tune(gpubench, python, job, budget, out):
    command = [python if word == "python" else word for word in job["command"]]
    process = subprocess.run(
        [gpubench, "tune", "--budget", "%d" % budget, "--json", "--out", out, "--", *command], cwd=job["folder"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=4 * budget + 120, stdin=subprocess.DEVNULL)
    lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"why_none": process.stderr[-300:]}


def by_hand(job, python, pairs):
    """(lowest, highest) of train.py over cured.py, in turn."""
    times = {"train.py": [], "cured.py": []}
    for pair in range(pairs):
        for script in list(times)[::-1 if pair % 2 else 1]:
            step_ms, _, status, lines = costs.run(job, script, python, seconds=4)
            if step_ms is None:
                raise RuntimeError(f"{script}: status {status}: {lines}")
            times[script].append(step_ms)
    return (min(times["train.py"]) / max(times["cured.py"]), max(times["train.py"]) / min(times["cured.py"]))


def text_of(remedy):
    if "times_as_fast_low" in remedy:
        return "%.2f [%.2f, %.2f]" % tuple(remedy["times_as_fast" + end] for end in ("", "_low", "_high"))
    return "%.2f, one pair" % remedy["times_as_fast"] if "times_as_fast" in remedy else remedy.get("why", "")


def judge(job, answer, hand):
    """("right", "other gain", "gain on a healthy job", ...): what was said of the remedy that is expected"""
    tried = {remedy["remedy"]: remedy for remedy in answer.get("remedies", ()) if remedy["outcome"] != "not tried"}
    helped = [name for name, remedy in tried.items() if remedy["outcome"] == "helps"]
    said = "; ".join(f"{name} {remedy['outcome']} {text_of(remedy)}" for name, remedy in tried.items())
    if answer.get("why_none"):
        return "no answer", answer["why_none"]
    if job["healthy"]:
        return ("gain on a healthy job" if helped else "right"), said or "nothing tried"
    own = [name for name in helped if name.partition("=")[0] == job["remedy"]]
    if not own:
        return ("other gain" if helped else "not settled" if job["remedy"] in said else "not tried"), said
    low, high = tried[own[0]]["times_as_fast_low"], tried[own[0]]["times_as_fast_high"]
    overlaps = low <= hand[1] and hand[0] <= high
    return ("right" if overlaps else "another gain than by hand"), "%s; by hand %.2f to %.2f" % (said, *hand)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpubench")
    parser.add_argument("jobs", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--budget", type=float, default=300)
    parser.add_argument("--pairs", type=int, default=2, help="of train.py and cured.py")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--out", default="build/gains")
    options = parser.parse_intermixed_args()
    gpubench, out = str(pathlib.Path(options.gpubench).resolve()), str(pathlib.Path(options.out).resolve())
    counts = {}
    for job in costs.read_jobs(options.jobs):
        if job["healthy"] != options.healthy or not (job["healthy"] or job["remedy"]):
            continue
        try:
            answer = tune(gpubench, options.python, job, options.budget, out)
            hand = (0, 0) if job["healthy"] else by_hand(job, options.python, options.pairs)
            verdict, said = judge(job, answer, hand)
        except (subprocess.TimeoutExpired, RuntimeError) as error:
            verdict, said = "no answer", str(error)
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict:12} {job['name']} ({job['remedy']}): {said}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    wrong = sum(counts.values()) - counts.get("right", 0)
    sys.exit(1 if wrong > (0 if options.healthy else 1) else 0)


if __name__ == "__main__":
    main()
