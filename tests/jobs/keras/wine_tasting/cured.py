"""Score of a wine from its chemistry: a residual network with a custom loss."""
import argparse

import keras
import numpy as np
from keras import layers, ops


def wines(count=16000, features=11):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, features)).astype("float32")
    y = 5 + x[:, 0] - 0.5 * x[:, 1] * x[:, 2] + 0.3 * rng.standard_normal(count)
    return x, y[:, None].astype("float32")


def tilted_loss(y_true, y_pred):
    """Too high a score is worse than too low a one."""
    error = y_true - y_pred
    return ops.mean(ops.maximum(0.4 * error, -0.6 * error), axis=-1)


def build(features, width=96, depth=8):
    inputs = keras.Input((features,))
    x = layers.Dense(width)(inputs)
    for _ in range(depth):
        y = layers.LayerNormalization()(x)
        y = layers.Dense(width, activation="gelu")(y)
        y = layers.Dropout(0.1)(layers.Dense(width)(y))
        x = layers.Add()([x, y])
    return keras.Model(inputs, layers.Dense(1)(x))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=256)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    x, y = wines()
    model = build(x.shape[1])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=tilted_loss)
    model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, verbose=2)
