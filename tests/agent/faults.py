"""Makes each function of the agent fail in a job, and compares what the job prints and how it ends with a run without
the agent.

    python tests/agent/faults.py JOB.py [ARGUMENT...]       in the first call of each function, and in the fifth
    python tests/agent/faults.py --every 10 --begin 3 ...   every tenth of these faults, from the third on
    python tests/agent/faults.py --mask REGEX ...           what differs from run to run, as times

Exit status 1 if the job did not end as it does without the agent."""
import argparse
import concurrent.futures
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INJECT, AGENT = os.path.join(HERE, "inject"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "agent")

# They take the agent's frames out of the message of an exception: where they fail, these frames are shown.
COSMETIC = ("guard.clean", "guard.without_agent")


class Faults:
    def __init__(self, command, mask=None, paths=(), environment=None, cwd=None):
        """`command`: that of the job; `mask`: expressions of what differs between two runs."""
        self.command, self.cwd = command, cwd
        self.mask = [re.compile(one.encode()) for one in mask or ()]
        self.environment = {name: value for name, value in os.environ.items() if name != "GPUBENCH_AGENT"}
        self.environment.update(environment or {}, PYTHONDONTWRITEBYTECODE="1")
        rest = [self.environment["PYTHONPATH"]] if self.environment.get("PYTHONPATH") else []
        self.paths = list(paths) + rest
        self.plain = self.run(None)

    def run(self, fault):
        """(standard output, standard error, status), masked; `fault` None: without the agent."""
        out = tempfile.mkdtemp(prefix="gpubench_faults_")
        try:
            environment = dict(self.environment, TMPDIR=out)
            folders = [INJECT, AGENT] if fault is not None else []
            environment["PYTHONPATH"] = os.pathsep.join(folders + self.paths)
            if fault is not None:
                environment.update(GPUBENCH_AGENT=out, GPUBENCH_TEST_FAULT=fault)
            done = subprocess.run(self.command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, cwd=self.cwd, timeout=300)
            return tuple(self.masked(text) for text in (done.stdout, done.stderr)) + (done.returncode,)
        finally:
            shutil.rmtree(out, ignore_errors=True)

    def masked(self, text):
        for mask in self.mask:
            text = mask.sub(b"#", text)
        return text

    def names(self):
        """Of each function that the job has the agent call: how often, at most in one process."""
        calls = {}
        folder = tempfile.mkdtemp(prefix="gpubench_faults_")
        try:
            if self.run("list " + folder) != self.plain:
                raise SystemExit("faults: the job does not end as without the agent, and no fault was made")
            for name in os.listdir(folder):
                with open(os.path.join(folder, name)) as file:
                    for line in file:
                        function, count = line.split()
                        calls[function] = max(calls.get(function, 0), int(count))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return calls

    def difference(self, result):
        """The lines that a result has more or less than the run without the agent."""
        lines = [line for plain, own in zip(self.plain, result[:2])
                 for line in difflib.unified_diff(*(text.decode("utf-8", "replace").splitlines()
                                                    for text in (plain, own)), n=0, lineterm="")]
        return "status %d instead of %d\n%s" % (result[2], self.plain[2], "\n".join(lines[-12:]))

    def all(self):
        later = 5
        return [name + call for name, count in sorted(self.names().items()) if name not in COSMETIC
                for call in (" 1", " %d" % later) if call == " 1" or count >= later]

    def failing(self, faults, workers=2):
        """[(fault, what the job did instead)]"""
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            results = pool.map(self.run, faults)
            return [(fault, result) for fault, result in zip(faults, results) if result != self.plain]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs=argparse.REMAINDER)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--mask", action="append", default=[])
    options = parser.parse_args()
    faults = Faults([options.python, *options.job], options.mask)
    tried = faults.all()[options.begin::options.every]
    failed = faults.failing(tried)
    for fault, result in failed:
        print("%s: the job did something else: %s" % (fault, faults.difference(result)))
    print("%d faults, %d changed the job" % (len(tried), len(failed)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
