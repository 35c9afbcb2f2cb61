"""gpubench and PyTorch side by side on one GPU, in one run: a table of figures, floors and bars (JSON, CSV, text)."""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import lines
import machine
import report

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
PROGRAMS = [ROOT / "build/release/bin/gpubench", ROOT / "bin/gpubench"]
PYTHONS = [pathlib.Path("python3"), ROOT / "build/peers/venv/bin/python"]
NO_GPU = 77
PROCESS_TIMEOUT_S = 900


class Failed(Exception):
    """A process without a result; the text says which and why."""


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/gpu/run", description=__doc__)
    parser.add_argument("--lines", default=",".join(lines.LINES), help=f"of {', '.join(lines.LINES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="2048 for 8192, and less time for each figure")
    parser.add_argument("--rounds", type=int, default=1, help="how often gpubench, PyTorch, PyTorch, gpubench run")
    parser.add_argument("--seconds", type=float, help="time to measure each figure in each process")
    parser.add_argument("--device", default="gpu:0", help="gpu:0, or cpu:0 to try the script with tiny sizes")
    parser.add_argument("--program", type=pathlib.Path, help="gpubench (default: the build's or the bundle's)")
    parser.add_argument("--python", type=pathlib.Path,
                        help="a Python with PyTorch (default: python3, or the one that tests/peers/run makes)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/peers",
                        help="folder of gpu_peers.json, .csv, .txt")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 where a bar is missed")
    arguments = parser.parse_args(words)
    arguments.lines = arguments.lines.split(",")
    unknown = set(arguments.lines) - set(lines.LINES)
    if unknown:
        parser.error(f"unknown lines: {', '.join(sorted(unknown))}; there are {', '.join(lines.LINES)}")
    if not arguments.device.startswith(("gpu:", "cpu:")) or not arguments.device[4:].isdigit():
        parser.error(f"a device is gpu:N or cpu:N, got {arguments.device}")
    if arguments.rounds < 1:
        parser.error("at least one round is needed")
    return arguments


def run(command, environment=None):
    """The JSON object in the last line that `command` prints."""
    words = [str(word) for word in command]
    try:
        child = subprocess.run(words, capture_output=True, text=True, timeout=PROCESS_TIMEOUT_S,
                               env=dict(os.environ, **(environment or {})))
    except OSError as error:
        raise Failed(f"{words[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{pathlib.Path(words[0]).name} was not done after {PROCESS_TIMEOUT_S} s") from error
    objects = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode != 0 or not objects:
        reason = " / ".join(child.stderr.strip().splitlines()[-3:])
        raise Failed(f"{pathlib.Path(words[0]).name} ended with status {child.returncode}: {reason}")
    return json.loads(objects[-1])


def find_program(given):
    for program in [given] if given else PROGRAMS:
        if program.is_file():
            return program
    raise Failed("gpubench is not built; build it, or say where it is with --program")


def missing_device(program, device):
    """Why `device` cannot be used, in the program's words; none where it can."""
    answer = subprocess.run([program, "devices"], capture_output=True, text=True)
    names = answer.stdout.splitlines()
    if any(line.startswith(device + " ") for line in names):
        return None
    absence = [line for line in names if line.startswith("no GPU")]
    return absence[0] if absence else answer.stderr.strip() or f"there is no device {device}"


def find_torch(given, device):
    """(a Python that has PyTorch for this device or none, why none does)."""
    wanted = "assert torch.cuda.is_available(), 'PyTorch finds no CUDA device'" if device.startswith("gpu:") else ""
    reasons = []
    for python in [given] if given else PYTHONS:
        command = [str(python), "-c", f"import torch\n{wanted}"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            reasons.append(f"{python}: {error.strerror}")
            continue
        if answer.returncode == 0:
            return python, None
        reasons.append(f"{python}: {(answer.stderr.strip().splitlines() or ['failed'])[-1]}")
    return None, "no PyTorch: " + "; ".join(reasons)


def plan_of(arguments, sizes, chosen):
    models = {line: dataclasses.asdict(model) | {"inputs": model.inputs} for line, model in sizes.models.items()}
    return {"device": arguments.device, "lines": chosen, "matmul": sizes.matmul, "models": models,
            "seconds": sizes.seconds}


def lua_table(value):
    """A value of JSON as Lua source."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {lua_table(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(lua_table(one) for one in value) + "}"
    return json.dumps(value)


def run_gpubench(program, plan, tf32):
    """One process; TF32 is decided before a device is used, so its product is measured by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "peers_plan.lua").write_text(f"return {lua_table(plan | {'tf32': tf32})}\n")
        environment = {"GPUBENCH_PATH": os.pathsep.join([folder, str(FOLDER)])}
        return run([program, FOLDER / "gpubench_lines.lua", "--out", folder, "--device", plan["device"]], environment)


def run_torch(python, plan, cache):
    environment = {"TORCHINDUCTOR_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": "1"}
    return run([python, FOLDER / "torch_lines.py", json.dumps(plan)], environment)


def measure(arguments, sizes, program, python, no_torch, save):
    """Calls save(what was measured, facts of both systems, the GPU's states before and after each process, whether that
    is all) after each process, so that nothing is lost where time ends."""
    measured, facts, states = lines.Measured(), {}, [machine.read(arguments.device)]
    if python is None:
        measured.fail("torch", no_torch)
    with tempfile.TemporaryDirectory() as cache:
        processes = [(system, plan_of(arguments, sizes, chosen)) for chosen in lines.shifts(arguments.lines)
                     for system in lines.order(arguments.rounds) if system != "torch" or python is not None]
        for number, (system, plan) in enumerate(processes, 1):
            begin = time.monotonic()
            try:
                if system == "torch":
                    results = [run_torch(python, plan, cache)]
                else:
                    results = [run_gpubench(program, plan, False)]
                    if "matmul" in plan["lines"] and arguments.device.startswith("gpu:"):
                        results.append(run_gpubench(program, plan | {"lines": ["matmul"]}, True))
                for result in results:
                    measured.add(system, result["records"])
                    facts.setdefault(system, result["facts"])
            except Failed as failure:
                print(f"peers: {failure}", file=sys.stderr)
                measured.fail(system, str(failure))
            states.append(machine.read(arguments.device))
            print(f"peers: {system} took {time.monotonic() - begin:.0f} s", file=sys.stderr)
            rows, run_facts = save(measured, facts, states, number == len(processes))
    return rows, run_facts


def main():
    arguments = arguments_from(sys.argv[1:])
    on_gpu = arguments.device.startswith("gpu:")
    sizes = lines.Sizes.of(arguments.quick, tiny=not on_gpu)
    if arguments.seconds:
        sizes = dataclasses.replace(sizes, seconds=arguments.seconds)
    try:
        program = find_program(arguments.program)
        absence = missing_device(program, arguments.device)
        if absence:
            print(f"peers: {absence}", file=sys.stderr)
            return NO_GPU if on_gpu else 2
        python, no_torch = find_torch(arguments.python, arguments.device)
        begin = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()) + " UTC"

        def save(measured, facts, states, complete):
            gpu = dict(states[0])
            gpu["link_bytes_per_s"], gpu["link_note"] = machine.link(gpu) if on_gpu else (None, "a CPU has no link")
            rows = lines.table(measured, sizes, gpu, arguments.lines, on_gpu)
            throttled = {machine.throttle_words(state.get("throttle_reasons")) for state in states} - {""}
            run_facts = {"begun": begin, "device": arguments.device, "gpu": gpu, "states": states, "systems": facts,
                         "order": lines.order(arguments.rounds), "no_torch": no_torch, "quick": arguments.quick,
                         "seconds": sizes.seconds, "throttled": sorted(throttled), "complete": complete}
            report.write(arguments.out, rows, run_facts, measured)
            return rows, run_facts

        rows, run_facts = measure(arguments, sizes, program, python, no_torch, save)
    except Failed as failure:
        print(f"peers: {failure}", file=sys.stderr)
        return 2
    print(report.text(rows, run_facts))
    print(f"wrote {arguments.out}/gpu_peers.json, gpu_peers.csv and gpu_peers.txt")
    missed = any(row["verdict"] == lines.MISSED for row in rows)
    return 1 if arguments.strict and missed else 0


if __name__ == "__main__":
    sys.exit(main())
