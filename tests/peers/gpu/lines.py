"""What each line compares: sizes, floors by count, figures and bars. Pure functions of what the processes measured."""

import dataclasses
import json
import math
import pathlib
import statistics

MET, MISSED, UNMEASURED, INFORMATION = "met", "missed", "not measured", "no bar"
LINES = ["matmul", "m1", "m2", "m3", "copies", "host", "resnet50"]
CLASSES = 10
INPUTS = 784
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
# By the figure's words, which name the size that the bar is for. The page of tests/gpu_check reads the same file.
BARS = {one["figure"]: one for one in json.loads((pathlib.Path(__file__).parent / "bars.json").read_text())}
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

    @staticmethod
    def of(small):
        """Those that the bars are for, or small ones that a CPU computes in seconds."""
        if small:
            return Sizes(256, {"m1": Model("M1", 32, "float32", (128,)),
                               "m2": Model("M2", 32, "bfloat16", (64, 64, 64)), "m3": Model("M3", 8, "float32"),
                               "resnet50": Model("ResNet-50", 2, "bfloat16", image=(32, 32, 3), width=8)})
        return Sizes(8192, {"m1": Model("M1", 32, "float32", (128,)),
                            "m2": Model("M2", 8192, "bfloat16", (8192, 8192, 8192)), "m3": Model("M3", 256, "float32"),
                            "resnet50": Model("ResNet-50", 256, "bfloat16", image=(224, 224, 3), classes=1000)})


def shifts(chosen):
    """Lines that are measured by the same processes. The net that PyTorch takes longest to compile comes last, so that
    where time ends the others are there."""
    first, last = [one for one in chosen if one != "resnet50"], [one for one in chosen if one == "resnet50"]
    return [one for one in (first, last) if one]


def order(rounds, quick=False):
    """A B B A, `rounds` times, or A B A: a drift that goes on as it began hits both alike."""
    return ["gpubench", "torch", "gpubench"] if quick else ["gpubench", "torch", "torch", "gpubench"] * rounds


def compiled(quick=False):
    """The models that PyTorch compiles; in a quick run only those with a bar against it, for tuning takes half a minute."""
    return ["m3", "resnet50"] if quick else ["m1", "m3", "resnet50"]


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


def row(line, figure, unit, value, spread=None, against=None, reason=None, note=""):
    """One row of the table; without a bar of its name, information alone. Without a value, the row says why."""
    bar = BARS.get(figure, {})
    at_least = "at_least" in bar
    limit = bar.get("at_least", bar.get("at_most"))
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        value, verdict = None, UNMEASURED
    elif reason:
        verdict = UNMEASURED
    elif limit is None:
        verdict = INFORMATION
    else:
        verdict = MET if (value >= limit if at_least else value <= limit) else MISSED
    return {"line": line, "figure": figure, "unit": unit, "value": value, "spread": spread, "against": against,
            "bar": limit, "bar_is": None if limit is None else ("at least" if at_least else "at most"),
            "verdict": verdict, "reason": reason if verdict == UNMEASURED else None, "note": note}


def ratio_row(measured, line, figure, slower, faster, note=""):
    """How many times as long `slower` takes as `faster`, both (system, name)."""
    times = [measured.median(*slower), measured.median(*faster)]
    missing = [key for key, time in zip([slower, faster], times) if time is None]
    reason = "; ".join(measured.reason(*key) for key in missing) or None
    return row(line, figure, "x", None if missing else times[0] / times[1], against=times[0], reason=reason, note=note)


def time_row(measured, line, figure, system, name, note=""):
    time = measured.median(system, name)
    reason = measured.reason(system, name) if time is None else None
    return row(line, figure, "s", time, measured.spread(system, name), reason=reason, note=note)


def matmul_name(dtype):
    return f"matmul {dtype}"


def peak_flops_per_s(measured, sizes, dtype):
    """The best product of either system in this run, and whose it was."""
    name = matmul_name(dtype)
    keys = [("gpubench", name), ("torch", name), ("torch", name + " compiled")]
    time, whose = measured.best(keys)
    return (2 * sizes.matmul**3 / time, whose) if time else (None, None)


def matmul_rows(measured, sizes):
    rows, flops = [], 2 * sizes.matmul**3
    for dtype in ["bfloat16", "float16", "float32", "float32 tf32"]:
        name, label = matmul_name(dtype), f"{dtype} {sizes.matmul}^3"
        own = measured.median("gpubench", name)
        rows.append(row("matmul", f"{label}, gpubench", "FLOP/s", flops / own if own else None,
                        measured.spread("gpubench", name), reason=None if own else measured.reason("gpubench", name)))
        for variant in ["", " compiled"] if dtype == "bfloat16" else [""]:
            time = measured.median("torch", name + variant)
            rows.append(row("matmul", f"{label}, PyTorch{variant}", "FLOP/s",
                            flops / time if time else None, measured.spread("torch", name + variant),
                            reason=None if time else measured.reason("torch", name + variant)))
        best, whose = measured.best([("torch", name), ("torch", name + " compiled")])
        missing = measured.reason("gpubench", name) if own is None else measured.reason("torch", name)
        rows.append(row("matmul", f"{label}: gpubench over PyTorch's best", "share",
                        best / own if best and own else None, against=flops / best if best else None,
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
            time_row(measured, line, f"{label}: step of gpubench (graph)", *own)]
    arrangements = {"m2": ["eager", "graph"], "resnet50": ["compile", "compile + graph"]}
    for name in arrangements.get(line, ["eager", "graph", "compile", "compile + graph"]):
        rows.append(time_row(measured, line, f"{label}: step of PyTorch {name}", "torch", f"{line} {name}"))
    if line == "m1":
        rows.append(ratio_row(measured, line, f"{label}: PyTorch eager over gpubench", ("torch", "m1 eager"), own))
        rows.append(ratio_row(measured, line, f"{label}: PyTorch's CUDA graph over gpubench", ("torch", "m1 graph"),
                              own))
    if line in ["m3", "resnet50"]:
        _, best = measured.best([("torch", f"{line} compile"), ("torch", f"{line} compile + graph")])
        slower = tuple(best.split(" ", 1)) if best else ("torch", f"{line} compile")
        rows.append(ratio_row(measured, line, f"{label}: torch.compile over gpubench", slower, own,
                              f"the faster of its two: {slower[1]}" if best else ""))
    if line == "m2":
        time = measured.median(*own)
        peak, whose = peak_flops_per_s(measured, sizes, model.dtype)
        share = model.flops() / time / peak if time and peak else None
        reason = measured.reason(*own) if not time else "needs the line matmul of the same run" if not peak else None
        rows.append(row(line, f"{label}: step's FLOP/s over the measured peak", "share", share, against=peak,
                        reason=reason, note=f"peak: {whose}" if whose else ""))
    return rows


def copies_rows(measured, machine):
    link = machine.get("link_bytes_per_s")
    rows = [row("copies", "link, one direction", "bytes/s", link, note=machine.get("link_note", ""),
                reason=None if link else machine.get("link_note", "not known"))]
    notes = {"gpubench": "the best of four copies in a row, in 30 ms", "torch": "the median of blocks of copies"}
    for direction in ["to device", "from device", "on device"]:
        name = f"copy {direction}"
        for system in ["gpubench", "torch"]:
            rate = measured.median(system, name)
            words = f"{direction}, {system}"
            rows.append(row("copies", words, "bytes/s", rate, measured.spread(system, name),
                            reason=None if rate else measured.reason(system, name), note=notes[system]))
            if system == "gpubench" and direction != "on device":
                missing = measured.reason(system, name) if not rate else machine.get("link_note", "the link is not known")
                if rate and link:
                    missing = "faster than the link that nvidia-smi tells, so that is another one" if rate > link else None
                rows.append(row("copies", f"{words}, over the link", "share", rate / link if rate and link else None,
                                against=link, reason=missing))
        if direction != "on device":
            rates = {system: measured.median(system, name) for system in ["gpubench", "torch"]}
            missing = "; ".join(measured.reason(system, name) for system, rate in rates.items() if not rate)
            rows.append(row("copies", f"{direction}: gpubench over PyTorch", "share",
                            None if missing else rates["gpubench"] / rates["torch"], against=rates["torch"],
                            reason=missing or None))
    return rows


def host_rows(measured):
    return [time_row(measured, "host", "gpubench, M1, resident batches", "gpubench", "host resident",
                     note="two steps launched after the GPU has caught up: nothing to wait for"),
            time_row(measured, "host", "gpubench, M1, a batch copied in each step", "gpubench", "host fed",
                     note="the same, with the copies of its inputs"),
            time_row(measured, "host", "PyTorch, M1, replay of its CUDA graph", "torch", "host graph"),
            time_row(measured, "host", "PyTorch, M1, eager", "torch", "host eager")]


def unmeasured_rows(rows, chosen):
    """The bars that no row is held against, because the sizes or lines are others."""
    held = {one["figure"] for one in rows}
    return [row(one["line"], figure, one["unit"], None,
                reason="not measured at this size" if one["line"] in chosen else "this line was not asked for")
            for figure, one in BARS.items() if figure not in held]


def different_libraries(loaded):
    """Which libraries the two systems loaded from different files, in words; none where they are the same. `loaded`:
    {system: {library: file}}; a library that only one of them loaded decides nothing."""
    own, theirs = loaded.get("gpubench", {}), loaded.get("torch", {})
    return "; ".join(f"gpubench has {own[name]}, PyTorch {theirs[name]}" for name in sorted(own)
                     if name in theirs and own[name] != theirs[name]) or None


def is_comparison(row):
    """Whether the row's value is a ratio of both systems' kernels. Copies take no library."""
    return row["line"] != "copies" and (row["figure"].endswith("over gpubench") or "gpubench over" in row["figure"])


def table(measured, sizes, machine, chosen, on_gpu, loaded=None):
    rows = []
    for line in chosen:
        if line == "matmul":
            rows += matmul_rows(measured, sizes)
        elif line == "copies":
            rows += copies_rows(measured, machine)
        elif line == "host":
            rows += host_rows(measured)
        else:
            rows += model_rows(measured, sizes, line)
    rows += unmeasured_rows(rows, chosen)
    different = different_libraries(loaded or {})
    for one in rows:
        if different and is_comparison(one) and one["value"] is not None:
            one["verdict"], one["reason"] = UNMEASURED, f"not comparable: {different}"
        if one["verdict"] in (MET, MISSED) and not on_gpu:  # a CPU's ratio to a CPU says nothing of the bars
            one["verdict"], one["reason"] = UNMEASURED, "only a GPU's is held against the bar"
    return rows
