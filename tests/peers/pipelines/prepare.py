"""Makes the files that the pipelines read, once: CSV, TFRecord, and JPEG from the photographs of scikit-image."""

import importlib.util
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy
import tensorflow as tf

import lines
import settings

PHOTOGRAPHS = ["astronaut.png", "chelsea.png", "coffee.png", "hubble_deep_field.jpg", "motorcycle_left.png"]


def write_csv(path):
    values = numpy.random.default_rng(1).normal(size=(lines.CSV_ROWS, lines.CSV_COLUMNS)).astype(numpy.float32)
    numpy.savetxt(path, values, delimiter=",", fmt="%.6g")


def write_records(path):
    scaled, one_hot = settings.digits("train")
    images, labels = numpy.rint(scaled * 255).astype(numpy.uint8), one_hot.argmax(1)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(lines.RECORDS):
            image = images[i % len(images)].tobytes()
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(labels[i % len(images)])])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def write_images(folder):
    """Crops of the photographs, scaled up where they are smaller."""
    source = pathlib.Path(importlib.util.find_spec("skimage").origin).parent / "data"
    draw = numpy.random.default_rng(2)
    for number in range(lines.IMAGES):
        photograph = tf.io.decode_image((source / PHOTOGRAPHS[number % len(PHOTOGRAPHS)]).read_bytes(), channels=3)
        least = min(photograph.shape[0], photograph.shape[1])
        side = int(draw.integers(least // 2, least + 1))
        top, left = (int(draw.integers(0, extent - side + 1)) for extent in photograph.shape[:2])
        crop = tf.image.resize(photograph[top : top + side, left : left + side], [lines.IMAGE_SIDE, lines.IMAGE_SIDE])
        jpeg = tf.io.encode_jpeg(tf.cast(tf.clip_by_value(tf.round(crop), 0, 255), tf.uint8), quality=lines.JPEG_QUALITY)
        (folder / f"{number:04}.jpg").write_bytes(jpeg.numpy())


def made(path, make):
    """Makes `path` under another name first, so that a broken run leaves nothing half done."""
    if path.exists():
        return
    print(f"peers: making {path.name}", file=sys.stderr)
    partial = path.with_name(path.name + ".part")
    make(partial)
    partial.rename(path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    made(folder / "rows.csv", write_csv)
    made(folder / "examples.tfrecord", write_records)

    def images(partial):
        partial.mkdir(exist_ok=True)
        write_images(partial)

    made(folder / "images", images)


if __name__ == "__main__":
    main()
