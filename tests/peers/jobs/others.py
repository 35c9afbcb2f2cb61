"""What `gpubench watch`, TraceML and `torch.profiler` say of the PyTorch jobs in tests/jobs, and what they take.

    tests/peers/jobs/run others GPUBENCH [JOB...]

TraceML needs no line in jobs of Lightning and of Hugging Face's Trainer. In plain loops its lines are added to a copy:
`import`, `init` and a block around the body of the loop that trains. `torch.profiler` records ten steps behind the
twentieth, and the rows of `key_averages` with the most time of their own are shown; a user needs about eight lines for
that. Times are those of the whole command, for the same steps as the job alone. An idle machine; a minute a job."""
import argparse
import ast
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
sys.path.insert(0, str(JOBS))
costs = importlib.import_module("costs")
judge = importlib.import_module("judge")

STEPS = "150"
PROFILE = '''
import importlib.abc, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch.optim.optimizer":
            sys.meta_path.remove(self)
            import importlib
            module = importlib.import_module(name)
            attach(module)
            return module.__spec__
        return None
def attach(module):
    state = {"step": 0, "profile": None}
    def after(*_):
        import torch
        state["step"] += 1
        if state["step"] == 20:
            state["profile"] = torch.profiler.profile()
            state["profile"].start()
        if state["step"] == 30:
            state["profile"].stop()
            rows = sorted(state["profile"].key_averages(), key=lambda row: -row.self_cpu_time_total)
            total = sum(row.self_cpu_time_total for row in rows)
            print("KEY_AVERAGES", ", ".join("%s %.0f %%" % (row.key, 100 * row.self_cpu_time_total / total)
                                            for row in rows[:3]), flush=True)
    module.register_optimizer_step_post_hook(after)
sys.meta_path.insert(0, Finder())
'''


class AddTraceML(ast.NodeTransformer):
    """Puts the body of the loop that calls `backward` into TraceML's block."""

    def __init__(self):
        self.added = 0

    def visit_For(self, node):
        self.generic_visit(node)
        if self.added or "backward(" not in "".join(ast.unparse(one) for one in node.body):
            return node
        model = re.search(r"(\w+)\.parameters\(\)", ast.unparse(self.module))
        call = ast.parse("traceml.trace_step(%s)" % (model.group(1) if model else "None"), mode="eval").body
        node.body = [ast.With(items=[ast.withitem(context_expr=call)], body=node.body)]
        self.added = 3  # import, init, the block
        return node

    def of(self, source):
        self.module = ast.parse(source)
        changed = self.visit(self.module)
        if not self.added:
            return source
        place = 1 if ast.get_docstring(changed) else 0
        while isinstance(changed.body[place], ast.ImportFrom) and changed.body[place].module == "__future__":
            place += 1
        changed.body[place:place] = ast.parse("import traceml_ai as traceml\ntraceml.init(mode='auto')").body
        return ast.unparse(ast.fix_missing_locations(changed))


def arguments_of(job):
    return [STEPS if word.isdigit() and "--steps" in job["smoke"] else "3" if word.isdigit() else word
            for word in job["smoke"]]


def run(command, folder, **environment):
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=dict(os.environ, PYTHONUNBUFFERED="1", **environment), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                          timeout=600)
    return done.stdout, time.monotonic() - begin


def traceml(job, python, command, folder):
    """(verdict, lines added, seconds)"""
    script = pathlib.Path(job["folder"], "train.py")
    adder = AddTraceML()
    plain = not any(name in job["needs"] for name in ("lightning", "transformers"))
    copy = pathlib.Path(folder, "train.py")
    copy.write_text(adder.of(script.read_text()) if plain else script.read_text())
    ranks = ["--nproc-per-node", "2"] if "--nproc_per_node" in job["command"] else []
    said, seconds = run([*command, "run", str(copy), "--logs-dir", folder + "/logs", *ranks, "--args", *arguments_of(job)],
                        job["folder"])
    found = [" ".join(line.strip("| \n").split()) for line in said.splitlines()
             if re.search(r"(Verdict|Why|Next):", line)]
    return " ".join(found) or "no verdict: " + said[-200:], adder.added, seconds


def key_averages(job, python, folder):
    pathlib.Path(folder, "sitecustomize.py").write_text(PROFILE)
    command = [python if word == "python" else word for word in job["command"]] + arguments_of(job)
    said, seconds = run(command, job["folder"], PYTHONPATH=folder + os.pathsep + os.environ.get("PYTHONPATH", ""))
    return "".join(re.findall(r"KEY_AVERAGES (.*)", said)[:1]) or "nothing", seconds


def watch(job, python, gpubench, folder):
    command = [python if word == "python" else word for word in job["command"]] + arguments_of(job)
    said, seconds = run([gpubench, "watch", "--out", folder, "--", *command], job["folder"])
    first = re.search(r"\n1\. (.*)\n +why: (.*)", said)
    verdict = first.group(1) + "; " + first.group(2) if first else "".join(re.findall(r"point 1\n(.*)", said)[:1])
    return verdict or "no verdict: " + said[-200:], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpubench")
    parser.add_argument("jobs", nargs="*", default=["torch"])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--traceml", default=os.environ.get("TRACEML"), help="folder of its packages")
    options = parser.parse_intermixed_args()
    if options.traceml:
        os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH", "") + os.pathsep + options.traceml
    command = [options.python, "-c", "from traceml_ai.launcher.cli import main; main()"]
    gpubench = str(pathlib.Path(options.gpubench).resolve())
    print("| job | cause | tool | lines | command | what it says |\n|---|---|---|---|---|---|")
    for job in costs.read_jobs(options.jobs or ["torch"]):
        if not job["name"].startswith("torch/"):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            plain = [options.python if word == "python" else word for word in job["command"]] + arguments_of(job)
            _, alone = run(plain, job["folder"])
            said, seconds = watch(job, options.python, gpubench, folder)
            rows = [("gpubench watch", 0, seconds, said)]
            said, added, seconds = traceml(job, options.python, command, folder)
            rows.append(("TraceML", added, seconds, said))
            said, seconds = key_averages(job, options.python, folder)
            rows.append(("key_averages", 8, seconds, said))
        for tool, lines, seconds, said in rows:
            print(f"| `{job['name']}` | {job['cause']} | {tool} | {lines} | {seconds - alone:+.0f} s of {alone:.0f} | "
                  + said.replace("|", "\\|")[:400] + " |", flush=True)


if __name__ == "__main__":
    main()
