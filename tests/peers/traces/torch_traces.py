"""Makes one trace with torch.profiler: torch_traces.py NAME FOLDER. Each function below is a training script whose step
has the cause that cases.py expects, by sleeping or computing far longer than the rest of the step takes."""
import gzip
import json
import pathlib
import subprocess
import sys
import threading
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset, IterableDataset

ACTIVE = 8
STEPS = ACTIVE + 3


class Samples(Dataset):
    def __init__(self, width, seconds=0.0, count=STEPS * 8):
        self.width, self.seconds, self.count = width, seconds, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.seconds:
            time.sleep(self.seconds)
        return torch.full((self.width,), float(index)), index % 10


class Stream(IterableDataset):
    def __init__(self, width, seconds, count=STEPS * 8):
        self.width, self.seconds, self.count = width, seconds, count

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        for index in range(self.count // (worker.num_workers if worker else 1)):
            time.sleep(self.seconds)
            yield torch.full((self.width,), float(index)), index % 10


class AsLong:
    """Sleeps as long as the rest of the step has taken: half of each step, however busy the machine is."""

    def __init__(self):
        self.since = time.monotonic()

    def __call__(self):
        time.sleep(max(0.01, time.monotonic() - self.since))
        self.since = time.monotonic()


class StreamOfHalf(IterableDataset):
    """Batches, each of which takes as long as the step before it."""

    def __iter__(self):
        sleep = AsLong()
        for inputs in ready_batches(128, 512):
            sleep()
            yield inputs


def slow_collate(samples):
    time.sleep(0.06)
    return torch.utils.data.default_collate(samples)


def busy(seconds):
    """Python that computes until the thread has used so much processor time."""
    end, total = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        total += sum(range(1000))
    return total


def small_model(width=64):
    return nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 10))


def larger_model():
    return nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def ready_batches(batch=8, width=64, count=STEPS):
    inputs = torch.randn(batch, width), torch.randint(0, 10, (batch,))
    return [inputs] * count


def train(folder, model, batches, marked=True, stack=False, between=None, optimizer=None, name="trace.json"):
    """Trains on the batches and writes folder/name: after three steps with marks, else of all steps."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=1e-3)
    plan = {"schedule": schedule(wait=2, warmup=1, active=ACTIVE, repeat=1)} if marked else {}
    with profile(activities=[ProfilerActivity.CPU], with_stack=stack, **plan,
                 on_trace_ready=lambda done: done.export_chrome_trace(str(folder / name))) as profiler:
        for inputs, labels in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            if between:
                between()
            if marked:
                profiler.step()


def products(folder, **how):
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    train(folder, model, ready_batches(256, 1024), **how)


def products_workers(folder):
    """Workers that keep up: not the cause."""
    model = nn.Sequential(nn.Linear(64, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))
    loader = DataLoader(Samples(64, count=STEPS * 256), batch_size=256, num_workers=2, prefetch_factor=6)
    batches = iter(loader)
    first = next(batches)
    time.sleep(3)  # the workers fill their queue
    train(folder, model, [first, *batches], marked=True)


def loader(folder, dataset=None, workers=0, collate=None, **how):
    dataset = dataset or Samples(64, 0.005 if workers == 0 else 0.02)
    train(folder, small_model(), DataLoader(dataset, batch_size=8, num_workers=workers, collate_fn=collate), **how)


def loader_half(folder):
    train(folder, larger_model(), DataLoader(StreamOfHalf(), batch_size=None))


def python(folder, **how):
    train(folder, small_model(), ready_batches(), between=lambda: time.sleep(0.04), **how)


def python_half(folder):
    train(folder, larger_model(), ready_batches(128, 512), between=AsLong(), marked=False)


def python_busy(folder):
    train(folder, small_model(), ready_batches(), between=lambda: busy(0.04))


def python_beside_threads(folder):
    """Another thread works all the time; the one that trains sleeps between steps."""
    done = threading.Event()
    other = threading.Thread(target=lambda: [time.sleep(0.001) for _ in iter(done.is_set, True)])
    other.start()
    python(folder)
    done.set()
    other.join()


def user_range(folder, work=lambda: time.sleep(0.04), model=None, batches=None, **how):
    def between():
        with record_function("augment_and_log"):
            work()
    train(folder, model or small_model(), batches or ready_batches(), between=between, **how)


def small_operators(folder, optimizer=None, **how):
    model = nn.Sequential(*[layer for _ in range(30) for layer in (nn.Linear(4, 4), nn.Tanh())], nn.Linear(4, 10))
    train(folder, model, ready_batches(1, 4), optimizer=optimizer and optimizer(model), **how)


def recompile(folder, backend):
    torch._dynamo.config.recompile_limit = 64
    model = torch.compile(small_model(), dynamic=False, backend=backend)
    train(folder, model, [next(iter(ready_batches(batch))) for batch in range(8, 8 + STEPS)])


def no_training(folder, work):
    """A profile without any step."""
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()
    profiler.export_chrome_trace(str(folder / "trace.json"))


def start_up():
    """What a profile holds that ends before the second step."""
    model = larger_model()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(8, 512)).sum().backward()
    optimizer.step()


def cut(folder):
    loader(folder)
    whole = (folder / "trace.json").read_bytes()
    (folder / "trace.json").write_bytes(whole[:len(whole) * 8 // 10])


def cut_packed(folder):
    python(folder)
    whole = gzip.compress((folder / "trace.json").read_bytes())
    (folder / "trace.json").unlink()
    (folder / "trace.json.gz").write_bytes(whole[:len(whole) * 8 // 10])


def one_rank(folder, rank, cause):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(small_model())
    is_late = rank == 1
    slow = is_late and cause == "loader"
    train(folder, model, DataLoader(Samples(64, 0.01 if slow else 0.0), batch_size=8),
          between=(lambda: time.sleep(0.08)) if is_late and cause == "python" else None, name=f"rank{rank}.json")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def ranks(folder, cause):
    both = [subprocess.Popen([sys.executable, __file__, f"rank_{rank}_{cause}", folder]) for rank in (0, 1)]
    if any([one.wait() for one in both]):
        raise SystemExit("a rank failed")
    (folder / "meeting").unlink(missing_ok=True)


def ranks_merged(folder):
    """As servers of several ranks write it: one file, with the rank before the names of processes."""
    ranks(folder, "loader")
    merged = {}
    for rank in (0, 1):
        file = folder / f"rank{rank}.json"
        own = json.loads(file.read_text())
        for event in own["traceEvents"]:
            event["pid"] = f"[DP{rank:02}] {event.get('pid')}"
        own["traceEvents"] += merged.get("traceEvents", [])
        own.pop("distributedInfo", None)
        merged = own
        file.unlink()
    (folder / "trace.json").write_text(json.dumps(merged))


CASES = {
    "products": products,
    "products_unmarked": lambda folder: products(folder, marked=False),
    "products_workers": products_workers,
    "loader": loader,
    "loader_unmarked": lambda folder: loader(folder, marked=False),
    "loader_half": loader_half,
    "collate": lambda folder: loader(folder, Samples(64), collate=slow_collate),
    "workers_2": lambda folder: loader(folder, workers=2),
    "workers_stack": lambda folder: loader(folder, workers=2, stack=True),
    "workers_4": lambda folder: loader(folder, Samples(64, 0.04), workers=4),
    "workers_iterable": lambda folder: loader(folder, Stream(64, 0.02), workers=2),
    "collate_workers": lambda folder: loader(folder, Samples(64), workers=2, collate=slow_collate),
    "python": python,
    "python_half": python_half,
    "python_stack": lambda folder: python(folder, stack=True),
    "python_busy": python_busy,
    "python_beside_threads": python_beside_threads,
    "range": user_range,
    "range_half": lambda folder: user_range(folder, AsLong(), larger_model(), ready_batches(128, 512), marked=False),
    "small_operators": small_operators,
    "small_operators_adam": lambda folder: small_operators(
        folder, lambda model: torch.optim.Adam(model.parameters(), foreach=False)),
    "small_operators_stack": lambda folder: small_operators(folder, stack=True),
    "recompile": lambda folder: recompile(folder, "aot_eager"),
    "recompile_inductor": lambda folder: recompile(folder, "inductor"),
    "one_operator": lambda folder: no_training(folder, lambda: torch.ones(64, 64) @ torch.ones(64, 64)),
    "start_up": lambda folder: no_training(folder, start_up),
    "cut": cut,
    "cut_packed": cut_packed,
    "ranks_loader": lambda folder: ranks(folder, "loader"),
    "ranks_python": lambda folder: ranks(folder, "python"),
    "ranks_merged": ranks_merged,
    **{f"rank_{rank}_{cause}": lambda folder, rank=rank, cause=cause: one_rank(folder, rank, cause)
       for rank in (0, 1) for cause in ("loader", "python")},
}

if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)  # several wait for each other where other programs use the cores
    CASES[sys.argv[1]](pathlib.Path(sys.argv[2]))
