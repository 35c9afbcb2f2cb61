"""The agent runs with Python 3.8 and later: its syntax, and a job under each Python of this machine."""
import ast
import glob
import os
import subprocess
import sys
import unittest

from counters_file import read_counters
from job import AGENT, JobTest

FILES = sorted(glob.glob(os.path.join(AGENT, "**", "*.py"), recursive=True))
LATER = {"removeprefix", "removesuffix", "pairwise", "lcm", "bit_count", "orig_argv", "is_relative_to",
         "stdlib_module_names", "batched", "add_note", "ExceptionGroup", "to_thread"}  # than 3.8
STANDARD = {"ast", "atexit", "ctypes", "dis", "functools", "importlib", "inspect", "json", "mmap", "os", "platform",
            "re", "resource", "shutil", "struct", "sys", "sysconfig", "threading", "_thread", "time", "types", "weakref"}
FRAMEWORKS = {"torch", "tensorflow", "keras", "jax"}

EVERY_MODULE = """
    import glob, importlib, os, sys
    import torch
    folder = sys.argv[1]
    for path in sorted(glob.glob(os.path.join(folder, "gpubench_agent", "**", "*.py"), recursive=True)):
        name = os.path.relpath(path, folder)[:-3].replace(os.sep, ".")
        importlib.import_module(name.replace(".__init__", ""))
    model = torch.nn.Module([torch.Tensor(1.0)])
    optimizer = torch.optim.SGD(model.parameters())
    for batch in torch.utils.data.DataLoader(list(map(torch.Tensor, range(60))), batch_size=1):
        batch[0].backward()
        optimizer.step()
        float(batch[0])
"""


def pythons():
    """Each Python from 3.8 on: this one, those on PATH, and those of pyenv."""
    found = {}
    folders = os.environ.get("PATH", "").split(os.pathsep)
    paths = [os.path.join(folder, "python3" + minor) for folder in folders for minor in [""] + [
        ".%d" % number for number in range(8, 16)]]
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    paths += glob.glob(os.path.join(pyenv, "versions", "*", "bin", "python3"))
    for path in [sys.executable] + paths:
        if os.access(path, os.X_OK):
            print_version = "import sys; print(sys.version_info[:2] >= (3, 8), sys.version.split()[0])"
            done = subprocess.run([path, "-c", print_version],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            words = done.stdout.decode().split()
            if done.returncode == 0 and words[0] == "True":
                found.setdefault(words[1], path)
    return found


class Syntax(unittest.TestCase):
    def test_of_python_3_8(self):
        self.assertGreater(len(FILES), 20)
        for path in FILES:
            with open(path) as file:
                tree = ast.parse(file.read(), path, feature_version=(3, 8))
            for node in ast.walk(tree):
                name = node.attr if isinstance(node, ast.Attribute) else None
                self.assertNotIn(name, LATER, "%s:%d" % (path, getattr(node, "lineno", 0)))

    def test_imports_the_standard_library_alone(self):
        for path in FILES:
            with open(path) as file:
                tree = ast.parse(file.read())
            for node in ast.walk(tree):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
                    [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
                for name in names:
                    root = name.split(".")[0]
                    inside = node.col_offset > 0  # in a function: the job has imported the framework by then
                    self.assertTrue(root in STANDARD | {"gpubench_agent"} or inside and root in FRAMEWORKS,
                                    "%s imports %s" % (path, name))


class EachPython(JobTest):
    def test_runs_a_job(self):
        for version, python in pythons().items():
            with self.subTest(version):
                self.out = os.path.join(self.folder, "out" + version)
                os.mkdir(self.out)
                done = self.run_job(EVERY_MODULE, python=python, arguments=(AGENT,), GPUBENCH_AGENT_WINDOW="none")
                self.assertEqual((0, b"", b""), (done.returncode, done.stdout, done.stderr))
                self.expect_no_fault()
                counters, = read_counters(self.out)
                self.assertEqual(60, counters.training)
                self.assertEqual([version], [fact["version"] for fact in self.facts("process")])


if __name__ == "__main__":
    unittest.main()
