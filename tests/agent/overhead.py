"""What the agent costs a job with steps of 5 ms, outside of the window: by its own clock, and by pairs of processes with
it and without it, in turn. An idle machine; about 4 minutes.

    python tests/agent/overhead.py [--framework torch|keras] [--pairs 20]

Prints both, as shares of the step; exit status 1 if the agent's own clock says more than 1 %, or the 95 % interval of
the pairs does not contain what it says."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from counters_file import read_counters
from job import AGENT

WARM, STEPS = 100, 500
TORCH = """
import time
import torch
torch.set_num_threads(1)
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(4096, 256), torch.randint(10, (4096,)))
model = torch.nn.Sequential(torch.nn.Linear(256, %(width)d), torch.nn.ReLU(), torch.nn.Linear(%(width)d, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
done = 0
while done < %(steps)d:
    for x, y in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
        if done == %(warm)d:
            begin = time.perf_counter()
        if done %% 50 == 0:
            loss.item()
        if done == %(steps)d:
            break
print((time.perf_counter() - begin) / (%(steps)d - %(warm)d))
"""
KERAS = """
import os
os.environ.update(TF_NUM_INTRAOP_THREADS="1", TF_NUM_INTEROP_THREADS="1", TF_CPP_MIN_LOG_LEVEL="3")
import time
import keras
import numpy as np


class Clock(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.ends = getattr(self, "ends", []) + [time.perf_counter()]


keras.utils.set_random_seed(0)
inputs = np.random.rand(32 * %(warm)d, 256).astype("float32")
labels = np.random.randint(0, 10, len(inputs))
model = keras.Sequential([keras.layers.Dense(%(width)d, activation="relu"), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
clock = Clock()
model.fit(inputs, labels, batch_size=32, epochs=%(steps)d // %(warm)d, callbacks=[clock], verbose=0)
print((clock.ends[-1] - clock.ends[0]) / (%(steps)d - %(warm)d))
"""
JOBS = {"torch": TORCH, "keras": KERAS}


def run(python, script, agent):
    """(seconds of a step, the agent's own seconds of a step)"""
    with tempfile.TemporaryDirectory() as out:
        environment = dict(os.environ, GPUBENCH_AGENT_WINDOW="none", PYTHONDONTWRITEBYTECODE="1")
        if agent:
            environment.update(GPUBENCH_AGENT=out, PYTHONPATH=os.pathsep.join(
                [AGENT] + [path for path in [os.environ.get("PYTHONPATH")] if path]))
        done = subprocess.run([python, script], env=environment, stdout=subprocess.PIPE, check=True)
        own = 0.0
        if agent:
            counters, = read_counters(out)
            counted = [step["agent"] for step in counters.steps[WARM:]]  # imports and the warm-up are not the steps'
            own = sum(counted) / len(counted) / 1e9
        return float(done.stdout), own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=JOBS, default="torch")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--width", type=int, default=5000, help="of the model: about 5 ms a step")
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(JOBS[options.framework] % {"width": options.width, "steps": WARM + STEPS, "warm": WARM})
        script.flush()
        plain, differences, own = [], [], []
        for pair in range(options.pairs):
            times = {agent: run(options.python, script.name, agent) for agent in ((False, True), (True, False))[pair % 2]}
            plain.append(times[False][0])
            differences.append(times[True][0] / times[False][0] - 1)
            own.append(times[True][1] / times[False][0])
    mean, share = statistics.mean(differences), statistics.median(own)
    half = 2.09 * statistics.stdev(differences) / len(differences) ** 0.5  # t(19); for other numbers of pairs nearly
    print(f"a step takes {1e3 * statistics.median(plain):.2f} ms; the agent by its own clock: {100 * share:.2f} %; by "
          f"{options.pairs} pairs of processes: {100 * mean:.2f} % [{100 * (mean - half):.2f}, {100 * (mean + half):.2f}]")
    sys.exit(not (share <= 0.01 and mean - half <= share <= mean + half))


if __name__ == "__main__":
    main()
