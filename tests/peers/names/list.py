"""Prints the public names of Keras and tf.data, one a line: the group, what is asked ("keras.layers", or an object such
as "model"), the name. Modules and names that begin with "_" are left out."""

import inspect
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

MODULES = ["", "layers", "losses", "metrics", "optimizers", "optimizers.schedules", "callbacks", "initializers",
           "regularizers", "constraints", "activations", "ops", "ops.nn", "ops.numpy", "ops.linalg", "ops.image",
           "random", "applications", "datasets", "models", "saving", "utils", "config", "mixed_precision",
           "preprocessing",
           "preprocessing.image", "preprocessing.sequence", "distribution", "distillation", "backend", "quantizers",
           "dtype_policies", "export", "tree", "visualization", "wrappers"]
TF_MODULES = {"tf.data": tf.data, "tf.image": tf.image}
# What is asked: the classes whose members it has.
OBJECTS = {"model": [keras.Model, keras.Sequential], "layer": [keras.layers.Layer],
           "optimizer": [keras.optimizers.Optimizer], "metric": [keras.metrics.Metric], "loss": [keras.losses.Loss],
           "callback": [keras.callbacks.Callback], "tape": [tf.GradientTape], "dataset": [tf.data.Dataset]}


def public(owner):
    return [name for name in dir(owner) if not name.startswith("_")]


def members(module):
    for name in public(module):
        if not inspect.ismodule(inspect.getattr_static(module, name)):
            yield name


def module_of(path):
    found = keras
    for part in path.split(".") if path else []:
        found = getattr(found, part)
    return found


def main():
    for path in MODULES:
        asked = "keras." + path if path else "keras"
        for name in members(module_of(path)):
            print(path or "keras", asked, name)
    for path, module in TF_MODULES.items():
        for name in members(module):
            print(path, path, name)
    for asked, classes in OBJECTS.items():
        for name in sorted({name for owner in classes for name in public(owner)}):
            print(asked, asked, name)


if __name__ == "__main__":
    sys.exit(main())
