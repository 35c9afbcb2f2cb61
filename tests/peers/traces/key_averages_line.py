"""What PyTorch's key_averages() says of one trace, in a line: key_averages_line.py TRACE. It reads no files, so it gets
the operators of the file, each with the kernels that carry its External id."""
import collections
import gzip
import json
import sys

from torch.autograd.profiler_util import EventList, FunctionEvent

opened = gzip.open if sys.argv[1].endswith(".gz") else open
with opened(sys.argv[1], "rt", errors="replace") as file:
    content = json.load(file)
events = content["traceEvents"] if isinstance(content, dict) else content


def external(event):
    args = event.get("args", {})
    return args.get("External id", args.get("external id"))


def is_of(event, *categories):
    return event.get("ph") == "X" and event.get("cat", "").lower() in categories


operators = [event for event in events if is_of(event, "cpu_op", "operator")]
made, threads = collections.OrderedDict(), {}
for index, event in enumerate(operators):
    thread = threads.setdefault((event["pid"], event["tid"]), len(threads))
    made[external(event) if external(event) is not None else -1 - index] = FunctionEvent(
        id=index, name=event["name"], thread=thread, start_us=event["ts"], end_us=event["ts"] + event.get("dur", 0),
        stack=[], use_device="cuda")
for event in events:
    if is_of(event, "kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset") and external(event) in made:
        made[external(event)].append_kernel(event["name"], 0, event.get("dur", 0))
listed = EventList(made.values(), use_device="cuda")
listed._build_tree()
averages = listed.key_averages()
if not averages:
    sys.exit("no operators")
on_device = sum(one.self_device_time_total for one in averages)
kind = "device" if on_device else "CPU"
time_of = (lambda one: one.self_device_time_total) if on_device else (lambda one: one.self_cpu_time_total)
most = max(averages, key=time_of)
total = sum(time_of(one) for one in averages)
share = 100 * time_of(most) / total if total else 0
print(f"{most.key} has most self {kind} time: {share:.0f} % in {most.count} calls")
