"""One pipeline in tf.data, in the fastest way that its documentation shows: tf_line.py NAME DATA THREADS SECONDS.

Maps work on whole batches wherever their functions can: per image, random brightness cannot."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf

import lines
import settings
import timing

AUTOTUNE = tf.data.AUTOTUNE


def augment(data, threads):
    images, labels = settings.digits("train")

    def change(image, label):
        image = tf.image.random_flip_left_right(image)
        return tf.image.random_brightness(image, 0.2), label

    source = tf.data.Dataset.from_tensor_slices((images.reshape(-1, 28, 28, 1), labels))
    return source.shuffle(lines.SHUFFLE_BUFFER).map(change, num_parallel_calls=AUTOTUNE).batch(lines.BATCH)


def square_root(data, threads):
    source = tf.data.Dataset.from_tensor_slices(settings.digits("train"))
    return source.batch(lines.BATCH).map(lambda x, y: (tf.sqrt(x), y), num_parallel_calls=AUTOTUNE)


def csv(data, threads):
    def parse(rows):  # faster than CsvDataset
        return tuple(tf.io.decode_csv(rows, [[0.0]] * lines.CSV_COLUMNS))

    return tf.data.TextLineDataset(f"{data}/rows.csv").batch(256).map(parse, num_parallel_calls=AUTOTUNE)


def tfrecord(data, threads):
    spec = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(records):
        parsed = tf.io.parse_example(records, spec)
        return tf.io.decode_raw(parsed["image"], tf.uint8), parsed["label"]

    source = tf.data.TFRecordDataset(f"{data}/examples.tfrecord")
    return source.batch(lines.BATCH).map(parse, num_parallel_calls=AUTOTUNE)


def jpeg(data, threads):
    def decode(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, ratio=lines.DCT_RATIO, dct_method="INTEGER_FAST")
        return tf.image.resize(image, [lines.TARGET_SIDE, lines.TARGET_SIDE])

    return tf.data.Dataset.list_files(f"{data}/images/*.jpg").map(decode, num_parallel_calls=AUTOTUNE).batch(lines.BATCH)


PIPELINES = {"augment": augment, "sqrt": square_root, "csv": csv, "tfrecord": tfrecord, "jpeg": jpeg}


def main():
    name, data, threads, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    dataset = PIPELINES[name](data, threads).prefetch(AUTOTUNE).with_options(options)

    def epoch():
        for element in dataset:
            first = element[0] if isinstance(element, tuple) else element
            yield first.shape[0]

    timing.measure(epoch, seconds)


if __name__ == "__main__":
    main()
