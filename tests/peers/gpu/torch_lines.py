"""PyTorch's side: measures the lines of a plan (JSON on the command line) and prints a line of JSON with the samples of
each figure as soon as it is there.

A training step is whole: forward, loss, gradients, Adam, and running sums of loss and accuracy, on batches that stay on
the device. Its four arrangements all use the fused Adam:
  eager            op by op
  graph            the eager step, captured once and replayed as one torch.cuda.CUDAGraph
  compile          torch.compile(mode="max-autotune-no-cudagraphs") of the model with its loss; the rest eager
  compile + graph  the compiled step captured like `graph`: the fastest that these parts give, so no bar is met only
                   because PyTorch's launches were slow
mode="max-autotune" is not used: its own CUDA graphs leave the optimizer outside. The plan names the models that are
compiled: what no bar needs and takes minutes to tune (M2, the products but bfloat16's) never is; ResNet-50 is compiled in
the default mode, because tuning its convolutions takes longer than all else, and cuDNN times its own algorithms
(torch.backends.cudnn.benchmark).
"""

import json
import os
import pathlib
import sys

import torch
from torch import nn

from clock import Clock

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
CLASSES = 10
TUNED = "max-autotune-no-cudagraphs"
COMPILED_PRODUCTS = ["bfloat16"]
ONLY_COMPILED = ["resnet50"]


def give(record):
    print(json.dumps(record), flush=True)  # what is printed is kept when time ends


def take(name, measure):
    """Gives what was measured, or why it was not."""
    try:
        give({"name": name, "samples": measure()})
    except Exception as error:  # whatever it is, the other lines go on
        # The first line of a compiler's error may be no more than its name.
        reason = " ".join(line.strip() for line in str(error).strip().splitlines()[:2])
        give({"name": name, "reason": f"{type(error).__name__}: {reason}"[:300]})


def network(model):
    if model["image"]:
        sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "zoo"))
        import torch_nets
        return torch_nets.build("resnet50", {"input_shape": model["image"], "classes": model["classes"],
                                             "width": model["width"]})
    if not model["hidden"]:
        return nn.Sequential(nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(13 * 13 * 32, CLASSES))
    layers, inputs = [], model["inputs"]
    for width in model["hidden"]:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, CLASSES))


class Training:
    """One model with its data and its step."""

    def __init__(self, model, device, compiled):
        dtype = DTYPES[model["dtype"]]
        torch.manual_seed(1)
        self.device = device
        height, width, channels = model["image"] or (0, 0, 0)
        shape = (channels, height, width) if model["image"] else (model["inputs"],)
        self.images = torch.rand(model["batch"], *shape, device=device).to(dtype)
        self.labels = torch.randint(model["classes"], (model["batch"],), device=device)
        self.network = network(model).to(device, dtype)
        if device.type == "cuda" and not model["hidden"]:
            self.network = self.network.to(memory_format=torch.channels_last)
            if model["image"]:
                self.images = self.images.to(memory_format=torch.channels_last)
        self.loss = nn.CrossEntropyLoss()
        self.forward = self.outputs_and_loss
        if compiled:
            mode = TUNED if device.type == "cuda" and not model["image"] else "default"
            self.forward = torch.compile(self.outputs_and_loss, mode=mode)
        self.optimizer = torch.optim.Adam(self.network.parameters(), 0.001, fused=True,
                                          capturable=device.type == "cuda")
        self.total = torch.zeros((), device=device)
        self.matches = torch.zeros((), dtype=torch.int64, device=device)

    def outputs_and_loss(self, images, labels):
        outputs = self.network(images)
        return outputs, self.loss(outputs, labels)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        outputs, loss = self.forward(self.images, self.labels)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            self.total += loss
            self.matches += (outputs.argmax(1) == self.labels).sum()

    def replay(self):
        """The step as one CUDA graph."""
        if self.device.type != "cuda":
            raise RuntimeError("a CPU has no CUDA graphs")
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.step()
        return graph.replay


def matmuls(clock, device, extent):
    for name in ["bfloat16", "float16", "float32", "float32 tf32"]:
        dtype = DTYPES[name.split()[0]]
        torch.backends.cuda.matmul.allow_tf32 = name.endswith("tf32")

        def plain(compiled=False):
            if name.endswith("tf32") and device.type != "cuda":
                raise RuntimeError("a CPU has no TF32")
            a, b = (torch.randn(extent, extent, device=device).to(dtype) for _ in range(2))
            product = torch.matmul
            if compiled:
                if device.type != "cuda":
                    raise RuntimeError("there is nothing to tune on a CPU")
                product = torch.compile(lambda x, y: torch.matmul(x, y), mode=TUNED, dynamic=False)
            return clock.samples(lambda: product(a, b))

        take(f"matmul {name}", plain)
        if name in COMPILED_PRODUCTS:
            take(f"matmul {name} compiled", lambda: plain(compiled=True))
    torch.backends.cuda.matmul.allow_tf32 = False


def trainings(clock, device, line, model, compiles):
    arrangements = [("eager", False)] * (line not in ONLY_COMPILED) + [("compile", True)] * compiles
    for name, compiled in arrangements:
        made = []

        def training():
            if not made:
                made.append(Training(model, device, compiled))
            return made[0]

        take(f"{line} {name}", lambda: clock.samples(training().step))
        graph = "graph" if not compiled else "compile + graph"
        take(f"{line} {graph}", lambda: clock.samples(training().replay()))


def copies(clock, device):
    """Between pinned memory and the device, and on the device counting bytes read and written."""
    on_gpu = device.type == "cuda"
    sizes = {"link": 64 << 20, "device": 512 << 20} if on_gpu else {"device": 4 << 20}

    def rates(source, target, moved):
        times = clock.samples(lambda: target.copy_(source, non_blocking=True))
        return [moved / seconds for seconds in times]

    def between(to_device):
        if not on_gpu:
            raise RuntimeError("a CPU has no link")
        host = torch.randint(256, (sizes["link"],), dtype=torch.uint8).pin_memory()
        there = host.to(device)
        return rates(host, there, len(host)) if to_device else rates(there, host, len(host))

    def on_device():
        source = torch.randint(256, (sizes["device"],), dtype=torch.uint8, device=device)
        return rates(source, torch.empty_like(source), 2 * len(source))

    take("copy to device", lambda: between(True))
    take("copy from device", lambda: between(False))
    take("copy on device", on_device)


def host(clock, device, model):
    def samples(step):
        if device.type != "cuda":
            raise RuntimeError("a CPU computes in the calls themselves")
        clock.samples(step)
        return clock.host_samples(step)

    take("host eager", lambda: samples(Training(model, device, False).step))
    take("host graph", lambda: samples(Training(model, device, False).replay()))


def main():
    plan = json.loads(sys.argv[1])
    kind, index = plan["device"].split(":")
    device = torch.device("cuda", int(index)) if kind == "gpu" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    give({"facts": {"version": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
                    "math": "float32 strict (TF32 off), but for the line that says so"}})

    def synchronize():
        if device.type == "cuda":
            torch.cuda.synchronize()

    clock = Clock(synchronize, plan["seconds"])
    for line in plan["lines"]:
        if line == "matmul":
            matmuls(clock, device, plan["matmul"])
        elif line == "copies":
            copies(clock, device)
        elif line == "host":
            host(clock, device, plan["models"]["m1"])
        else:
            trainings(clock, device, line, plan["models"][line], line in plan["compiled"])
        if device.type == "cuda":
            torch.cuda.empty_cache()
    # The compiler's pool of processes may take minutes to end, and there is nothing left to wait for.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
