"""What each line compares: sizes, floors by count, figures and bars. Pure functions of what the processes measured."""

import dataclasses
import math
import statistics

MET, MISSED, UNMEASURED, INFORMATION = "met", "missed", "not measured", "no bar"
LINES = ["matmul", "m1", "m2", "m3", "copies", "host", "resnet50"]
CLASSES = 10
INPUTS = 784
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
# The least rate of the bf16 product by the GPU's name; other GPUs are held against PyTorch alone.
LEAST_FLOPS_PER_S = {"H200": 780e12}
# GT/s of a lane by PCIe generation, and the share of it that is no line code.
PCIE_LANES = {1: (2.5, 8 / 10), 2: (5, 8 / 10), 3: (8, 128 / 130), 4: (16, 128 / 130), 5: (32, 128 / 130),
              6: (64, 242 / 256)}


@dataclasses.dataclass(frozen=True)
class Model:
    """`hidden`: widths of dense layers, or none for the convolutional M3. `image`: of a ResNet-50, [height, width,
    channels], with `width` channels behind its first layer."""

    name: str
    batch: int
    dtype: str
    hidden: tuple = ()
    image: tuple = ()
    width: int = 64
    classes: int = CLASSES

    @property
    def widths(self):
        return [INPUTS, *self.hidden, CLASSES]

    @property
    def inputs(self):
        return math.prod(self.image) if self.image else INPUTS

    def layers(self):
        """Of a ResNet-50: (multiplications of an image, weights, other parameters) of each convolution and of the end."""
        rows, channels, stage_rows = -(-self.image[0] // 2), self.width, None
        found = [(rows * rows * 49 * self.image[2] * channels, 49 * self.image[2] * channels, 2 * channels)]
        rows = -(-rows // 2)
        for stage, count in enumerate([3, 4, 6, 3]):
            filters = self.width << stage
            for block in range(count):
                stage_rows = -(-rows // 2) if stage > 0 and block == 0 else rows
                parts = [(rows, 1, channels, filters), (stage_rows, 3, filters, filters),
                         (stage_rows, 1, filters, 4 * filters)]
                if block == 0:
                    parts.append((stage_rows, 1, channels, 4 * filters))
                for extent, size, before, after in parts:
                    weights = size * size * before * after
                    found.append((extent * extent * weights, weights, 2 * after))
                rows, channels = stage_rows, 4 * filters
        return found + [(channels * self.classes, channels * self.classes, self.classes)]

    def parameters(self):
        if self.image:
            return sum(weights + others for _, weights, others in self.layers())
        if not self.hidden:
            return 3 * 3 * 32 + 32 + 13 * 13 * 32 * CLASSES + CLASSES
        return sum(a * b + b for a, b in zip(self.widths, self.widths[1:]))

    def flops(self):
        """Of matrix products and convolutions: forward, and both gradients but that of the model's own input."""
        if self.image:
            products = [2 * multiplications for multiplications, _, _ in self.layers()]
            return self.batch * (3 * sum(products) - products[0])
        if not self.hidden:
            return self.batch * (2 * 2 * 26 * 26 * 3 * 3 * 32 + 3 * 2 * 13 * 13 * 32 * CLASSES)
        products = [2 * a * b for a, b in zip(self.widths, self.widths[1:])]
        return self.batch * (3 * sum(products) - products[0])

    def bytes(self):
        """The fewest: weights and both moments of Adam read and written once, the batch read once."""
        return BYTES[self.dtype] * (6 * self.parameters() + self.batch * self.inputs) + 8 * self.batch


@dataclasses.dataclass(frozen=True)
class Sizes:
    matmul: int
    models: dict
    seconds: float  # of measuring each figure in each process

    @staticmethod
    def of(quick, tiny):
        if tiny:
            return Sizes(256, {"m1": Model("M1", 32, "float32", (128,)),
                               "m2": Model("M2", 32, "bfloat16", (64, 64, 64)), "m3": Model("M3", 8, "float32"),
                               "resnet50": Model("ResNet-50", 2, "bfloat16", image=(32, 32, 3), width=8)}, 0.2)
        wide = 2048 if quick else 8192
        return Sizes(wide, {"m1": Model("M1", 32, "float32", (128,)),
                            "m2": Model("M2", wide, "bfloat16", (wide, wide, wide)), "m3": Model("M3", 256, "float32"),
                            "resnet50": Model("ResNet-50", 256, "bfloat16", image=(224, 224, 3), classes=1000)},
                     0.3 if quick else 1.0)


def shifts(chosen):
    """Lines that are measured by the same processes. The net that PyTorch takes longest to compile comes last, so that
    where time ends the others are there."""
    first, last = [one for one in chosen if one != "resnet50"], [one for one in chosen if one == "resnet50"]
    return [one for one in (first, last) if one]


def order(rounds):
    """A B B A, `rounds` times: a drift that goes on as it began hits both alike."""
    return ["gpubench", "torch", "torch", "gpubench"] * rounds


def link_bytes_per_s(generation, lanes):
    """One direction of a PCIe link after its line code; none for a generation that is not known."""
    if generation not in PCIE_LANES or not lanes:
        return None
    transfers, payload = PCIE_LANES[generation]
    return transfers * 1e9 * payload * lanes / 8


class Measured:
    """Samples of seconds (or rates) by system and name, a list for each process; reasons where there are none."""

    def __init__(self):
        self.samples, self.reasons = {}, {}

    def add(self, system, records):
        for record in records:
            key = system, record["name"]
            if record.get("samples"):
                self.samples.setdefault(key, []).append(record["samples"])
            else:
                self.reasons[key] = record.get("reason", "no sample was taken")

    def fail(self, system, reason):
        self.reasons[system, None] = reason

    def reason(self, system, name):
        return self.reasons.get((system, name)) or self.reasons.get((system, None)) or "was not run"

    def median(self, system, name):
        """Median of the processes' medians, so that each process counts alike."""
        processes = self.samples.get((system, name))
        return statistics.median(statistics.median(samples) for samples in processes) if processes else None

    def spread(self, system, name):
        """How far the processes' medians lie apart, as a share of their median; none of one process."""
        processes = self.samples.get((system, name), [])
        if len(processes) < 2:
            return None
        medians = [statistics.median(samples) for samples in processes]
        return (max(medians) - min(medians)) / statistics.median(medians)

    def best(self, names, smallest=True):
        """(value, "system name") of the best of several (system, name); (None, None) where none was measured."""
        found = [(self.median(*key), " ".join(key)) for key in names if self.median(*key) is not None]
        return (min if smallest else max)(found) if found else (None, None)


def row(line, figure, unit, value, spread=None, against=None, bar=None, at_least=True, reason=None, note=""):
    """One row of the table; `bar` none: information alone. Without a value, the row says why."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        value, verdict = None, UNMEASURED
    elif reason:
        verdict = UNMEASURED
    elif bar is None:
        verdict = INFORMATION
    else:
        verdict = MET if (value >= bar if at_least else value <= bar) else MISSED
    return {"line": line, "figure": figure, "unit": unit, "value": value, "spread": spread, "against": against,
            "bar": bar, "bar_is": None if bar is None else ("at least" if at_least else "at most"),
            "verdict": verdict, "reason": reason if verdict == UNMEASURED else None, "note": note}


def ratio_row(measured, line, figure, slower, faster, bar, note=""):
    """How many times as long `slower` takes as `faster`, both (system, name)."""
    times = [measured.median(*slower), measured.median(*faster)]
    missing = [key for key, time in zip([slower, faster], times) if time is None]
    reason = "; ".join(f"{' '.join(key)}: {measured.reason(*key)}" for key in missing) or None
    return row(line, figure, "x", None if missing else times[0] / times[1], against=times[0], bar=bar, reason=reason,
               note=note)


def time_row(measured, line, figure, system, name, bar=None, note=""):
    time = measured.median(system, name)
    reason = measured.reason(system, name) if time is None else None
    return row(line, figure, "s", time, measured.spread(system, name), bar=bar, at_least=False, reason=reason,
               note=note)


def matmul_name(dtype):
    return f"matmul {dtype}"


def peak_flops_per_s(measured, sizes, dtype):
    """The best product of either system in this run, and whose it was."""
    name = matmul_name(dtype)
    keys = [("gpubench", name), ("torch", name), ("torch", name + " compiled")]
    time, whose = measured.best(keys)
    return (2 * sizes.matmul**3 / time, whose) if time else (None, None)


def matmul_rows(measured, sizes, machine):
    rows, flops = [], 2 * sizes.matmul**3
    for dtype in ["bfloat16", "float16", "float32", "float32 tf32"]:
        name = matmul_name(dtype)
        own = measured.median("gpubench", name)
        least = next((rate for gpu, rate in LEAST_FLOPS_PER_S.items() if gpu in machine.get("name", "")), None)
        full = sizes.matmul == 8192
        rows.append(row("matmul", f"{dtype} {sizes.matmul}^3, gpubench", "FLOP/s", flops / own if own else None,
                        measured.spread("gpubench", name), bar=least if dtype == "bfloat16" and full else None,
                        reason=None if own else measured.reason("gpubench", name)))
        for variant in ["", " compiled"] if dtype == "bfloat16" else [""]:
            time = measured.median("torch", name + variant)
            rows.append(row("matmul", f"{dtype} {sizes.matmul}^3, PyTorch{variant}", "FLOP/s",
                            flops / time if time else None, measured.spread("torch", name + variant),
                            reason=None if time else measured.reason("torch", name + variant)))
        best, whose = measured.best([("torch", name), ("torch", name + " compiled")])
        missing = measured.reason("gpubench", name) if own is None else measured.reason("torch", name)
        rows.append(row("matmul", f"{dtype}: gpubench over PyTorch's best", "share",
                        best / own if best and own else None, against=flops / best if best else None,
                        bar=0.95 if dtype == "bfloat16" else None,
                        reason=None if best and own else missing, note=f"best: {whose}" if whose else ""))
    return rows


def floor_of(measured, sizes, model):
    """(seconds, what limits) by count over this run's own peaks; (None, reason) where a peak is missing."""
    peak, _ = peak_flops_per_s(measured, sizes, model.dtype)
    bandwidth = measured.best([("gpubench", "copy on device"), ("torch", "copy on device")], smallest=False)[0]
    if not peak or not bandwidth:
        return None, "needs the lines matmul and copies of the same run"
    arithmetic, memory = model.flops() / peak, model.bytes() / bandwidth
    return max(arithmetic, memory), "arithmetic" if arithmetic > memory else "memory"


def model_rows(measured, sizes, line):
    model = sizes.models[line]
    own = ("gpubench", line)
    label = f"{model.name} batch {model.batch} {model.dtype}"
    floor, limit = floor_of(measured, sizes, model)
    rows = [row(line, f"{label}: floor by count", "s", floor, reason=None if floor else limit,
                note=f"{model.flops():.4g} FLOP, {model.bytes():.4g} bytes" + (f": {limit}" if floor else "")),
            time_row(measured, line, f"{label}: step of gpubench (graph)", *own,
                     bar=40e-6 if line == "m1" else None)]
    arrangements = {"m2": ["eager", "graph"], "resnet50": ["compile", "compile + graph"]}
    for name in arrangements.get(line, ["eager", "graph", "compile", "compile + graph"]):
        rows.append(time_row(measured, line, f"{label}: step of PyTorch {name}", "torch", f"{line} {name}"))
    if line == "m1":
        rows.append(ratio_row(measured, line, "PyTorch eager over gpubench", ("torch", "m1 eager"), own, 5))
        rows.append(ratio_row(measured, line, "PyTorch's CUDA graph over gpubench", ("torch", "m1 graph"), own, 1.5))
    compiled_bars = {"m3": 1.5, "resnet50": 1.0}
    if line in compiled_bars:
        _, best = measured.best([("torch", f"{line} compile"), ("torch", f"{line} compile + graph")])
        slower = tuple(best.split(" ", 1)) if best else ("torch", f"{line} compile")
        rows.append(ratio_row(measured, line, "torch.compile over gpubench", slower, own, compiled_bars[line],
                              f"the faster of its two: {slower[1]}" if best else ""))
    if line == "m2":
        time = measured.median(*own)
        peak, whose = peak_flops_per_s(measured, sizes, model.dtype)
        share = model.flops() / time / peak if time and peak else None
        reason = measured.reason(*own) if not time else "needs the line matmul of the same run" if not peak else None
        rows.append(row(line, "step's FLOP/s over the measured peak", "share", share, against=peak, bar=0.70,
                        reason=reason, note=f"peak: {whose}" if whose else ""))
    return rows


def copies_rows(measured, machine):
    link = machine.get("link_bytes_per_s")
    rows = [row("copies", "link, one direction", "bytes/s", link, note=machine.get("link_note", ""),
                reason=None if link else machine.get("link_note", "not known"))]
    for direction in ["to device", "from device", "on device"]:
        name = f"copy {direction}"
        for system in ["gpubench", "torch"]:
            rate = measured.median(system, name)
            words = f"{direction}, {system}"
            rows.append(row("copies", words, "bytes/s", rate, measured.spread(system, name),
                            reason=None if rate else measured.reason(system, name)))
            if system == "gpubench" and direction != "on device":
                missing = measured.reason(system, name) if not rate else "the link is not known"
                rows.append(row("copies", f"{words}, over the link", "share", rate / link if rate and link else None,
                                against=link, bar=0.85, reason=None if rate and link else missing))
    return rows


def host_rows(measured):
    return [time_row(measured, "host", "gpubench, M1, resident batches", "gpubench", "host resident", bar=10e-6,
                     note="two steps launched after the GPU has caught up: nothing to wait for"),
            time_row(measured, "host", "gpubench, M1, a batch copied in each step", "gpubench", "host fed",
                     note="the same, with the copies of its inputs"),
            time_row(measured, "host", "PyTorch, M1, replay of its CUDA graph", "torch", "host graph"),
            time_row(measured, "host", "PyTorch, M1, eager", "torch", "host eager")]


def table(measured, sizes, machine, chosen, on_gpu):
    rows = []
    for line in chosen:
        if line == "matmul":
            rows += matmul_rows(measured, sizes, machine)
        elif line == "copies":
            rows += copies_rows(measured, machine)
        elif line == "host":
            rows += host_rows(measured)
        else:
            rows += model_rows(measured, sizes, line)
    if on_gpu:
        return rows
    for one in rows:  # a CPU's ratio to a CPU says nothing of the bars
        if one["bar"] is not None and one["verdict"] in (MET, MISSED):
            one["verdict"], one["reason"] = UNMEASURED, "only a GPU's is held against the bar"
    return rows
