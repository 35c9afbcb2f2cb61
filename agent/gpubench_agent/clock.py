"""The clock of all files of the agent: nanoseconds of CLOCK_MONOTONIC, which gpubench reads from outside as well."""
import time

now = time.monotonic_ns


def scheduled():
    """Nanoseconds in which this thread has run, and in which it was ready and had no processor."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as schedstat:
            return tuple(map(int, schedstat.read().split()[:2]))
    except OSError:  # a kernel without it
        return time.thread_time_ns(), 0


def process_start():
    """Start of this process in clock ticks since boot (field 22 of /proc/self/stat): with the id, its name."""
    with open("/proc/self/stat", "rb") as stat:
        return int(stat.read().rsplit(b")", 1)[1].split()[19])
