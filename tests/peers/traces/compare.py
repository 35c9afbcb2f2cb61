"""gpubench beside HolisticTraceAnalysis and PyTorch's key_averages() on traces of others, as a Markdown table: time and
peak memory of a process that reads one trace, and what it says in a line. TraceLens is in no registry: what it says is
from the tables beside its traces, and it has no figures. Traces that HTA cannot read are listed below the table."""
import argparse
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
DEFAULT_FOLDER = here.parents[3] / "shared" / "data" / "traces"
DEFAULT_FILES = ("kineto/*.json.gz", "hta/**/*.json.gz", "tracelens/**/*.json.gz", "more/pytorch/*.json.gz")
MOST_SECONDS = 300
MOST_LETTERS = 160

Answer = collections.namedtuple("Answer", "text seconds mebibytes failed", defaults=[False])


def arguments():
    parser = argparse.ArgumentParser(prog="tests/peers/traces/compare", description=__doc__)
    parser.add_argument("program", help="the gpubench to compare")
    parser.add_argument("traces", nargs="*", type=pathlib.Path, metavar="TRACE",
                        help="Kineto's files (default: those of ../shared/data/traces)")
    parser.add_argument("--python", help="a Python with HTA and PyTorch (default: installs them below build/peers)")
    parser.add_argument("--torch-python", help="the same, of PyTorch alone")
    return parser.parse_intermixed_args()


def run(command, text_of=lambda output: output.strip().splitlines()[-1]):
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(["timeout", str(MOST_SECONDS), *command], text=True, stdout=subprocess.PIPE,
                                   stderr=errors)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [f"exit status {process.returncode}"])[-1]
    seconds, mebibytes = time.monotonic() - begin, usage.ru_maxrss / 1024
    try:
        return Answer(text_of(output), seconds, mebibytes)
    except (ValueError, IndexError, KeyError):
        why = f"no answer in {MOST_SECONDS} s" if process.returncode == 124 else last
        return Answer(why, seconds, mebibytes, True)


def headline(output):
    """Of the rank at which most can be gained."""
    told = json.loads(output)
    findings = [point["findings"][0] for point in told["points"] if point["findings"]]
    if not findings:
        return told["points"][0]["verdict"]
    first = max(findings, key=lambda one: one["gain_share"])
    return first["headline"] if first["name"] == "cannot_tell" else f"{first['headline']}: {first['evidence']}"


def ask_gpubench(program, trace):
    with tempfile.TemporaryDirectory() as out:
        return run([program, "explain", trace, "--json", "--out", out], headline)


def tracelens(trace):
    """The table that TraceLens has made of the trace, where it lies beside it."""
    stem = trace.name.split(".json")[0]
    for table in sorted(trace.parent.glob("*csvs/gpu_timeline.csv")):
        if table.parent.name == "perf_csvs" or table.parent.name.startswith(stem):
            rows = {row["type"]: float(row["percent"]) for row in csv.DictReader(table.open())
                    if row.get("is_recompute") != "True"}  # a second table, of a part of the work
            return f"idle {rows['idle_time']:.0f} %, computing {rows['computation_time']:.0f} %"
    return ""


def cell(text):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS - 3] + "..."


def answer_cells(answer):
    return [f"{answer.seconds:.1f} s", f"{answer.mebibytes:.0f} MiB", cell(answer.text)]


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def default_traces():
    if not DEFAULT_FOLDER.is_dir():
        print(f"skipped: there is no folder {DEFAULT_FOLDER}; name traces to compare", file=sys.stderr)
        sys.exit(77)
    return [file for pattern in DEFAULT_FILES for file in sorted(DEFAULT_FOLDER.glob(pattern))]


def main():
    options = arguments()
    traces = options.traces or default_traces()
    missing = [str(trace) for trace in traces if not trace.exists()]
    if missing:
        sys.exit(f"tests/peers/traces/compare: there is no {missing[0]}")
    print_row(["trace", "gpubench", "memory", "says", "HTA", "memory", "says", "key_averages", "memory", "says",
               "TraceLens says"])
    print_row(["---"] * 11)
    left_out = []
    for trace in traces:
        hta = run([options.python, here / "hta_line.py", trace])
        if hta.failed:
            left_out.append((trace, hta.text))
            continue
        ours = ask_gpubench(options.program, trace)
        own = run([options.torch_python or options.python, here / "key_averages_line.py", trace])
        print_row([trace.name.split(".json")[0], *answer_cells(ours), *answer_cells(hta), *answer_cells(own),
                   cell(tracelens(trace))])
    print()
    for trace, why in left_out:
        print(f"HTA cannot read {trace.name}: {why}")


if __name__ == "__main__":
    main()
