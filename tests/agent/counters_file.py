"""Reads the files that the agent writes: agent/README.md has their layout."""
import glob
import json
import os
import struct

NAMES = ("end", "kind", "wait", "sync", "callback", "compile", "evaluation", "save", "agent", "batches", "compute",
         "cpu", "switches", "load")


class CountersFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        magic, self.version, header, ring, step_bytes, sites, site_bytes = struct.unpack_from("<8s6I", data)
        assert magic == b"GPBWATCH" and self.version == 1 and (header, step_bytes, site_bytes) == (4096, 128, 512)
        assert len(data) == header + ring * step_bytes + sites * site_bytes
        words = struct.unpack_from("<25Q", data)
        self.pid, self.records, self.window = words[4], words[11], words[13]
        self.window_first, self.window_end, self.own, self.ended = words[14], words[15], words[16], words[18]
        self.batches = words[19]
        self.faults, self.training, self.prove, self.sites_since = words[21:25]
        self.rank, = struct.unpack_from("<q", data, 48)
        self.mark = data[512:768].split(b"\0")[0].decode()
        self.script = data[768:1024].split(b"\0")[0].decode()
        first = max(0, self.records - ring)
        self.steps = [dict(zip(NAMES, struct.unpack_from("<16Q", data, header + index % ring * step_bytes)))
                      for index in range(first, self.records)]
        self.sites = []
        for index in range(min(words[12], sites)):
            at = header + ring * step_bytes + index * site_bytes
            kind, line, times, total, longest, last, outside = struct.unpack_from("<2I5Q", data, at)
            texts = data[at + 64:at + 192], data[at + 192:at + 512]
            function, file = (text.split(b"\0")[0].decode() for text in texts)
            self.sites.append({"kind": kind, "line": line, "times": times, "total": total, "function": function,
                               "file": file, "outside": outside})

    def at(self, kind, function):
        """Sites of that kind in that function."""
        return [site for site in self.sites if site["kind"] == kind and site["function"].endswith(function)]


def read_counters(folder):
    return [CountersFile(path) for path in sorted(glob.glob(os.path.join(folder, "*.counters")))]


def read_facts(folder, name=None):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.facts"))):
        with open(path) as file:
            found += [json.loads(line) for line in file]
    return [fact for fact in found if name is None or fact["fact"] == name]
