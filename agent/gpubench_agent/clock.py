"""The clock of all files of the agent: nanoseconds of CLOCK_MONOTONIC, which gpubench reads from outside as well."""
import time

now = time.monotonic_ns


def process_start():
    """Start of this process in clock ticks since boot (field 22 of /proc/self/stat): with the id, its name."""
    with open("/proc/self/stat", "rb") as stat:
        return int(stat.read().rsplit(b")", 1)[1].split()[19])
