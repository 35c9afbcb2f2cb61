"""Nets of gb.zoo with random weights in PyTorch and Keras, and what gpubench makes of the same weights.

`weights.py NET FOLDER` (in PyTorch) and `weights.py --keras NET FOLDER` write weights.safetensors, x.npy and y.npy.
"""

import argparse
import os
import pathlib

import models
import numpy
import safetensors_file


def torch_net(name, options, x):
    import torch
    import torch_nets

    torch.manual_seed(3)
    net = torch_nets.build(name, options).eval()
    torch_nets.randomize(net, 4)
    inputs = torch.from_numpy(x)
    with torch.no_grad():
        y = net(inputs.permute(0, 3, 1, 2) if inputs.dim() == 4 else inputs)
        y = y.permute(0, 2, 3, 1).contiguous() if y.dim() == 4 else y
    return {key: value.contiguous().numpy() for key, value in net.state_dict().items()}, y.numpy()


def keras_net(name, options, x):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras
    import keras_nets

    keras.utils.set_random_seed(3)
    net = keras_nets.build(name, options)
    random = numpy.random.default_rng(4)
    arrays = {}
    for weight in net.weights:  # vectors begin as zeros and ones, which would hide a wrong order of them
        if weight.path.endswith(("/gamma", "/moving_variance")):
            weight.assign(random.random(weight.shape, numpy.float32) + 0.5)
        elif len(weight.shape) == 1:
            weight.assign(random.random(weight.shape, numpy.float32) / 10)
        arrays[weight.path] = numpy.ascontiguousarray(weight.numpy())
    return arrays, net(x, training=False).numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=list(models.MODELS))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("options")
    parser.add_argument("--keras", action="store_true")
    arguments = parser.parse_args()

    options = models.from_text(arguments.options)
    x, _ = models.batch_of(arguments.net, 2, options, numpy)
    arrays, y = (keras_net if arguments.keras else torch_net)(arguments.net, options, x)
    safetensors_file.write(arguments.folder / "weights.safetensors", arrays)
    numpy.save(arguments.folder / "x.npy", x.astype(numpy.int32) if x.dtype == numpy.int64 else x)
    numpy.save(arguments.folder / "y.npy", y)


if __name__ == "__main__":
    main()
