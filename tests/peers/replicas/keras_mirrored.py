"""One model in Keras under TensorFlow's MirroredStrategy: `keras_mirrored.py MODEL BATCH`, a logical CPU device for each
replica. Ops take one thread each and replicas run side by side, so each replica has a core. fit is given the input
pipeline of the documented scripts, with batches for all replicas together."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import workload  # noqa: E402
import keras_peer  # noqa: E402
import settings  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=list(workload.BATCHES))
    parser.add_argument("batch", type=int)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()

    import tensorflow as tf
    import keras

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(arguments.replicas)
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * arguments.replicas)
    keras.utils.set_random_seed(1)

    global_batch = arguments.batch * arguments.replicas
    images, labels, steps = workload.digits(arguments.model, arguments.batch, arguments.replicas)
    timer = workload.RateTimer(steps, arguments.seconds, global_batch)

    class Epochs(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            timer.begin()

        def on_epoch_end(self, epoch, logs=None):
            timer.end()
            self.model.stop_training = timer.enough()

    strategy = tf.distribute.MirroredStrategy([f"/cpu:{index}" for index in range(arguments.replicas)])
    with strategy.scope():
        network = keras_peer.build(keras, arguments.model)
    assert strategy.num_replicas_in_sync == arguments.replicas
    network.fit(keras_peer.batches(tf, images, labels, global_batch), epochs=1000, verbose=0, callbacks=[Epochs()])
    settings.print_result(timer.result(system="keras-mirrored", version=f"{keras.__version__} on TensorFlow {tf.__version__}"))


if __name__ == "__main__":
    main()
