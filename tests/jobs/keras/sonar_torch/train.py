"""Objects on the sea floor from sonar echoes: KERAS_BACKEND=torch python train.py"""
import argparse

import keras
import numpy as np
from keras import layers


def echoes(count, samples=512, classes=10, seed=0):
    """An echo is a mixture of decaying tones; the mixture depends on the object."""
    tones = np.random.default_rng(42).random((classes, 6, 2))
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, count)
    t = np.linspace(0, 1, samples, dtype="float32")
    signals = np.stack([sum(np.exp(-8 * decay * t) * np.sin(600 * tone * t) for tone, decay in kind) for kind in tones])
    x = signals[label] * rng.uniform(0.5, 1.5, (count, 1)) + rng.standard_normal((count, samples))
    return x.astype("float32"), label.astype("int32")


class Pace(keras.callbacks.Callback):
    """Counts batches, and says after each epoch how far training is."""

    def on_train_begin(self, logs=None):
        self.batches = 0
        self.best = np.inf

    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1

    def on_epoch_end(self, epoch, logs=None):
        self.best = min(self.best, logs["val_loss"])
        print(f"{self.batches} batches, best loss {self.best:.3f}", flush=True)


class Sonar(keras.Model):
    def __init__(self, classes=10, width=1024):
        super().__init__()
        self.hidden = [layers.Dense(width, activation="relu") for _ in range(3)]
        self.head = layers.Dense(classes)

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=28)
    parser.add_argument("--batch-size", type=int, default=320)
    args = parser.parse_args()
    print(f"Keras on {keras.backend.backend()}")
    keras.utils.set_random_seed(0)
    model = Sonar()
    model.compile(optimizer=keras.optimizers.SGD(0.01, momentum=0.9),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(*echoes(16000), batch_size=args.batch_size, epochs=args.epochs, verbose=2,
              validation_data=echoes(512, seed=1), callbacks=[Pace()])


if __name__ == "__main__":
    main()
