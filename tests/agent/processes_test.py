"""The agent in processes that a job starts, and in interpreters that load it or cannot."""
import os
import subprocess
import sys
import unittest

from counters_file import read_counters
from job import LOOP, JobTest


class Processes(JobTest):
    def test_a_forked_child_writes_files_of_its_own(self):
        self.expect_same(LOOP + """
    train(25)
    child = os.fork()
    if child == 0:
        train(5)
        os._exit(0)
    os.waitpid(child, 0)
    train(5)
        """, GPUBENCH_AGENT_WINDOW="none")
        self.expect_no_fault()
        self.assertEqual([5, 30], sorted(counters.training for counters in read_counters(self.out)))

    def test_a_fork_sees_no_thread_of_the_agent(self):
        self.expect_same(LOOP + """
    import warnings
    warnings.simplefilter("always")
    train(25)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
        """)

    def test_a_child_that_does_nothing_writes_nothing(self):
        self.run_job("import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()")
        self.assertEqual(1, len(os.listdir(self.out)))

    def test_spawned_and_pooled_workers(self):
        self.expect_same(LOOP + """
    import multiprocessing
    if __name__ == "__main__":
        for kind in ("fork", "spawn"):
            with multiprocessing.get_context(kind).Pool(1) as pool:
                print(float(pool.map(train, [4])[0]))
        """)
        self.expect_no_fault()
        self.assertIn("worker", {fact["role"] for fact in self.facts("process")})

    def test_exec_and_subprocesses(self):
        self.expect_same("""
        import os, subprocess, sys
        subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"], check=True)
        os.execv(sys.executable, [sys.executable, "-c", "import torch; print(1)"])
        """)
        self.assertEqual(2, len(read_counters(self.out)))
        self.expect_no_fault()

    def test_an_environment_of_its_own(self):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", os.path.join(self.folder, "venv")], check=True)
        python = os.path.join(self.folder, "venv", "bin", "python")
        counters, = self.expect_same(LOOP + "    train(3)", python=python)
        self.assertEqual(3, counters.training)

    def test_options_under_which_it_cannot_load(self):
        for option in ("-S", "-I", "-E"):
            self.assertEqual([], self.expect_same("print('runs')", options=(option,)))
            self.assertEqual([], self.facts())


if __name__ == "__main__":
    unittest.main()
