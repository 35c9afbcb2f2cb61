"""What the scripts of this folder share. Each writes what Keras and tf.data compute into NAME_values.lua, one case a
line. It is run by hand, in the private environment, when Keras' version or its cases change; NAME_test.lua holds
gpubench against the file, without Python.

Whole numbers are written whole and others with a point, so that a tensor of the file has the type of its array."""

import math
import os
import pathlib
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras  # noqa: E402
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

random = numpy.random.default_rng(7)
groups = {}


def drawn(*shape):
    """A few digits, so that the file stays short and both sides start from the same numbers."""
    return numpy.round(random.normal(size=shape), 2).astype(numpy.float32)


def probabilities(*shape):
    values = numpy.exp(drawn(*shape))
    return numpy.round(values / values.sum(-1, keepdims=True), 3).astype(numpy.float32)


def uniform(*shape):
    return numpy.round(random.random(shape), 2).astype(numpy.float32)


def titled(kind, options, note=""):
    """"Dense units=3 activation=relu, note"."""
    words = [kind] + [f"{name}={text(value)}" for name, value in options.items()]
    return " ".join(words) + (f", {note}" if note else "")


def text(value):
    if isinstance(value, dict):
        return "{" + " ".join(f"{name}={text(item)}" for name, item in value.items()) + "}"
    return str(value).replace(" ", "").replace("'", "")


def case(group, name, make, *arguments, **more):
    """Adds the fields that `make` gives. The numbers that it draws follow from the name alone, so that a new case
    leaves the lines of the others as they are."""
    global random
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    keras.utils.clear_session()
    keras.utils.set_random_seed(7)
    cases = groups.setdefault(group, [])
    assert all(name != known["name"] for known in cases), f"two cases '{name}'"
    cases.append({"name": name} | make(*arguments, **more))


def number(value):
    if math.isnan(value):
        return "(0/0)"
    if math.isinf(value):
        return "math.huge" if value > 0 else "-math.huge"
    digits = f"{value + 0.0:.7g}"
    return digits if "." in digits or "e" in digits else digits + "."


def lua(value):
    """`value` as a Lua expression."""
    if isinstance(value, dict):
        items = ((name, lua(item)) for name, item in value.items() if item is not None)
        return "{" + ",".join(f"{name if isinstance(name, str) else f'[{name}]'}={item}" for name, item in items) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ",".join(map(lua, value)) + "}"
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return lua(value.tolist())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bytes):
        return '"' + "".join(f"\\{byte:03d}" for byte in value) + '"'
    return str(value) if isinstance(value, int) else number(float(value))


def write(script):
    path = pathlib.Path(script)
    path = path.with_name(path.stem + "_values.lua")
    versions = f"Keras {keras.__version__} on TensorFlow {tf.__version__}"
    lines = [f"-- Written by {pathlib.Path(script).name} from {versions}. Do not edit.", "return {"]
    for group, cases in groups.items():
        lines += [f"{group}={{"] + [lua(fields) + "," for fields in cases] + ["},"]
    path.write_text("\n".join(lines + ["}"]) + "\n")
    print(f"wrote {path.name}: " + ", ".join(f"{len(cases)} {group}" for group, cases in groups.items()))
