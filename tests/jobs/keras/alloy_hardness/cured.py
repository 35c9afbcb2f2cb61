"""Hardness of alloys from their composition: KERAS_BACKEND=jax python train.py"""
import argparse

import keras
import numpy as np
from keras import layers

ELEMENTS = 64


def alloys(count=16384, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.dirichlet(np.full(ELEMENTS, 0.2), count)
    pairs = rng.normal(0, 1, (ELEMENTS, ELEMENTS))
    hardness = parts @ rng.normal(0, 1, ELEMENTS) + np.einsum("ni,ij,nj->n", parts, pairs, parts, optimize=True)
    return parts.astype("float32"), (hardness / hardness.std()).astype("float32")[:, None]


class SpectralNorms(keras.callbacks.Callback):
    """Largest singular value of each layer: their product bounds how steep the model is."""

    def __init__(self):
        super().__init__()
        self.records = []

    def on_epoch_end(self, epoch, logs=None):
        norms = {}
        for layer in self.model.layers:
            if isinstance(layer, layers.Dense):
                kernel = layer.get_weights()[0]
                norms[layer.name] = float(np.linalg.svd(kernel, compute_uv=False)[0])
        self.records.append(norms)


def build(width, depth):
    model = keras.Sequential([keras.Input((ELEMENTS,))])
    for number in range(depth):
        model.add(layers.Dense(width, activation="silu", name=f"hidden{number}"))
    model.add(layers.Dense(1, name="hardness"))
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=28)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--depth", type=int, default=3)
    args = parser.parse_args()
    print(f"Keras on {keras.backend.backend()}")
    keras.utils.set_random_seed(0)
    x, y = alloys()
    model = build(args.width, args.depth)
    model.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.9), loss="mse")
    norms = SpectralNorms()
    model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, verbose=2, callbacks=[norms])
    print({name: round(value, 2) for name, value in norms.records[-1].items()})


if __name__ == "__main__":
    main()
