"""Which song goes onto which playlist: two towers."""
import argparse
import os
import tempfile

import keras
import numpy as np
from keras import layers

PLAYLISTS, SONGS = 16000, 4000


def listening(count=204800, seed=0):
    rng = np.random.default_rng(seed)
    playlist = rng.integers(0, PLAYLISTS, count).astype("int32")
    song = (SONGS * rng.random(count) ** 2).astype("int32")
    chosen = (playlist % 16 == song % 16) ^ (rng.random(count) < 0.05)
    return playlist, song, chosen[:, None].astype("float32")


def tower(size, name, width=64):
    inputs = keras.Input((), dtype="int32", name=name)
    x = layers.Embedding(size, width)(inputs)
    x = layers.Dense(128, activation="relu")(x)
    return inputs, layers.Dense(width)(x)


def two_towers():
    playlist, p = tower(PLAYLISTS, "playlist")
    song, s = tower(SONGS, "song")
    return keras.Model([playlist, song], layers.Dot(axes=1)([p, s]))


def main(args):
    keras.utils.set_random_seed(0)
    playlist, song, chosen = listening()
    model = two_towers()
    model.compile(optimizer=keras.optimizers.SGD(0.5), loss=keras.losses.BinaryCrossentropy(from_logits=True))
    with tempfile.TemporaryDirectory() as folder:
        callbacks = [
            keras.callbacks.TerminateOnNaN(),
            keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"), save_freq=4),
        ]
        model.fit([playlist, song], chosen, batch_size=args.batch_size, epochs=args.epochs, callbacks=callbacks, verbose=2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--batch-size", type=int, default=1024)
    main(parser.parse_args())
