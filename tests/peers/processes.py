"""Runs one training of one system as its own process and returns its result, with the process' peak memory; writes
such results."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PROGRAM = ROOT / "build/release/bin/gpubench"
FLOOR = ROOT / "build/release/tests/peers/floor/peers_floor"


class Failed(Exception):
    """A process that ended without a result; the text says which and why."""


def run(command, threads, **environment):
    """The JSON object in the last line that `command` prints, plus `peak_rss_bytes`."""
    variables = dict(os.environ, OMP_NUM_THREADS=str(threads), **environment)
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([str(word) for word in command], stdout=output, stderr=errors, env=variables)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        lines = [line for line in output.read().splitlines() if line.startswith("{")]
        if child.returncode != 0 or not lines:
            reason = errors.read().strip().splitlines()[-3:]
            raise Failed(f"{pathlib.Path(str(command[0])).name} ended with status {child.returncode}: {' / '.join(reason)}")
    return json.loads(lines[-1]) | {"peak_rss_bytes": usage.ru_maxrss * 1024}


def gpubench(script, threads, seed=1, quick=False, **settings):
    """One of the scripts beside this file; settings reach it as PEERS_NAME."""
    variables = {f"PEERS_{name.upper()}": str(value) for name, value in settings.items()}
    variables["GPUBENCH_PATH"] = str(FOLDER)
    with tempfile.TemporaryDirectory() as out:
        command = [PROGRAM, FOLDER / script, "--threads", threads, "--seed", seed, "--out", out]
        return run(command + ["--quick"] * quick, threads, **variables)


def write_csv(path, columns, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    print(f"\nwrote {path}")


def numbered(measured):
    """A row for each process of each system, from {measurement: {system: [results]}}."""
    return [result | {"process": index} for results in measured.values() for found in results.values()
            for index, result in enumerate(found, 1)]
