"""Land use from satellite tiles, with Keras on JAX; tiles come from a tile server."""
import argparse
import os
import time

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np


class TileServer:
    """Stands in for the tile server: a tile is a request."""

    def tile(self, number):
        time.sleep(0.004)
        rng = np.random.default_rng(number)
        use = number % 4
        tile = rng.random((32, 32, 4), dtype=np.float32)
        tile[..., use] += 0.3
        return tile, use


class Tiles(keras.utils.PyDataset):
    def __init__(self, server, tiles, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.server = server
        self.tiles = tiles
        self.batch_size = batch_size

    def __len__(self):
        return self.tiles // self.batch_size

    def __getitem__(self, index):
        pairs = [self.server.tile(index * self.batch_size + i) for i in range(self.batch_size)]
        return np.stack([tile for tile, _ in pairs]), np.array([use for _, use in pairs])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    data = Tiles(TileServer(), 50 * args.batch_size, args.batch_size, workers=4, max_queue_size=8)
    model = keras.Sequential([
        keras.Input((32, 32, 4)),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(4, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(data, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
