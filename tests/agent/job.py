"""Runs a job with the agent and without it."""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from counters_file import read_counters, read_facts

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "agent")
STUBS = os.path.join(HERE, "stubs", "site-packages")

# Trains with the stub of PyTorch.
LOOP = """
    import os, sys, time
    import torch
    class Digits:
        def __len__(self):
            return 64
        def __getitem__(self, index):
            return torch.Tensor(float(index))
    def train(steps=40, sync=True):
        model = torch.nn.Module([torch.Tensor(1.0)])
        optimizer = torch.optim.SGD(model.parameters())
        done = 0
        while done < steps:
            for batch in torch.utils.data.DataLoader(Digits(), batch_size=4):
                loss = model.forward(batch[0])
                loss.backward()
                optimizer.step()
                if sync:
                    loss.item()
                done += 1
                if done == steps:
                    break
        return loss
"""


class JobTest(unittest.TestCase):
    """A test with a folder of its own, which holds the job's script, its output and the agent's files."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpubench_agent_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = os.path.join(self.folder, "out")
        os.mkdir(self.out)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def run_job(self, script, options=(), agent=True, out=None, paths=(STUBS,), python=sys.executable, arguments=(),
                **environment):
        """The completed process of a script's text."""
        path = self.write("job.py", script)
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("GPUBENCH", "PYTHON"))}
        folders = [AGENT] * agent + list(paths)
        variables.update(environment, PYTHONPATH=os.pathsep.join(folders), PYTHONDONTWRITEBYTECODE="1")
        if agent:
            variables["GPUBENCH_AGENT"] = out or self.out
        return subprocess.run([python, *options, path, *arguments], env=variables, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder, timeout=240)

    def expect_same(self, script, **options):
        """The job prints and ends as it would without the agent. Returns its counters."""
        without = self.run_job(script, agent=False, **options)
        beside = self.run_job(script, **options)
        self.assertEqual(without.stdout, beside.stdout)
        self.assertEqual(without.stderr, beside.stderr)
        self.assertEqual(without.returncode, beside.returncode)
        return read_counters(options.get("out") or self.out)

    def facts(self, name=None):
        return read_facts(self.out, name)

    def expect_no_fault(self):
        self.assertEqual([], self.facts("fault"))
