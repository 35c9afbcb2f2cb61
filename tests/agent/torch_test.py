"""The agent in jobs of the PyTorch that is installed, such as Debian's python3-torch (1.13)."""
import glob
import json
import os
import subprocess
import sys
import unittest

from counters_file import read_counters
from job import JobTest

TORCH = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL).stdout.decode().strip()

JOB = """
    import sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset
    torch.manual_seed(0)
    torch.set_num_threads(1)
    class Digits(Dataset):
        def __len__(self):
            return 128
        def __getitem__(self, index):
            time.sleep(0.0002)
            return torch.rand(8) + index % 7, index % 10
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(8, 32), torch.nn.Linear(32, 10)
        def forward(self, x):
            return self.last(torch.relu(self.first(x)))
    def train(workers=0, epochs=3):
        model = Net()
        optimizer = torch.optim.Adam(model.parameters())
        loader = DataLoader(Digits(), batch_size=4, shuffle=True, num_workers=workers)
        for epoch in range(epochs):
            model.train()
            for x, y in loader:
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                total = loss.item()
            model.eval()
            for x, y in DataLoader(Digits(), batch_size=32):
                with torch.no_grad():
                    model(x)
            print(epoch, total, torch.rand(1).item())
        torch.save(model.state_dict(), "model.pt")
        print("%.6f" % loss, f"{loss.detach():.5f}")
"""


@unittest.skipUnless(TORCH, "this Python has no PyTorch")
class Torch(JobTest):
    def test_a_loop(self):
        counters, = self.expect_same(JOB + "    train()", paths=())
        self.expect_no_fault()
        self.assertEqual((96, 2), (counters.training, counters.window))
        self.assertEqual("torch optimizer Adam", counters.mark)
        self.assertEqual([16], [sum(1 for step in counters.steps if step["kind"] & 256)])
        self.assertEqual(12, sum(1 for step in counters.steps if step["kind"] & 255 == 2))
        self.assertGreater(counters.at(3, "Digits.__getitem__")[0]["times"], 0)
        loads = sum(step["load"] for step in counters.steps)
        waits = sum(step["wait"] for step in counters.steps)
        self.assertTrue(0 < loads <= waits)
        self.assertTrue(counters.at(1, "train"))
        model, = self.facts("model")
        self.assertEqual(("Net", 618, False), tuple(model[name] for name in ("class", "parameters", "ddp")))
        window, = self.facts("window")
        with open(window["path"]) as file:
            trace = json.load(file)
        events = trace if isinstance(trace, list) else trace["traceEvents"]
        names = {event.get("name", "") for event in events}
        self.assertTrue(any(name.startswith("Optimizer.step") for name in names))

    def test_workers(self):
        counters = self.expect_same(JOB + "    train(workers=2)", paths=())
        self.expect_no_fault()
        workers = [one for one in counters if not one.training]
        self.assertEqual((7, 6), (len(counters), len(workers)))
        self.assertEqual(384, sum(one.at(3, "__getitem__")[0]["times"] for one in workers))

    def test_an_exception_in_a_worker(self):
        for workers in (0, 1):
            self.expect_same(JOB + """
    class Broken(Digits):
        def __getitem__(self, index):
            raise KeyError("no sample %%d" %% index)
    for batch in DataLoader(Broken(), num_workers=%d):
        pass
            """ % workers, paths=())

    def test_remedies_of_the_loader_and_the_optimizer(self):
        done = self.run_job(JOB + "    train(epochs=1)", paths=(),
                            GPUBENCH_AGENT_REMEDIES="workers=1,set_to_none,threads=1,allocator")
        self.assertEqual(0, done.returncode)
        self.assertEqual({"workers", "set_to_none", "threads", "allocator"},
                         {fact["name"] for fact in self.facts("remedy") if fact["applied"]})
        self.expect_no_fault()

    def test_steps_on_kept_batches(self):
        self.run_job(JOB + "    train()", paths=(), GPUBENCH_AGENT_PROVE="12", GPUBENCH_AGENT_WINDOW="none")
        counters, = read_counters(self.out)
        kept = [step for step in counters.steps if step["kind"] & 4096]
        self.assertEqual((2, 12), (counters.prove, len(kept)))
        self.assertEqual(0, sum(step["load"] for step in kept))

    def test_a_window_at_a_step(self):
        self.run_job(JOB + "    train(epochs=1)", paths=(), GPUBENCH_AGENT_WINDOW="20,5")
        counters, = read_counters(self.out)
        self.assertEqual([20] + [True] * 5, [counters.window_first] + [
            bool(step["kind"] & 256) for step in counters.steps[20:25]])

    def test_the_jobs_own_profiler(self):
        done = self.run_job(JOB + """
    train(epochs=1)
    from torch.autograd import profiler
    with profiler.profile() as profile:
        train(epochs=1)
    print(len(profile.function_events) > 100)
        """, paths=(), GPUBENCH_AGENT_WINDOW="25,500")
        counters, = read_counters(self.out)
        self.assertEqual((2, 0), (counters.window, done.returncode))
        self.assertTrue(done.stdout.endswith(b"True\n"))
        self.expect_no_fault()

    def test_a_job_that_ends_in_the_window(self):
        counters, = self.expect_same(JOB + "    train(epochs=1)", paths=(), GPUBENCH_AGENT_WINDOW="30,50")
        self.assertEqual(2, counters.window)
        self.assertEqual(1, len(glob.glob(os.path.join(self.out, "*.window", "*.json"))))


if __name__ == "__main__":
    unittest.main()
