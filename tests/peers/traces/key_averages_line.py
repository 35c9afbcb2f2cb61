"""What PyTorch's key_averages() says of one trace, in a line: key_averages_line.py TRACE. It reads no files, so it gets
the operators of the file, each with the kernels whose launches lie in it."""
import collections
import gzip
import json
import sys

from torch.autograd.profiler_util import EventList, FunctionEvent

opened = gzip.open if sys.argv[1].endswith(".gz") else open
with opened(sys.argv[1], "rt", errors="replace") as file:
    content = json.load(file)
events = content["traceEvents"] if isinstance(content, dict) else content


def is_of(event, *categories):
    return event.get("ph") == "X" and event.get("cat", "").lower() in categories


def correlation(event):
    return event.get("args", {}).get("correlation")


work = collections.defaultdict(list)  # of devices, by correlation
on_threads = collections.defaultdict(list)  # operators and launches
for event in events:
    if is_of(event, "kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"):
        work[correlation(event)].append(event)
    elif is_of(event, "cpu_op", "operator", "cuda_runtime", "cuda_driver", "runtime"):
        on_threads[event["pid"], event["tid"]].append(event)

made = []
for thread, own in enumerate(on_threads.values()):
    running = []
    for event in sorted(own, key=lambda one: (one["ts"], -one.get("dur", 0))):
        while running and running[-1].time_range.end <= event["ts"]:
            running.pop()
        if is_of(event, "cpu_op", "operator"):
            made.append(FunctionEvent(id=len(made), name=event["name"], thread=thread, start_us=event["ts"],
                                      end_us=event["ts"] + event.get("dur", 0), stack=[], use_device="cuda"))
            running.append(made[-1])
        elif running:
            for one in work.get(correlation(event), []):
                running[-1].append_kernel(one["name"], 0, one.get("dur", 0))

listed = EventList(made, use_device="cuda")
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
