"""Detectors of changes, side by side. Each takes series and returns, for each of them, changes and alarms."""

import json
import math
import subprocess


class NotInstalled(Exception):
    pass


def nothing(all_series):
    return [([], []) for _ in all_series]


class Gpubench:
    def __init__(self, program):
        self.program = program

    def __call__(self, all_series):
        lines = "".join(json.dumps({"id": one.id, "values": one.values}) + "\n" for one in all_series)
        done = subprocess.run([self.program, "changes", "-"], input=lines, text=True, check=True, stdout=subprocess.PIPE)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert [one["id"] for one in found] == [one.id for one in all_series]
        return [(one["changes"], one["alarms"]) for one in found]


BACK, MOST_BACK, FORE, THRESHOLD = 12, 24, 12, 7


def _weighted(values):
    """Mean with weights that fall linearly with the distance from the first value, and variance."""
    weights = [1 - i / len(values) for i in range(len(values))]
    mean = sum(w * v for w, v in zip(weights, values)) / sum(weights)
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def _t(values, place):
    before = values[max(0, place - MOST_BACK):place][::-1]
    after = values[place:place + FORE]
    if len(before) < BACK or len(after) < FORE:
        return 0.0
    (mean_a, variance_a), (mean_b, variance_b) = _weighted(before), _weighted(after)
    error = math.sqrt(variance_a / len(before) + variance_b / len(after))
    if error == 0:
        return 0.0 if mean_a == mean_b else math.inf
    return abs(mean_b - mean_a) / error


def mozilla(all_series):
    """The rule of Perfherder: a place where t exceeds 7 and is at its largest. It needs the values up to 11 later."""
    results = []
    for one in all_series:
        t = [_t(one.values, place) for place in range(len(one.values))] + [0.0]
        changes = [i for i in range(1, len(t) - 1) if t[i] > THRESHOLD and t[i] >= t[i - 1] and t[i] > t[i + 1]]
        results.append((changes, [i + FORE - 1 for i in changes]))
    return results


class Otava:
    """Apache Otava in a Python of its own, since it brings libraries."""

    CODE = """
import json, sys
from otava.analysis import compute_change_points
for line in sys.stdin:
    points, _ = compute_change_points(json.loads(line), window_len=50, max_pvalue={p}, min_magnitude={magnitude})
    print(json.dumps([int(point.index) for point in points]))
"""

    def __init__(self, python, p, magnitude):
        self.python = python
        self.code = self.CODE.format(p=p, magnitude=magnitude)

    def __call__(self, all_series):
        if not self.python:
            raise NotInstalled
        lines = "".join(json.dumps(one.values) + "\n" for one in all_series)
        done = subprocess.run([self.python, "-c", self.code], input=lines, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise NotInstalled(done.stderr.strip().splitlines()[-1])
        return [(json.loads(line), []) for line in done.stdout.splitlines()]
