"""Times calls of a GPU's library in blocks that end in a synchronization."""

import time

LEAST_BLOCK_S = 0.005  # a synchronization takes some 10 us: a fifth of a percent of a block


class Clock:
    def __init__(self, synchronize, seconds):
        self.synchronize, self.seconds = synchronize, seconds

    def block(self, call, count):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        self.synchronize()
        return (time.perf_counter() - begin) / count

    def samples(self, call):
        """Seconds of a call, the mean of each block. The first call may compile and make handles: it says nothing."""
        self.block(call, 1)
        end = time.perf_counter() + 0.3 * self.seconds
        fastest = self.block(call, 1)
        while time.perf_counter() < end:
            fastest = min(fastest, self.block(call, 1))
        count = max(1, round(LEAST_BLOCK_S / fastest))
        end, samples = time.perf_counter() + self.seconds, []
        while len(samples) < 5 or time.perf_counter() < end:
            samples.append(self.block(call, count))
        return samples

    def host_samples(self, call):
        """Seconds until a call returns when the device has caught up: two calls, as gpubench's are measured."""
        samples = []
        for _ in range(50):
            self.synchronize()
            begin = time.perf_counter()
            call()
            call()
            samples.append((time.perf_counter() - begin) / 2)
        self.synchronize()
        return samples
