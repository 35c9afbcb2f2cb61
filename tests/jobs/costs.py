"""Times train.py and cured.py of the jobs in turn, and prints the medians.

A script is timed from outside: `progress` in its expected.json is a regular expression whose group counts lines of its
output (steps, or epochs of `steps_per_mark` steps). Time per step is the slope between the second such line and the last
one, so imports, the first step and compiling before the second line are not in it. Only the standard library is needed.

    python tests/jobs/costs.py                              every job, 3 pairs
    python tests/jobs/costs.py torch/photo_classes --pairs 5
    python tests/jobs/costs.py --smoke                      a few steps of each script: do they run?
    python tests/jobs/costs.py --write                      put the medians into expected.json and README.md
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
# Above this share of the machine used by other processes, a time is marked with "?".
BUSY = 0.10


def machine_seconds():
    """Processor seconds of the whole machine that were busy since it started."""
    user, nice, system, _idle, _wait, interrupt, soft = map(int, open("/proc/stat").readline().split()[1:8])
    return (user + nice + system + interrupt + soft) / os.sysconf("SC_CLK_TCK")


def tree_seconds(root):
    """Processor seconds of a process and its descendants, with those of the children that they have waited for."""
    parents, ticks = {}, {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    tree = {root}
    while found := {pid for pid, parent in parents.items() if parent in tree and pid not in tree}:
        tree |= found
    return sum(ticks.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(longest):
    """Waits until other processes leave the machine alone for a second, at most so many seconds."""
    end = time.monotonic() + longest
    while time.monotonic() < end:
        busy = machine_seconds()
        time.sleep(1)
        if machine_seconds() - busy < BUSY * os.cpu_count():
            return


def stop(process):
    """Ends the job and its workers: it runs in a process group of its own."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        pass
    except ProcessLookupError:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


# One thread a job: on a machine with other work, threads that wait for each other make steps up to 20 times slower.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def start(job, script, python, arguments, temporary, one_thread=False):
    command = [{"train.py": script, "python": python or "python"}.get(word, word) for word in job["command"]]
    environment = dict(os.environ, PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="2", TMPDIR=temporary,
                       **(ONE_THREAD if one_thread else {}))
    return subprocess.Popen(command + arguments, cwd=job["folder"], env=environment, text=True, errors="replace",
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def run(job, script, python, arguments=(), seconds=None, one_thread=False, limit=240):
    """One process. Returns (milliseconds a step, share of the machine used by others, status, last lines)."""
    progress = re.compile(job["progress"])
    marks, lines = [], []
    temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    process = start(job, script, python, list(arguments), temporary.name, one_thread)
    timer = threading.Timer(limit, stop, [process])
    timer.start()
    stopped = False
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            found = progress.search(line)
            if not found:
                continue
            steps = float(found.group(1)) * job["steps_per_mark"]
            marks.append((time.monotonic(), steps, machine_seconds() - tree_seconds(process.pid)))
            if seconds and len(marks) > 2 and marks[-1][0] - marks[1][0] > seconds:
                stopped = True
                break
    finally:
        timer.cancel()
        if not stopped and sys.exc_info()[0] is None:
            process.wait()
        else:
            stop(process)
        process.stdout.close()
        temporary.cleanup()
    step_ms, others = None, 0.0
    if len(marks) > 2 and marks[-1][1] > marks[1][1]:
        wall = marks[-1][0] - marks[1][0]
        step_ms = 1e3 * wall / (marks[-1][1] - marks[1][1])
        others = max(0.0, (marks[-1][2] - marks[1][2]) / wall / os.cpu_count())
    return step_ms, others, 0 if stopped else process.returncode, lines[-15:]


def read_jobs(names):
    jobs = []
    for path in sorted(FOLDER.glob("*/*/expected.json")):
        job = json.loads(path.read_text())
        job.update(path=path, folder=path.parent, name="/".join(path.parts[-3:-1]))
        if not names or any(job["name"].startswith(name.strip("/")) for name in names):
            jobs.append(job)
    if not jobs:
        sys.exit("no such job: " + " ".join(names))
    return jobs


def scripts(job):
    return ["train.py"] if job["healthy"] else ["train.py", "cured.py"]


def smoke(job, python):
    failed = 0
    for script in scripts(job):
        began = time.monotonic()
        _, _, status, lines = run(job, script, python, job["smoke"])
        failed += status != 0
        print(f"{'ok' if status == 0 else 'FAILED':7}{job['name']}/{script}  {time.monotonic() - began:.0f} s", flush=True)
        if status != 0:
            print("\n".join("        " + line for line in lines), flush=True)
    return failed


def measure(job, options):
    """ABBA over the pairs: what drifts on the machine falls on both scripts alike. A disturbed run is repeated."""
    times = {script: [] for script in scripts(job)}
    others = []
    repeats = options.repeats
    for pair in range(options.pairs):
        for script in scripts(job)[::-1 if pair % 2 else 1]:
            while True:
                wait_for_quiet(options.wait)
                step_ms, share, status, lines = run(job, script, options.python, options.arguments, options.seconds,
                                                    options.one_thread)
                if status != 0 or step_ms is None:
                    print(f"{job['name']}/{script}: status {status}, no time per step\n" + "\n".join(lines), flush=True)
                    return None
                if share < BUSY or repeats == 0:
                    break
                repeats -= 1
            times[script].append(step_ms)
            others.append(share)
    medians = {script: statistics.median(values) for script, values in times.items()}
    row = {"step_ms": round(medians["train.py"], 2), "pairs": options.pairs, "others": round(statistics.median(others), 2),
           "threads": 1 if options.one_thread else os.cpu_count(),
           "step_ms_range": [round(min(times["train.py"]), 2), round(max(times["train.py"]), 2)]}
    if not job["healthy"]:
        row["cured_step_ms"] = round(medians["cured.py"], 2)
        row["cured_step_ms_range"] = [round(min(times["cured.py"]), 2), round(max(times["cured.py"]), 2)]
        row["gain"] = round(1 - medians["cured.py"] / medians["train.py"], 3)
    return row


HEADER = ("| script | cause | line | cure | step | cured | gain | others | threads | pairs |\n"
          "|---|---|---|---|---|---|---|---|---|---|")


def table_row(job):
    row = job.get("measured") or {}
    if not row:
        step = cured = gain = others = "not measured"
        conditions = " | "
    else:
        step = f"{row['step_ms']:.1f} ({row['step_ms_range'][0]:.1f} to {row['step_ms_range'][1]:.1f})"
        conditions = f"{row['threads']} | {row['pairs']}"
        cured = gain = ""
        if "gain" in row:
            cured = f"{row['cured_step_ms']:.1f} ({row['cured_step_ms_range'][0]:.1f} to {row['cured_step_ms_range'][1]:.1f})"
            gain = f"{100 * row['gain']:.0f} %"
        others = f"{100 * row['others']:.0f} %" + (" ?" if row["others"] > BUSY else "")
    cause = "healthy" if job["healthy"] else job["cause"]
    line = "" if job["healthy"] else str(job["line"])
    cure = "" if job["healthy"] else f"`{job['remedy']}`" if job["remedy"] else "by hand: " + job["cure"]
    return f"| `{job['name']}` | {cause} | {line} | {cure} | {step} | {cured} | {gain} | {others} | {conditions} |"


def write(job, row):
    document = json.loads(job["path"].read_text())
    document["measured"] = row
    job["path"].write_text(json.dumps(document, indent=2) + "\n")


def write_readme():
    """Replaces the table between the two marks of README.md by one made from every expected.json."""
    path = FOLDER / "README.md"
    head, _, rest = path.read_text().partition("<!-- table -->\n")
    _, _, tail = rest.partition("<!-- end of table -->\n")
    rows = "\n".join(table_row(job) for job in read_jobs([]))
    path.write_text(f"{head}<!-- table -->\n{HEADER}\n{rows}\n<!-- end of table -->\n{tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="jobs, as torch/photo_classes or torch; default: all")
    parser.add_argument("--python", default=sys.executable, help="Python for the jobs; default: the one that runs this")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, help="end a job after that long behind its second line of progress")
    parser.add_argument("--wait", type=float, default=60, help="seconds to wait for a quiet machine before each run")
    parser.add_argument("--repeats", type=int, default=4, help="disturbed runs of a job that are repeated")
    parser.add_argument("--arguments", type=shlex.split, default=[], help="more arguments for the scripts, in one word")
    parser.add_argument("--one-thread", action="store_true", help="compute with one thread, for a machine that others use")
    parser.add_argument("--smoke", action="store_true", help="run each script with few steps, and time nothing")
    parser.add_argument("--write", action="store_true", help="put the medians into expected.json and README.md")
    options = parser.parse_args()
    jobs = read_jobs(options.names)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.smoke:
        sys.exit(1 if sum(smoke(job, options.python) for job in jobs) else 0)
    print(HEADER, flush=True)
    failed = 0
    for job in jobs:
        row = measure(job, options)
        failed += row is None
        if row is None:
            continue
        job["measured"] = row
        print(table_row(job), flush=True)
        if options.write:
            write(job, row)
    if options.write:
        write_readme()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
