"""The counters of one process: a file of fixed size, mapped, so that they survive whatever ends the process. README.md
in the folder above has the layout."""
import mmap
import os
import struct
import sys
import time

from .clock import now

HEADER_BYTES, STEPS, STEPS_OF_CHILD, STEP_BYTES, SITES, SITE_BYTES = 4096, 65536, 1024, 128, 512, 512
STEPS_AT = HEADER_BYTES

# Indices of the header's numbers, in words of 8 bytes.
RECORDS, SITES_USED, WINDOW, WINDOW_FIRST, WINDOW_END = 11, 12, 13, 14, 15
OWN, OWN_IN_WINDOW, ENDED, BATCHES, SAMPLES, FAULTS, TRAINING, PROVE, SITES_SINCE = 16, 17, 18, 19, 20, 21, 22, 23, 24
MARK_AT, SCRIPT_AT, TEXT_BYTES = 512, 768, 256


def text(value, size):
    """UTF-8 of at most size - 1 bytes, ended by 0; a long path keeps its end."""
    data = value.encode("utf-8", "replace")
    data = data[-(size - 1):] if "/" in value else data[:size - 1]
    return data.decode("utf-8", "ignore").encode("utf-8").ljust(size, b"\0")


def number_of(name):
    try:
        return int(os.environ.get(name, "-1"))
    except ValueError:
        return -1


class Counters:
    """`words[i]` is the number at byte 8 * i."""

    def __init__(self, path, loaded_at, steps=STEPS):
        if sys.byteorder != "little":
            raise OSError("the counters are little-endian")
        self.steps = steps
        self.sites_at = STEPS_AT + steps * STEP_BYTES
        size = self.sites_at + SITES * SITE_BYTES
        new = path + ".new"
        descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            # The space is taken now: a write into a mapped hole of a full disk would end the job with SIGBUS.
            os.posix_fallocate(descriptor, 0, size)
            self.map = mmap.mmap(descriptor, size)
        except BaseException:
            os.unlink(new)
            raise
        finally:
            os.close(descriptor)
        self.words = memoryview(self.map).cast("Q")
        sizes = struct.pack("<8s6I", b"GPBWATCH", 1, HEADER_BYTES, steps, STEP_BYTES, SITES, SITE_BYTES)
        self.map[:len(sizes)] = sizes
        ranks = [number_of(name) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")]
        realtime = time.time_ns() - (now() - loaded_at)
        struct.pack_into("<QQqqqQQ", self.map, 32, os.getpid(), os.getppid(), *ranks, loaded_at, realtime)
        os.rename(new, path)  # the reader never sees half a header

    def write_text(self, at, value):
        self.map[at:at + TEXT_BYTES] = text(value, TEXT_BYTES)

    def write_step(self, values):
        """`values`: the 16 numbers of a record."""
        words = self.words
        record = words[RECORDS]
        struct.pack_into("<16Q", self.map, STEPS_AT + record % self.steps * STEP_BYTES, *values)
        words[RECORDS] = record + 1
        if values[1] & 255 == 1:
            words[TRAINING] += 1


class Site:
    """A line of the user's code, with its record in the file."""

    def __init__(self, counters, kind, function, file, line):
        self.counters = counters
        self.at = None
        self.times = self.total = self.longest = self.last = 0
        index = counters.words[SITES_USED]
        if index < SITES:
            self.at = counters.sites_at + index * SITE_BYTES
            struct.pack_into("<2I", counters.map, self.at, kind, max(0, line or 0))
            counters.map[self.at + 64:self.at + 192] = text(function, 128)
            counters.map[self.at + 192:self.at + 512] = text(file, 320)
            counters.words[SITES_USED] = index + 1

    def add(self, times, duration, longest, step):
        self.times += times
        self.total += duration
        self.longest = max(self.longest, longest)
        self.last = step
        self.write()

    def write(self):
        if self.at is not None:
            struct.pack_into("<4Q", self.counters.map, self.at + 8, self.times, self.total, self.longest, self.last)

    def clear(self):
        self.times = self.total = self.longest = 0
        self.write()
