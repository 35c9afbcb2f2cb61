"""Has `gpubench watch` explain each job, and compares its first finding and the line that it names with expected.json.

    python tests/jobs/judge.py GPUBENCH                      every job
    python tests/jobs/judge.py GPUBENCH torch/photo_classes  those whose names begin so
    python tests/jobs/judge.py GPUBENCH --seconds 20         so long behind the window (15)

A job with a cause is right where the first finding is of its kind; a healthy one where nothing is found. "cannot tell" is
neither right nor wrong. Exit status 1 where a verdict is wrong. Times count on an idle machine only.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
# What the first finding of a cause may be: its rule, and words of its kind.
FINDINGS = {
    "input_bound": {("input_bound", None)},
    "host_bound": {("host_bound", "operators"), ("host_bound", "Python"), ("host_bound", "synchronization"),
                   ("launch_bound", None)},
    "compile": {("host_bound", "compilation")},
    "callback": {("host_bound", "callbacks")},
    "evaluation": {("host_bound", "evaluation")},
    "saving": {("host_bound", "saving")},
    "logging": {("host_bound", "Python"), ("host_bound", "synchronization"), ("host_bound", "callbacks")},
    "uneven_ranks": {("uneven_replicas", None)},
    "threads": {("thread_contention", None)},
}
NOTHING = {"compute_bound", "bandwidth_bound", "precision_unused", "unaligned_sizes"}


def watch(gpubench, python, job, expected, seconds, out):
    command = [python if word == "python" else word for word in expected["command"]]
    process = subprocess.run(
        [gpubench, "watch", "--for", f"{seconds}s", "--stop", "--json", "--out", out, "--", *command], cwd=job,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300, stdin=subprocess.DEVNULL)
    lines = [line for line in process.stderr.splitlines() if line.startswith('{"run"') or line.startswith("gpubench: watch")]
    if not lines:
        return None, f"status {process.returncode}: {process.stderr[-300:]!r}"
    if lines[-1].startswith("gpubench"):
        return None, lines[-1]
    return json.loads(lines[-1]), ""


def judge(expected, answer):
    """("right", "wrong" or "cannot tell", what was said)"""
    points = answer["points"]
    most = max(points, key=lambda point: max([f.get("gain_share", 0) or 0 for f in point["findings"]] or [0]))
    findings = most["findings"]
    first = findings[0] if findings else None
    said = most["verdict"] or "nothing"
    if first and first["name"] == "cannot_tell":
        return "cannot tell", said
    if expected["healthy"]:
        right = first is None or first["name"] in NOTHING
        return ("right" if right else "wrong"), said
    if first is None or first["name"] in NOTHING:
        return "missed", said
    kinds = FINDINGS[expected["cause"]]
    right = any(first["name"] == rule and (kind is None or kind == first.get("kind")) for rule, kind in kinds)
    if not right:
        return "wrong", said + ": " + first["evidence"]
    regions = [(expected["file"], *(expected.get("region") or (expected["line"], expected["line"])))]
    regions += expected.get("also_right", ())
    text = json.dumps(findings)
    has_line = any(begin <= int(line) <= end for file, begin, end in regions
                   for line in re.findall(r"\b%s:(\d+)" % re.escape(file), text))
    return ("right" if has_line else "right, other line"), said + ": " + first["evidence"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpubench")
    parser.add_argument("jobs", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_intermixed_args()
    gpubench = str(pathlib.Path(options.gpubench).resolve())
    counts = {}
    with tempfile.TemporaryDirectory() as out:
        for file in sorted(FOLDER.glob("*/*/expected.json")):
            name = str(file.parent.relative_to(FOLDER))
            if options.jobs and not any(name.startswith(job) for job in options.jobs):
                continue
            expected = json.loads(file.read_text())
            try:
                answer, why = watch(gpubench, options.python, file.parent, expected, options.seconds, out)
            except subprocess.TimeoutExpired:
                answer, why = None, "did not end within 300 s"
            verdict, said = judge(expected, answer) if answer else ("no answer", why)
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict:12} {name} ({expected['cause']}): {said}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if counts.get("wrong") or counts.get("no answer") else 0


if __name__ == "__main__":
    sys.exit(main())
