"""Machine sounds: is the bearing worn? Mel spectrograms and a small convolutional network."""
import argparse

import keras
import numpy as np
import tensorflow as tf

RATE, SECONDS = 16000, 2


def recordings(count):
    rng = np.random.default_rng(0)
    worn = rng.integers(0, 2, count).astype(np.int32)
    time = np.arange(RATE * SECONDS, dtype=np.float32) / RATE
    sound = np.empty((count, len(time)), np.float32)
    for row, label in zip(sound, worn):
        row[:] = np.sin(2 * np.pi * rng.uniform(80, 120) * time) + 0.3 * rng.standard_normal(len(time))
        if label:
            row += 0.4 * np.sin(2 * np.pi * rng.uniform(2500, 3500) * time)
    return sound, worn


def spectrogram(sound, worn):
    magnitude = tf.abs(tf.signal.stft(sound, frame_length=1024, frame_step=128, fft_length=2048))
    mel = tf.signal.linear_to_mel_weight_matrix(64, 1025, RATE, 50.0, 7500.0)
    energy = tf.math.log(tf.matmul(magnitude, mel) + 1e-4)
    energy = tf.image.resize(energy[..., tf.newaxis], (96, 64))
    return (energy - tf.reduce_mean(energy)) / tf.math.reduce_std(energy), worn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    train = tf.data.Dataset.from_tensor_slices(recordings(480))
    train = train.map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    train = train.shuffle(256).batch(args.batch_size).prefetch(tf.data.AUTOTUNE)
    model = keras.Sequential([
        keras.Input((96, 64, 1)),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
