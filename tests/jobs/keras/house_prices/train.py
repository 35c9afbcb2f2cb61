"""House prices with Keras on PyTorch; stops when the price error of the whole set no longer falls."""
import argparse
import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers


def houses(count=6000, features=20):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, features)).astype("float32")
    price = 3 + 0.5 * x[:, 0] + 0.2 * x[:, 1] ** 2 + 0.1 * rng.standard_normal(count)
    return x, price.astype("float32")


class StopOnPriceError(keras.callbacks.Callback):
    def __init__(self, x, price, patience):
        super().__init__()
        self.x, self.price = x, price
        self.patience = patience
        self.best, self.since = np.inf, 0

    def on_train_batch_end(self, batch, logs=None):
        predicted = self.model.predict_on_batch(self.x)[:, 0]
        error = float(np.mean(np.abs(predicted - self.price)))
        self.since = 0 if error < self.best else self.since + 1
        self.best = min(self.best, error)
        if self.since > self.patience:
            self.model.stop_training = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    x, price = houses()
    model = keras.Sequential([keras.Input((x.shape[1],)), layers.Dense(128, activation="relu"),
                              layers.Dense(128, activation="relu"), layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
    stop = StopOnPriceError(x, price, patience=2000)
    model.fit(x, price, batch_size=args.batch_size, epochs=args.epochs, callbacks=[stop], verbose=2)
    print(f"mean error {stop.best:.3f}")


if __name__ == "__main__":
    main()
