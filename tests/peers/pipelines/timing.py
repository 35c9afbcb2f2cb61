"""Times an input pipeline as gpubench does: a warm-up, then windows until the time is up."""

import json
import statistics
import time

WARM_UP_S = 1.5
WINDOW_S = 0.25


def measure(epoch, seconds):
    """`epoch()` is an iterator over the sizes of batches; opening it anew is part of the time. Prints elements/s."""
    begun = time.perf_counter()
    rates, window, started = [], 0, begun
    while True:
        for size in epoch():
            window += size
            now = time.perf_counter()
            if now - begun < WARM_UP_S:
                window, started = 0, now
            elif now - started >= WINDOW_S:
                rates.append(window / (now - started))
                window, started = 0, now
            if now - begun >= WARM_UP_S + seconds and len(rates) >= 5:
                print(json.dumps({"elements_per_s": statistics.median(rates), "windows": len(rates)}), flush=True)
                return
