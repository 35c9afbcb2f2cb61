"""Steps of one net in Keras: `keras_step.py NET BATCH OPTIONS`."""

import argparse
import os
import resource

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import models  # noqa: E402
import numpy  # noqa: E402
import settings  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=list(models.MODELS))
    parser.add_argument("batch", type=int)
    parser.add_argument("options")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--inference", action="store_true")
    arguments = parser.parse_args()

    import tensorflow as tf
    import keras

    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(arguments.threads)
    keras.utils.set_random_seed(1)
    if arguments.precision == "bfloat16":
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
    import keras_nets

    options = models.from_text(arguments.options)
    inputs, labels = models.batch_of(arguments.net, arguments.batch, options, numpy)
    imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    net = keras_nets.build(arguments.net, options)
    net.compile(optimizer=keras.optimizers.Adam(models.LEARNING_RATE), loss=keras_nets.loss_of(arguments.net))
    timer = settings.EpochTimer(models.STEPS, arguments.seconds)
    inputs, labels = tf.constant(inputs), tf.constant(labels)
    while not timer.enough():
        timer.begin()
        for _ in range(models.STEPS):
            if arguments.inference:
                net.predict_on_batch(inputs)
            else:
                net.train_on_batch(inputs, labels)
        timer.end()
    parameters = sum(int(numpy.prod(weight.shape)) for weight in net.trainable_weights)
    settings.print_result(timer.result(system="keras", version=f"{keras.__version__} on TensorFlow {tf.__version__}",
                                       parameters=parameters, rss_before_net=imported))


if __name__ == "__main__":
    main()
