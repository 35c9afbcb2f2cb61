"""The GPU as nvidia-smi describes it: link, clocks, what holds them down. Everything is read, nothing is set."""

import os
import pathlib
import re
import subprocess

import lines

FIELDS = {"name": "name", "driver": "driver_version", "sm_clock_mhz": "clocks.sm", "memory_clock_mhz": "clocks.mem",
          "max_sm_clock_mhz": "clocks.max.sm", "temperature_c": "temperature.gpu", "power_w": "power.draw",
          "power_limit_w": "power.limit", "throttle_reasons": "clocks_event_reasons.active",
          "link_generation": "pcie.link.gen.max", "link_lanes": "pcie.link.width.max"}
LIBRARIES = ["libcublasLt", "libcudnn"]
OLDER_NAMES = {"clocks_event_reasons.active": "clocks_throttle_reasons.active"}
THROTTLES = {0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal (software)", 0x40: "thermal (hardware)",
             0x80: "power brake"}


def chosen_gpu(device):
    """What nvidia-smi calls the program's gpu:N, which CUDA_VISIBLE_DEVICES may renumber."""
    index = int(device.split(":")[1])
    visible = [one for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
    return visible[index] if index < len(visible) else str(index)


def query(device, fields):
    """The answers for these fields; none where the driver does not know one of them, or there is no nvidia-smi."""
    command = ["nvidia-smi", f"--id={chosen_gpu(device)}", f"--query-gpu={','.join(fields)}",
               "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    texts = [text.strip() for text in answer.stdout.strip().split(",")]
    return texts if answer.returncode == 0 and len(texts) == len(fields) else None


def known(facts):
    """Without what the driver does not tell."""
    return {fact: text for fact, text in facts.items() if not re.match(r"\[?(N/A|Not Supported|Unknown|$)", text)}


def read(device):
    """Facts by name; those that the driver does not tell are left out. Empty for a CPU."""
    if not device.startswith("gpu:"):
        return {}
    texts = query(device, list(FIELDS.values()))
    if texts:
        return known(dict(zip(FIELDS, texts)))
    facts = {}
    for fact, field in FIELDS.items():  # a field that a driver does not know fails the whole query
        one = query(device, [field])
        if one is None and field in OLDER_NAMES:
            one = query(device, [OLDER_NAMES[field]])
        if one:
            facts[fact] = one[0]
    return known(facts)


def loaded_libraries(process):
    """{"libcublasLt": its file, ...} of the libraries of products and convolutions that a running process has loaded."""
    found = {}
    try:
        maps = pathlib.Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return found
    for file in re.findall(r"(/\S+\.so\S*)$", maps, re.MULTILINE):
        name = pathlib.Path(file).name.partition(".")[0]
        if name in LIBRARIES:
            found[name] = os.path.realpath(file)
    return found


def throttle_words(mask):
    """"power cap", or "" where nothing but idleness or the application's own setting holds the clocks."""
    try:
        value = int(mask, 16)
    except (TypeError, ValueError):
        return ""
    return ", ".join(word for bit, word in THROTTLES.items() if value & bit)


def link(facts):
    """(bytes/s of one direction or none, what the figure is made of)."""
    name = facts.get("name", "")
    if re.search(r"G[HB]\d+", name):
        return None, f"{name} is joined to its host by NVLink-C2C, whose rate no tool tells"
    try:
        generation, lanes = int(facts["link_generation"]), int(facts["link_lanes"])
    except (KeyError, ValueError):
        return None, "nvidia-smi tells no PCIe generation and width"
    rate = lines.link_bytes_per_s(generation, lanes)
    words = f"PCIe generation {generation}, {lanes} lanes (the most that card and slot can do)"
    if rate is None:
        return None, words + ": a generation without a known rate"
    return rate, words + ": transfers/s x lanes less the line code; packet headers take 5 to 10 % more"
