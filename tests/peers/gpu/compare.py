"""gpubench and PyTorch side by side on one GPU, in one run: a table of figures, floors and bars (JSON, CSV, text)."""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import lines
import machine
import report

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
PROGRAMS = [ROOT / "build/release/bin/gpubench", ROOT / "bin/gpubench"]
PYTHONS = [pathlib.Path("python3"), ROOT / "build/peers/venv/bin/python"]
NO_GPU = 77
PROCESS_TIMEOUT_S, QUICK_TIMEOUT_S = 900, 200  # a quick run has 300 s in tests/gpu_check
QUICK_S, ORDINARY_S = 0.3, 1.0  # of measuring each figure in each process


class Failed(Exception):
    """A process without a result; the text says which and why."""


def arguments_from(words):
    parser = argparse.ArgumentParser(prog="tests/peers/gpu/run", description=__doc__)
    parser.add_argument("--lines", default=",".join(lines.LINES), help=f"of {', '.join(lines.LINES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="less time for each figure, and PyTorch in one process, not two; the sizes stay")
    parser.add_argument("--small", action="store_true",
                        help="small sizes, to try the script: no bar is held against them but those of M1, copies and host")
    parser.add_argument("--rounds", type=int, default=1, help="how often gpubench, PyTorch, PyTorch, gpubench run")
    parser.add_argument("--seconds", type=float, help="time to measure each figure in each process")
    parser.add_argument("--device", default="gpu:0", help="gpu:0, or cpu:0 to try the script with small sizes")
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


def run(command, take, environment=None, timeout=PROCESS_TIMEOUT_S):
    """Calls take(one, process) for each JSON object that `command` prints on a line, as soon as it is there, for `timeout`
    seconds at most."""
    words = [str(word) for word in command]
    name = pathlib.Path(words[0]).name
    with tempfile.TemporaryFile(mode="w+", errors="replace") as errors:
        try:
            child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True,
                                     env=dict(os.environ, **(environment or {})))
        except OSError as error:
            raise Failed(f"{words[0]}: {error.strerror}") from error
        overdue, count = threading.Event(), 0
        end = threading.Timer(timeout, lambda: (overdue.set(), child.kill()))
        end.start()
        with child:
            for line in child.stdout:
                if line.startswith("{"):
                    count += 1
                    take(json.loads(line), child.pid)
        end.cancel()
        if overdue.is_set():
            raise Failed(f"{name} was not done after {timeout} s")
        if child.returncode != 0 or count == 0:
            errors.seek(0)
            reason = " / ".join(errors.read().strip().splitlines()[-3:])
            raise Failed(f"{name} ended with status {child.returncode}: {reason}")


def find_program(given):
    for program in [given] if given else PROGRAMS:
        if program.is_file():
            return program
    raise Failed("gpubench is not built; build it, or say where it is with --program")


def find_device(program, device):
    """(its name, None), or (None, why it cannot be used), in the program's words."""
    answer = subprocess.run([program, "devices"], capture_output=True, text=True)
    found = answer.stdout.splitlines()
    for line in found:
        if line.startswith(device + " "):
            return line[len(device):].split(",")[0].strip(), None
    absence = [line for line in found if line.startswith("no GPU")]
    return None, absence[0] if absence else answer.stderr.strip() or f"there is no device {device}"


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


def library_folders(python):
    """Of the CUDA libraries that this Python's PyTorch brings, for the loader: gpubench then takes the same."""
    command = [str(python), "-c", "import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])"]
    packages = pathlib.Path(subprocess.run(command, capture_output=True, text=True).stdout.strip() or "/nowhere")
    return [str(folder) for folder in sorted(packages.glob("nvidia/*/lib"))]


def plan_of(arguments, sizes, chosen):
    models = {line: {**dataclasses.asdict(model), "inputs": model.inputs} for line, model in sizes.models.items()}
    return {"device": arguments.device, "lines": chosen, "matmul": sizes.matmul, "models": models,
            "compiled": lines.compiled(arguments.quick), "seconds": arguments.seconds,
            "timeout": QUICK_TIMEOUT_S if arguments.quick else PROCESS_TIMEOUT_S}


def lua_table(value):
    """A value of JSON as Lua source."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {lua_table(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(lua_table(one) for one in value) + "}"
    return json.dumps(value)


def run_gpubench(program, plan, take, folders):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "peers_plan.lua").write_text(f"return {lua_table(plan)}\n")
        before = [os.environ["LD_LIBRARY_PATH"]] if os.environ.get("LD_LIBRARY_PATH") else []
        environment = {"GPUBENCH_PATH": os.pathsep.join([folder, str(FOLDER)]),
                       "LD_LIBRARY_PATH": os.pathsep.join(folders + before)}
        run([program, FOLDER / "gpubench_lines.lua", "--out", folder, "--device", plan["device"]], take, environment,
            plan["timeout"])


def run_torch(python, plan, take, cache):
    environment = {"TORCHINDUCTOR_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": "1"}
    run([python, FOLDER / "torch_lines.py", json.dumps(plan)], take, environment, plan["timeout"])


def processes_of(arguments, sizes, with_torch):
    """(system, plan) of each process. gpubench decides on TF32 before it uses a device, so that product is measured by a
    process of its own."""
    for chosen in lines.shifts(arguments.lines):
        plan = plan_of(arguments, sizes, chosen)
        for system in lines.order(arguments.rounds, arguments.quick):
            if system == "gpubench":
                yield system, {**plan, "tf32": False}
                if "matmul" in chosen and arguments.device.startswith("gpu:"):
                    yield system, {**plan, "lines": ["matmul"], "tf32": True}
            elif with_torch:
                yield system, plan


def measure(arguments, sizes, program, python, no_torch, save):
    """Calls save(what was measured, facts of both systems, the GPU's states before and after each process, the libraries
    that both loaded, whether that is all) with each figure, so that nothing is lost where time ends."""
    measured, facts, states, loaded = lines.Measured(), {}, [machine.read(arguments.device)], {}
    if python is None:
        measured.fail("torch", "no PyTorch")
    folders = library_folders(python) if python and arguments.device.startswith("gpu:") else []
    save(measured, facts, states, loaded, False)
    with tempfile.TemporaryDirectory() as cache:
        for system, plan in processes_of(arguments, sizes, python is not None):
            begin = time.monotonic()

            def take(one, process, system=system):
                loaded.setdefault(system, {}).update(machine.loaded_libraries(process))
                if "facts" in one:
                    facts.setdefault(system, one["facts"])
                else:
                    measured.add(system, [one])
                save(measured, facts, states, loaded, False)

            try:
                if system == "torch":
                    run_torch(python, plan, take, cache)
                else:
                    run_gpubench(program, plan, take, folders)
            except Failed as failure:
                print(f"peers: {failure}", file=sys.stderr)
                measured.fail(system, str(failure))
            states.append(machine.read(arguments.device))
            print(f"peers: {system} took {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return save(measured, facts, states, loaded, True)


def main():
    arguments = arguments_from(sys.argv[1:])
    on_gpu = arguments.device.startswith("gpu:")
    small = arguments.small or not on_gpu
    sizes = lines.Sizes.of(small)
    arguments.seconds = arguments.seconds or (QUICK_S if arguments.quick or small else ORDINARY_S)
    try:
        program = find_program(arguments.program)
        name, absence = find_device(program, arguments.device)
        if absence:
            print(f"peers: {absence}", file=sys.stderr)
            return NO_GPU if on_gpu else 2
        python, no_torch = find_torch(arguments.python, arguments.device)
        begin = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()) + " UTC"

        def save(measured, facts, states, loaded, complete):
            gpu = {"name": name, **states[0]}  # a machine may have no nvidia-smi
            gpu["link_bytes_per_s"], gpu["link_note"] = machine.link(gpu) if on_gpu else (None, "a CPU has no link")
            rows = lines.table(measured, sizes, gpu, arguments.lines, on_gpu, loaded)
            throttled = {machine.throttle_words(state.get("throttle_reasons")) for state in states} - {""}
            run_facts = {"begun": begin, "device": arguments.device, "gpu": gpu, "states": states, "systems": facts, "libraries": loaded,
                         "order": lines.order(arguments.rounds, arguments.quick), "no_torch": no_torch,
                         "quick": arguments.quick, "small": small, "seconds": arguments.seconds, "throttled": sorted(throttled), "complete": complete}
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
