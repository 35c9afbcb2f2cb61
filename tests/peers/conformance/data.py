"""Datasets: elements of pipelines, by name, for which the test has the same pipeline; what random orders promise;
files. And images and tensors: results of functions with their gradients."""

import gzip
import pathlib
import tempfile

from values import case, drawn, keras, numpy, tf, titled, uniform, write

from_slices, zipped, r = tf.data.Dataset.from_tensor_slices, tf.data.Dataset.zip, tf.data.Dataset.range
LENGTHS = [3, 1, 4, 2, 5]


def ragged():
    return tf.data.Dataset.from_generator(lambda: (numpy.arange(n, dtype=numpy.int64) + 1 for n in LENGTHS),
                                          output_signature=tf.TensorSpec([None], tf.int64))


def with_sums():
    return ragged().map(lambda x: (x, tf.reduce_sum(x)))


def tens(count):
    return lambda i: r(count).map(lambda j: i * 10 + j)


def halves():
    return {"cycle_length": 3, "block_length": 2, "num_parallel_calls": 3, "deterministic": True}


def bucketed(boundaries, **options):
    return ragged().bucket_by_sequence_length(lambda x: tf.shape(x)[0], bucket_boundaries=boundaries,
                                              bucket_batch_sizes=[2] * (len(boundaries) + 1), **options)


def windows(data, size, **options):
    """A window of tf.data is a dataset, of gpubench one element."""
    return data.window(size, **options).flat_map(lambda window: window.batch(size))


PIPELINES = {
    "repeat then batch crosses epochs": lambda: r(5).repeat(2).batch(3),
    "batch then repeat keeps the partial batch": lambda: r(5).batch(3).repeat(2),
    "batch drop_remainder then repeat": lambda: r(5).batch(3, drop_remainder=True).repeat(2),
    "repeat without end": lambda: r(3).repeat().batch(4),
    "take more than there is": lambda: r(3).take(10),
    "take 0": lambda: r(3).take(0),
    "take -1 takes all": lambda: r(3).take(-1),
    "skip more than there is": lambda: r(3).skip(10),
    "skip -1 skips all": lambda: r(3).skip(-1),
    "skip then take": lambda: r(10).skip(3).take(4),
    "zip of unequal lengths": lambda: zipped((r(5), r(10, 13))),
    "zip of three": lambda: zipped((r(3), r(3, 6), r(6, 9))),
    "batch of two tensors": lambda: zipped((r(5), r(5).map(lambda x: x * x))).batch(2),
    "unbatch of a partial batch": lambda: r(7).batch(3).unbatch(),
    "rebatch across": lambda: r(7).batch(3).rebatch(2),
    "rebatch drop_remainder": lambda: r(7).batch(3).rebatch(2, drop_remainder=True),
    "window 3 shift 2": lambda: windows(r(8), 3, shift=2),
    "window 3 shift 1 stride 2 drop": lambda: windows(r(9), 3, shift=1, stride=2, drop_remainder=True),
    "window 2 shift 5": lambda: windows(r(11), 2, shift=5),
    "window 3 stride 2 partial kept": lambda: windows(r(8), 3, shift=3, stride=2),
    "shard 3 1": lambda: r(10).shard(3, 1),
    "shard after batch": lambda: r(10).batch(2).shard(2, 1),
    "enumerate start 5": lambda: r(3, 6).enumerate(start=5),
    "map then enumerate then batch": lambda: r(5).map(lambda x: x * 3).enumerate().batch(2),
    "concatenate": lambda: r(3).concatenate(r(5, 7)),
    "interleave cycle 2": lambda: r(3).interleave(tens(3), cycle_length=2, block_length=1),
    "interleave cycle 3 block 2": lambda: r(4).interleave(tens(5), cycle_length=3, block_length=2),
    "interleave uneven lengths": lambda: r(1, 5).interleave(lambda i: tens(i)(i), cycle_length=3, block_length=1),
    "interleave with an empty one": lambda: r(4).interleave(lambda i: tens(i % 2 * 2)(i), cycle_length=2),
    "interleave parallel deterministic": lambda: r(6).interleave(tens(3), **halves()),
    "flat_map": lambda: r(1, 4).flat_map(r),
    "filter even": lambda: r(9).filter(lambda x: x % 2 == 0),
    "map parallel deterministic": lambda: r(9).map(
        lambda x: x * x - 3, num_parallel_calls=3, deterministic=True).batch(4),
    "range negative step": lambda: r(10, 0, -3),
    "range empty": lambda: r(5, 5),
    "prefetch": lambda: r(7).batch(2).prefetch(2),
    "cache then repeat": lambda: r(4).map(lambda x: x + 1).cache().repeat(2),
    "options": lambda: r(4).with_options(tf.data.Options()),
    "ignore_errors": lambda: r(6).map(lambda x: tf.gather(tf.constant([5, 7, 9], tf.int64), x)).ignore_errors(),
    "from_generator": ragged,
    "from_tensors": lambda: tf.data.Dataset.from_tensors(([1, 2], [3])),
    "from_tensor_slices": lambda: from_slices((numpy.arange(6).reshape(3, 2), numpy.array([7, 8, 9]))).batch(2),
    "padded_batch 2": lambda: ragged().padded_batch(2),
    "padded_batch 2 value -1 to 6": lambda: ragged().padded_batch(2, padded_shapes=[6],
                                                                  padding_values=tf.constant(-1, tf.int64)),
    "padded_batch drop_remainder": lambda: ragged().padded_batch(2, drop_remainder=True),
    "bucket_by_sequence_length": lambda: bucketed([3, 5]),
    "bucket_by_sequence_length drop_remainder": lambda: bucketed([3, 5], drop_remainder=True),
    "bucket_by_sequence_length pad to boundary": lambda: bucketed([3, 6], pad_to_bucket_boundary=True),
    "repeat 1": lambda: r(3).repeat(1),
    "repeat 0": lambda: r(3).repeat(0),
    "repeat -1 never ends": lambda: r(3).repeat(-1),
    "repeat of a filter": lambda: r(6).filter(lambda x: x % 3 == 1).repeat(2).batch(3),
    "batch 1": lambda: r(3).batch(1),
    "batch larger than the data": lambda: r(3).batch(5),
    "batch larger than the data drop_remainder": lambda: r(3).batch(5, drop_remainder=True),
    "batch of batches": lambda: r(7).batch(2, drop_remainder=True).batch(2),
    "take of a repeat": lambda: r(3).repeat().take(7),
    "take then repeat": lambda: r(9).take(2).repeat(2),
    "take of batches": lambda: r(9).batch(2).take(2),
    "skip 0": lambda: r(3).skip(0),
    "skip then repeat": lambda: r(4).skip(2).repeat(2),
    "skip of batches": lambda: r(9).batch(2).skip(3),
    "zip of tuples": lambda: zipped((zipped((r(3), r(3, 6))), r(6, 9))).map(lambda ab, c: (*ab, c)),
    "zip with a dataset that never ends": lambda: zipped((r(3), r(2).repeat())),
    "unbatch of two tensors": lambda: zipped((r(5), r(5, 10))).batch(2).unbatch(),
    "unbatch of rows": lambda: from_slices(numpy.arange(12).reshape(2, 3, 2)).unbatch(),
    "rebatch to larger ones": lambda: r(7).batch(2).rebatch(5),
    "rebatch of two tensors": lambda: zipped((r(5), r(5, 10))).batch(3).rebatch(2),
    "window drop_remainder": lambda: windows(r(8), 3, drop_remainder=True),
    "window 1": lambda: windows(r(3), 1),
    "window larger than the data": lambda: windows(r(3), 5),
    "window of rows": lambda: windows(from_slices(numpy.arange(10).reshape(5, 2)), 2, shift=1, drop_remainder=True),
    "window of two tensors": lambda: zipped((r(5), r(5, 10))).window(2, shift=2, drop_remainder=True).flat_map(
        lambda a, b: zipped((a.batch(2), b.batch(2)))),
    "shard 3 2 of fewer": lambda: r(2).shard(3, 2),
    "shard then repeat": lambda: r(5).shard(2, 1).repeat(2),
    "shard of a repeat": lambda: r(3).repeat(2).shard(2, 1),
    "enumerate of batches": lambda: r(5).batch(2).enumerate(),
    "enumerate of a repeat": lambda: r(2).repeat(2).enumerate(start=3),
    "concatenate then repeat": lambda: r(2).concatenate(r(5, 7)).repeat(2),
    "concatenate an empty one": lambda: r(2).concatenate(r(0)),
    "concatenate then batch": lambda: r(3).concatenate(r(5, 7)).batch(2),
    "interleave cycle larger than the data": lambda: r(2).interleave(tens(2), cycle_length=5, block_length=1),
    "interleave block larger than datasets": lambda: r(3).interleave(tens(2), cycle_length=2, block_length=9),
    "interleave cycle 1": lambda: r(3).interleave(tens(2), cycle_length=1),
    "interleave of batches": lambda: r(3).interleave(lambda i: tens(3)(i).batch(2), cycle_length=3, block_length=1),
    "interleave of nothing": lambda: r(0).interleave(tens(2), cycle_length=2),
    "interleave of a list": lambda: r(2).interleave(tens(3), cycle_length=2, block_length=2),
    "interleave AUTOTUNE": lambda: r(4).interleave(tens(3), cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE),
    "flat_map of nothing": lambda: r(3).flat_map(lambda i: r(0)),
    "flat_map with empty ones": lambda: r(4).flat_map(lambda i: r(i % 2 * 2)),
    "flat_map then batch": lambda: r(1, 4).flat_map(r).batch(4),
    "filter none": lambda: r(5).filter(lambda x: x > 9),
    "filter of two tensors": lambda: zipped((r(6), r(6).map(lambda x: x % 4))).filter(lambda a, b: b < 2),
    "filter of rows": lambda: from_slices(numpy.arange(8).reshape(4, 2)).filter(lambda x: tf.reduce_sum(x) % 4 == 1),
    "filter by a lua_function": lambda: r(9).filter(lambda x: x % 3 == 0),
    "map to two tensors": lambda: r(3).map(lambda x: (x, x * x)),
    "map of two tensors to one": lambda: zipped((r(3), r(3, 6))).map(lambda a, b: a * b),
    "map of batches": lambda: r(5).batch(2).map(lambda x: tf.reduce_sum(x)),
    "map by a lua_function": lambda: r(5).map(lambda x: x * x - 3),
    "map to another type": lambda: r(3).map(lambda x: tf.cast(x, tf.float32) / 4),
    "map AUTOTUNE": lambda: r(9).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE).batch(4),
    "map one_hot": lambda: r(3).map(lambda x: tf.one_hot(x, 3)),
    "range to a stop": lambda: r(4),
    "range with a step": lambda: r(2, 11, 4),
    "range negative numbers": lambda: r(-3, 2, 2),
    "range backwards to nothing": lambda: r(0, 5, -1),
    "prefetch AUTOTUNE": lambda: r(5).prefetch(tf.data.AUTOTUNE),
    "prefetch_to_device": lambda: r(5).batch(2).prefetch(2),
    "cache of batches": lambda: r(5).batch(2).cache().repeat(2),
    "cache then take": lambda: r(5).cache().take(2),
    "options deterministic": lambda: r(6).map(lambda x: x * 2, num_parallel_calls=3),
    "ignore_errors of batches": lambda: r(6).map(
        lambda x: tf.gather(tf.constant([5, 7, 9], tf.int64), x)).batch(2).ignore_errors(),
    "from_generator of two": lambda: tf.data.Dataset.from_generator(
        lambda: ((i, [i * i, 0.5]) for i in range(3)),
        output_signature=(tf.TensorSpec([], tf.int64), tf.TensorSpec([2], tf.float32))).batch(2),
    "from_tensors then repeat": lambda: tf.data.Dataset.from_tensors([1, 2]).repeat(2),
    "from_tensor_slices of numbers": lambda: from_slices([5, 3, 8]),
    "padded_batch 2 of two tensors": lambda: ragged().enumerate().padded_batch(2),
    "padded_batch 2 of rows": lambda: ragged().map(lambda x: tf.stack([x, -x], -1)).padded_batch(2),
    "padded_batch 9": lambda: ragged().padded_batch(9),
    "bucket_by_sequence_length of two tensors": lambda: with_sums().bucket_by_sequence_length(
        lambda x, y: tf.shape(x)[0], bucket_boundaries=[3], bucket_batch_sizes=[2, 3]),
    "bucket_by_sequence_length padding -1": lambda: bucketed([3, 5], padding_values=tf.constant(-1, tf.int64)),
}

# Elements of an epoch, as far as tf.data knows.
SIZES = {
    "batch": lambda: r(10).batch(3), "filter": lambda: r(10).filter(lambda x: x > 3), "repeat": lambda: r(3).repeat(),
    "repeat 4": lambda: r(3).repeat(4), "batch drop_remainder, repeat, skip": lambda: r(7).batch(
        3, drop_remainder=True).repeat(2).skip(1),
    "unbatch": lambda: r(7).batch(3).unbatch(), "window": lambda: r(10).window(3, shift=2),
    "window drop_remainder": lambda: r(10).window(3, shift=2, drop_remainder=True), "shard": lambda: r(10).shard(4, 3),
    "take": lambda: r(10).take(3), "take of more": lambda: r(3).take(10), "skip of more": lambda: r(3).skip(10),
    "zip": lambda: zipped((r(4), r(9))), "zip with an endless one": lambda: zipped((r(4), r(9).repeat())),
    "concatenate": lambda: r(4).concatenate(r(3)),
    "concatenate an endless one": lambda: r(4).concatenate(r(3).repeat()),
    "enumerate": lambda: r(4).enumerate(), "map": lambda: r(4).map(lambda x: x + 1), "cache": lambda: r(4).cache(),
    "prefetch": lambda: r(4).prefetch(1), "shuffle": lambda: r(4).shuffle(2), "shuffle, batch": lambda: r(5).shuffle(
        2).batch(2), "range": lambda: r(2, 11, 4), "empty range": lambda: r(5, 5), "take 0": lambda: r(4).take(0),
    "from_tensors": lambda: tf.data.Dataset.from_tensors([1, 2]), "from_generator": ragged,
    "from_tensor_slices": lambda: from_slices([5, 3, 8]), "padded_batch": lambda: r(5).padded_batch(2),
    "flat_map": lambda: r(4).flat_map(r), "interleave": lambda: r(4).interleave(tens(2)),
}


def listed(data, most=40):
    """Rows of numbers; texts are lists of their bytes."""
    rows = [[value.numpy() for value in tf.nest.flatten(element)] for element in data.take(most)]
    return [[list(value) if isinstance(value, bytes) else value for value in row] for row in rows]


def size_of(data):
    size = int(data.cardinality())
    return float("inf") if size == tf.data.INFINITE_CARDINALITY else size if size >= 0 else None


def pipeline(make, name):
    """A name begins with that of a stage."""
    data = make()
    return {"class": name.split()[0], "elements": listed(data), "size": size_of(data)}


def facts():
    """What holds for tf.data's random orders."""
    def order(data):
        return [row[0] for row in listed(data, 60)]

    def twice(data):
        return order(data), order(data)

    shuffled = r(50).shuffle(5, seed=1, reshuffle_each_iteration=False)
    kept, reshuffled = twice(shuffled), twice(r(50).shuffle(5, seed=1))
    before, behind = twice(r(20).cache().shuffle(20, seed=2)), twice(r(20).shuffle(20, seed=2).cache())
    halves, mixed = order(r(10).shuffle(10, seed=3).repeat(2)), order(r(10).repeat(2).shuffle(20, seed=3))
    alike = order(r(10).shuffle(10, seed=3, reshuffle_each_iteration=False).repeat(2))
    whole, both = r(20).shuffle(20, seed=3), order(r(20).shuffle(20, seed=3).shuffle(20, seed=4))
    still = r(20).shuffle(20, seed=3, reshuffle_each_iteration=False)
    pair = order(zipped((still, still)).map(lambda a, b: a - b))
    loose = r(20).interleave(tens(1), cycle_length=3, num_parallel_calls=3, deterministic=False).map(lambda x: x // 10)
    return {
        "shuffle without reshuffling: epochs are equal": kept[0] == kept[1],
        "shuffle: epochs differ": reshuffled[0] != reshuffled[1],
        "shuffle: element i is one of the first i + buffer": all(value < i + 5 for i, value in enumerate(kept[0])),
        "cache then shuffle: epochs differ": before[0] != before[1],
        "shuffle then cache: epochs are equal": behind[0] == behind[1],
        "shuffle then repeat: each half is a whole epoch": sorted(halves[:10]) == list(range(10)),
        "shuffle then repeat: halves differ": halves[:10] != halves[10:],
        "repeat then shuffle: halves are mixed": sorted(mixed[:10]) != list(range(10)),
        "shuffle without reshuffling then repeat: halves are equal": alike[:10] == alike[10:],
        "two shuffles: every element once": sorted(both) == list(range(20)),
        "take and skip of one shuffle overlap": bool(set(order(whole.take(10))) & set(order(whole.skip(10)))),
        "shuffle with a buffer of 1 keeps the order": order(r(9).shuffle(1, seed=3)) == list(range(9)),
        "shuffle with a buffer larger than the data": sorted(order(r(9).shuffle(99, seed=3))) == list(range(9)),
        "shuffle: the same seed, the same order": order(r(20).shuffle(9, seed=3)) == order(r(20).shuffle(9, seed=3)),
        "shuffle: another seed, another order": order(r(20).shuffle(9, seed=3)) != order(r(20).shuffle(9, seed=4)),
        "shuffle then batch: every element once": sorted(order(r(20).shuffle(9, seed=3).batch(3).unbatch())) == list(
            range(20)),
        "shuffle then filter: every element once": sorted(order(r(20).shuffle(9, seed=3).filter(
            lambda x: x >= 0))) == list(range(20)),
        "shuffle without reshuffling: shards are disjoint": not set(order(still.shard(2, 0))) & set(
            order(still.shard(2, 1))),
        "shuffle without reshuffling: two readers see one order": set(pair) == {0},
        "interleave in any order: every element once": sorted(order(loose)) == list(range(20)),
        "map in any order: every element once": sorted(order(r(20).map(
            lambda x: x + 0, num_parallel_calls=3, deterministic=False))) == list(range(20)),
    }


def file_of(name, content):
    """A new file in a folder of its own."""
    path = pathlib.Path(tempfile.mkdtemp()) / name
    path.write_bytes(content)
    return str(path)


TABLE = b'x,label,note\r\n1.5,2,"a, b"\r\n-3,,\r\n4e-1,7,"say ""no"""\r\n'
TEXT = b"one\r\n\nthree words here\nlast"


COLUMNS = [tf.float32, tf.constant([-1], tf.int64), tf.constant([""])]
SEMICOLONS = b"1;-2;three\n4;5;\n"
GZIPPED = gzip.compress(TEXT, mtime=0)


def table(content, *options, **more):
    return lambda: {"file": content, "elements": listed(tf.data.experimental.CsvDataset(
        file_of("t.csv", content), *options, **more))}


def lines(content, **options):
    return lambda: {"file": content, "elements": listed(tf.data.TextLineDataset(
        file_of("t.txt", content), **options))}


def bytes_of(transform):
    """What an element function makes of the paths of a file."""
    return lambda: {"file": TEXT, "elements": listed(from_slices([file_of("t.bin", TEXT)]).map(tf.io.read_file).map(
        transform))}


def listed_files(pattern):
    """Names without the folder."""
    def make():
        folder, names = pathlib.Path(tempfile.mkdtemp()), ["b2.txt", "a.txt", "b10.txt", "a.log", "c.txt"]
        for name in names:
            (folder / name).write_text("")
        paths = tf.data.Dataset.list_files(f"{folder}/{pattern}", shuffle=False)
        return {"names": names, "pattern": pattern,
                "elements": [[list(pathlib.Path(path.numpy().decode()).name.encode())] for path in paths]}
    return make


def example_of(features):
    """Lists of floats, integers and bytes by name, as tf.train.Example."""
    kinds = {float: ("float_list", tf.train.FloatList), int: ("int64_list", tf.train.Int64List),
             bytes: ("bytes_list", tf.train.BytesList)}
    made = {}
    for name, values in features.items():
        field, kind = kinds[type(values[0])]
        made[name] = tf.train.Feature(**{field: kind(value=values)})
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString(deterministic=True)


def record_file(records, compression=""):
    path = file_of("t.tfrecord", b"")
    with tf.io.TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    return path


FEATURES = [{"x": [i / 2, -float(i)], "label": [i * i]} for i in range(3)]


def tfrecord(compression=""):
    path = record_file([example_of(features) for features in FEATURES], compression)
    wanted = {"x": tf.io.FixedLenFeature([2], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64),
              "weight": tf.io.FixedLenFeature([], tf.float32, 1.5)}
    parsed = tf.data.TFRecordDataset(path, compression).map(
        lambda record: tf.io.parse_single_example(record, wanted)).map(
        lambda found: (found["x"], found["label"], found["weight"]))
    return {"file": pathlib.Path(path).read_bytes(), "elements": listed(parsed)}


def parse_example():
    """As many numbers as there are, bytes, and what is missing."""
    records = [example_of(features) for features in (
        {"tokens": [3, 1, 4], "name": [b"three"], "at": [0.5]}, {"tokens": [1], "name": [b"one"]})]
    wanted = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
              "name": tf.io.FixedLenFeature([], tf.string), "at": tf.io.FixedLenFeature([], tf.float32, -2.0)}
    parsed = from_slices(records).map(lambda record: tf.io.parse_single_example(record, wanted)).map(
        lambda found: (found["tokens"], found["name"], found["at"]))
    return {"file": pathlib.Path(record_file(records)).read_bytes(), "elements": listed(parsed)}


def example():
    """Examples as bytes; the features of gpubench are in the order of their names too."""
    made = {"word": [b"gpu"], "label": [7], "numbers": [0.5, -2.0], "many": [300, -1, 2]}
    return {"features": {name: values[0].decode() if name == "word" else values[0] if len(values) == 1 else values
                         for name, values in made.items()}, "elements": [[list(example_of(made))]]}


def tfrecord_writer():
    records = [b"first", b"", b"third record"]
    written = pathlib.Path(record_file(records)).read_bytes()
    return {"records": [record.decode() for record in records], "elements": [[list(written)]]}


def image_folder():
    """Pixels and labels of a folder with a folder for each class."""
    folder, files = pathlib.Path(tempfile.mkdtemp()), {}
    for name, content in (("dogs/b.png", PNG), ("cats/z.png", GREY), ("dogs/a.png", GREY), ("birds/c.png", PNG)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        files[name] = list(content)
    data = keras.utils.image_dataset_from_directory(folder, batch_size=None, shuffle=False, image_size=(2, 3),
                                                    verbose=False)
    return {"files": [{"name": name, "content": bytes(content)} for name, content in files.items()],
            "classes": data.class_names, "elements": listed(data)}


PIXELS_OF = numpy.random.default_rng(1).integers(0, 256, (3, 4, 3)).astype(numpy.uint8)
PNG, GREY = tf.io.encode_png(PIXELS_OF).numpy(), tf.io.encode_png(PIXELS_OF[..., :1]).numpy()
CLEAR = tf.io.encode_png(numpy.concatenate([PIXELS_OF, PIXELS_OF[..., :1]], -1)).numpy()
DEEP = tf.io.encode_png(PIXELS_OF.astype(numpy.uint16) * 250 + 77).numpy()
SLOPE = (numpy.add.outer(numpy.arange(16) * 5, numpy.arange(24) * 6)[..., None] + [0, 20, 40]).astype(numpy.uint8)
JPEG = tf.io.encode_jpeg(SLOPE, quality=95, chroma_downsampling=False).numpy()
GREY_JPEG = tf.io.encode_jpeg(SLOPE[..., :1], quality=90).numpy()
FILES = {"PNG": PNG, "grey PNG": GREY, "PNG with alpha": CLEAR, "PNG of 16 bits": DEEP, "JPEG": JPEG,
         "grey JPEG": GREY_JPEG}
SMALL = {"size": [5, 3], "method": "bilinear", "dtype": "float32"}
DECODED = [
    ("PNG", {}), ("PNG", {"channels": 1}), ("PNG", {"channels": 3} | SMALL),
    ("PNG", {"size": [2, 6], "method": "nearest", "dtype": "float32"}),
    ("grey PNG", {}), ("grey PNG", {"channels": 3}), ("grey PNG", {"channels": 1} | SMALL),
    ("PNG", {"dtype": "float32"}), ("PNG with alpha", {"channels": 3}), ("PNG of 16 bits", {}), ("JPEG", {}),
    ("JPEG", {"channels": 1}), ("JPEG", SMALL | {"ratio": 1}), ("grey JPEG", {}), ("grey JPEG", {"channels": 3}),
]


def accurate(file, channels=0):
    """TensorFlow's own choice is a coarse cosine transform."""
    return tf.io.decode_jpeg(file, channels, dct_method="INTEGER_ACCURATE")


def decoded(file, options):
    channels = options.get("channels", 0)
    if file.endswith("JPEG"):
        image = accurate(FILES[file], channels)
    else:
        image = tf.io.decode_png(FILES[file], channels)
    if "dtype" in options:
        image = tf.image.convert_image_dtype(image, tf.float32)
    if "size" in options:
        image = tf.image.resize(image, options["size"], options["method"])
    return {"file": FILES[file], "options": options, "image": image.numpy()}


def encoded(pixels, quality):
    """What is left of an image behind a JPEG file of it."""
    return {"pixels": pixels, "quality": quality,
            "image": accurate(tf.io.encode_jpeg(pixels, quality=quality)).numpy()}


def decoded_raw(record):
    return tf.reshape(tf.io.decode_raw(tf.strings.substr(record, 0, 24), tf.float32), [-1, 2])


READ = {
    "csv": table(TABLE, COLUMNS, header=True),
    "csv with another delimiter and no header": table(
        SEMICOLONS, [tf.float32, tf.int64, tf.constant([""])], field_delim=";"),
    "csv of some columns": table(TABLE, COLUMNS[:2], header=True, select_cols=[0, 1]),
    "csv gzipped": table(gzip.compress(TABLE, mtime=0), COLUMNS, header=True, compression_type="GZIP"),
    "text_lines": lines(TEXT),
    "text_lines gzipped": lines(GZIPPED, compression_type="GZIP"),
    "text_lines with carriage returns": lines(b"one\r\ntwo\r\n\r\n"),
    "text_lines of nothing": lines(b""),
    "list_files": listed_files("*.txt"),
    "list_files ?": listed_files("?.txt"),
    "list_files []": listed_files("[bc]*"),
    "tfrecord": tfrecord,
    "tfrecord gzipped": lambda: tfrecord("GZIP"),
    "parse_example": parse_example,
    "example": example,
    "tfrecord_writer": tfrecord_writer,
    "read_file": bytes_of(lambda content: content),
    "decode_raw uint8": bytes_of(lambda content: tf.io.decode_raw(content, tf.uint8)),
    "decode_raw float32": bytes_of(decoded_raw),
    "bytes": lambda: {"file": TEXT, "elements": [[byte] for byte in TEXT]},
    "image_folder": image_folder,
}

# Mean and deviation of each number over many draws, whose own values cannot agree.
PIXELS = numpy.round(numpy.random.default_rng(2).random((3, 4, 2)), 2).astype(numpy.float32)
WHOLE_PIXELS = (255 * PIXELS).astype(numpy.uint8)
RANDOM = [
    ("random_flip_left_right", [], PIXELS, tf.image.random_flip_left_right),
    ("random_brightness", [0.4], PIXELS, lambda x: tf.image.random_brightness(x, 0.4)),
    ("random_contrast", [0.5, 1.25], PIXELS, lambda x: tf.image.random_contrast(x, 0.5, 1.25)),
    ("random_crop", [[2, 3]], PIXELS, lambda x: tf.image.random_crop(x, [2, 3, 2])),
    ("random_flip_left_right", [], WHOLE_PIXELS, tf.image.random_flip_left_right),
    ("random_brightness", [0.2], WHOLE_PIXELS, lambda x: tf.image.random_brightness(x, 0.2)),
    ("random_contrast", [0.5, 1.25], WHOLE_PIXELS, lambda x: tf.image.random_contrast(x, 0.5, 1.25)),
    ("random_crop", [[1, 4]], WHOLE_PIXELS, lambda x: tf.image.random_crop(x, [1, 4, 2])),
    ("random_contrast", [0.0, 3.0], PIXELS, lambda x: tf.image.random_contrast(x, 0.0, 3.0)),
    ("random_crop", [[3, 4]], PIXELS, lambda x: tf.image.random_crop(x, [3, 4, 2])),
]
DRAWS = 8192


def moments(name, arguments, example, function):
    images = r(DRAWS).map(lambda _: function(tf.constant(example))).batch(DRAWS)
    output = next(iter(images)).numpy().reshape(DRAWS, -1).astype(float)
    return {"class": name, "arguments": arguments, "example": example, "type": example.dtype.name, "draws": DRAWS,
            "mean": output.mean(0), "deviation": output.std(0)}


X, POSITIVE = (2, 3), numpy.array([[0.5, 2, 0.25], [1, 3, 0.1]], numpy.float32)
BOOLS, OTHERS = numpy.array([[True, False], [True, True]]), numpy.array([[True, True], [False, True]])
HALVES = numpy.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.3, -0.7], numpy.float32)
TIES, TURNED = numpy.array([[1, 3, 3], [2, 2, 0]], numpy.float32), numpy.array([[3, 3, 1], [0, 2, 2]], numpy.float32)
WHOLE, BY = numpy.array([7, -7, 7, -7, 0]), numpy.array([2, 2, -2, -2, 5])
MISSING = numpy.array([1, numpy.nan, numpy.inf], numpy.float32)
LARGE = numpy.array([[1e4, 1e4 + 1, 1e4 - 2], [-80, 0, 80]], numpy.float32)
IMAGES, BYTES = (1, 3, 4, 2), numpy.array([[[0], [3]], [[128], [255]]], numpy.uint8)
HEADS = (1, 3, 2, 3)
TRIANGLE = numpy.array([[[[True, False, True], [True, True, False], [False, True, True]]]])
BIAS = [[[[0.0, -1.5, 2.0], [1.0, 0.5, -3.0], [0.0, 0.0, 4.0]]]]
EDGES, STEPS = numpy.array([-1, -0.5, 0, 0.75, 1], numpy.float32), numpy.array([[3, -1, 2], [0, 7, -7]])
ZERO_TO_FOUR = numpy.array([0, 1, 4], numpy.float32)


def f32(x):
    return tf.cast(x, tf.float32)


# Call, arguments behind the inputs, inputs (shapes are drawn), what TensorFlow computes, and what tells cases apart.
FUNCTIONS = [
    ("one_hot", [4], [numpy.array([0, 3, 2])], lambda x: tf.one_hot(x, 4)),
    ("gather", [1], [X, numpy.array([2, 0, 2])], lambda x, i: tf.gather(x, i, axis=1)),
    ("cumsum", [1], [X], lambda x: tf.cumsum(x, 1)),
    ("cumsum", [0, True], [X], lambda x: tf.cumsum(x, 0, reverse=True)),
    ("argmax", [1], [TIES], lambda x: tf.argmax(x, 1)),
    ("argmin", [1], [TIES], lambda x: tf.argmin(x, 1)),
    ("max", [1], [TIES], lambda x: tf.reduce_max(x, 1)),
    ("min", [[0, 1], True], [X], lambda x: tf.reduce_min(x, [0, 1], True)),
    ("mean", [[0, 2]], [(2, 3, 2)], lambda x: tf.reduce_mean(x, [0, 2])),
    ("sum", [1, True], [(2, 3, 2)], lambda x: tf.reduce_sum(x, 1, True)),
    ("variance", [1, True], [X], lambda x: tf.math.reduce_variance(x, 1, True)),
    ("std", [0], [X], lambda x: tf.math.reduce_std(x, 0)),
    ("round", [], [HALVES], tf.round), ("floor", [], [HALVES], tf.floor), ("ceil", [], [HALVES], tf.math.ceil),
    ("sign", [], [numpy.array([-2, 0, 3], numpy.float32)], tf.sign), ("abs", [], [X], tf.abs),
    ("cast", ["int32"], [numpy.array([2.7, -2.7, 0.5], numpy.float32)], lambda x: tf.cast(x, tf.int32)),
    ("clip", [-0.5, 0.75], [X], lambda x: tf.clip_by_value(x, -0.5, 0.75)),
    ("where", [], [numpy.array([[True, False, True]]), X, X], tf.where),
    ("pad", [[[1, 0], [0, 2]], 2.5], [X], lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=2.5)),
    ("tile", [[2, 3]], [(1, 2)], lambda x: tf.tile(x, [2, 3])),
    ("reverse", [1], [X], lambda x: tf.reverse(x, [1])),
    ("transpose", [[2, 0, 1]], [(2, 3, 2)], lambda x: tf.transpose(x, [2, 0, 1])),
    ("squeeze", [1], [(2, 1, 3)], lambda x: tf.squeeze(x, 1)),
    ("expand_dims", [-1], [X], lambda x: tf.expand_dims(x, -1)),
    ("reshape", [[3, -1]], [X], lambda x: tf.reshape(x, [3, -1])),
    ("stack", [-1], [X, X], lambda *x: tf.stack(x, -1)),
    ("concat", [-1], [X, (2, 1)], lambda *x: tf.concat(x, -1)),
    ("matmul", [], [(2, 2, 3), (3, 2)], tf.matmul),
    ("transposed_matmul", [], [(3, 2), (2, 3)], lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True)),
    ("softmax", [], [LARGE], tf.nn.softmax), ("log_softmax", [], [LARGE], tf.nn.log_softmax),
    ("erf", [], [X], tf.math.erf), ("gelu", [], [X], lambda x: tf.nn.gelu(x)),
    ("gelu", [True], [X], lambda x: tf.nn.gelu(x, approximate=True)), ("silu", [], [X], tf.nn.silu),
    ("sigmoid", [], [X], tf.sigmoid), ("tanh", [], [X], tf.tanh), ("relu", [], [X], tf.nn.relu),
    ("sqrt", [], [POSITIVE], tf.sqrt), ("rsqrt", [], [POSITIVE], tf.math.rsqrt), ("exp", [], [X], tf.exp),
    ("log", [], [POSITIVE], tf.math.log), ("square", [], [X], tf.square),
    ("floor_division", [], [WHOLE, BY], tf.math.floordiv), ("remainder", [], [WHOLE, BY], tf.math.floormod),
    ("remainder", [], [X, POSITIVE], tf.math.floormod),
    ("power", [3.0], [X], lambda x: x ** 3.0), ("power", [], [POSITIVE, X], tf.pow),
    ("maximum", [], [TIES, TURNED], tf.maximum), ("minimum", [0.5], [X], lambda x: tf.minimum(x, 0.5)),
    ("eq", [], [TIES, TURNED], tf.equal), ("ne", [2.0], [TIES], lambda x: x != 2),
    ("lt", [2.0], [TIES], lambda x: x < 2), ("le", [2.0], [TIES], lambda x: x <= 2),
    ("gt", [2.0], [TIES], lambda x: x > 2), ("ge", [2.0], [TIES], lambda x: x >= 2),
    ("any", [1], [~BOOLS], lambda x: tf.reduce_any(x, 1)), ("all", [0], [BOOLS], lambda x: tf.reduce_all(x, 0)),
    ("logical_and", [], [BOOLS, OTHERS], tf.logical_and), ("logical_or", [], [BOOLS, OTHERS], tf.logical_or),
    ("logical_not", [], [BOOLS], tf.logical_not), ("is_nan", [], [MISSING], tf.math.is_nan),
    ("attention", [{"is_causal": True}], [HEADS] * 3, lambda *x: keras.ops.dot_product_attention(*x, is_causal=True)),
    ("attention", [{"scale": 0.3}], [HEADS, (1, 5, 2, 3), (1, 5, 2, 3)],
     lambda q, k, v: keras.ops.dot_product_attention(q, k, v, scale=0.3)),
    ("masked_attention", [], [HEADS] * 3 + [TRIANGLE],
     lambda q, k, v, mask: keras.ops.dot_product_attention(q, k, v, mask=mask)),
    ("resize", [[5, 3]], [IMAGES], lambda x: tf.image.resize(x, [5, 3])),
    ("resize", [[2, 7]], [IMAGES], lambda x: tf.image.resize(x, [2, 7])),
    ("resize", [[7, 2], {"method": "nearest"}], [IMAGES], lambda x: tf.image.resize(x, [7, 2], "nearest")),
    ("image_cast", ["float32"], [BYTES], lambda x: tf.image.convert_image_dtype(x, tf.float32)),
    ("image_cast", ["uint8"], [numpy.array([[[-0.5], [0.3]], [[0.999], [1.5]]], numpy.float32)],
     lambda x: tf.image.convert_image_dtype(x, tf.uint8, saturate=True)),
    ("normalize", [[0.25, 0.5], [0.5, 2.0]], [IMAGES],
     keras.layers.Normalization(mean=[0.25, 0.5], variance=[0.25, 4.0])),
    ("add", [], [X, (3,)], tf.add), ("add", [1.5], [X], lambda x: x + 1.5), ("sub", [], [(2, 1), (1, 3)], tf.subtract),
    ("mul", [], [X, (2, 1)], tf.multiply), ("div", [], [X, POSITIVE], tf.divide), ("negative", [], [X], tf.negative),
    ("div", [], [X, numpy.array([[0.5], [-2]], numpy.float32)], tf.divide), ("mul", [], [WHOLE, BY], tf.multiply),
    ("floor_division", [], [X, POSITIVE], tf.math.floordiv), ("remainder", [0.25], [X], lambda x: x % 0.25),
    ("remainder_of", [5.0], [POSITIVE], lambda x: 5.0 % x), ("power_of", [2.0], [X], lambda x: 2.0 ** x),
    ("power", [2.0], [X], lambda x: x ** 2.0), ("power", [-1.0], [POSITIVE], lambda x: x ** -1.0),
    ("power", [0.5], [POSITIVE], lambda x: x ** 0.5),
    ("power", [], [numpy.array([0, 0, 2], numpy.float32), numpy.array([2, 1, -1], numpy.float32)], tf.pow, "of 0"),
    ("rows", [2, 3], [(4, 2)], lambda x: x[1:3]), ("columns", [2, 3], [(2, 4)], lambda x: x[:, 1:3]),
    ("row", [2], [(3, 2)], lambda x: x[1]), ("row", [-1], [(3, 2)], lambda x: x[-1]),
    ("columns", [-3, -2], [(2, 4)], lambda x: x[:, -3:-1]),
    ("transpose", [], [(2, 3, 2)], tf.transpose), ("squeeze", [], [(1, 3, 1)], tf.squeeze),
    ("reverse", [], [X], lambda x: tf.reverse(x, [0, 1])), ("expand_dims", [1], [X], lambda x: tf.expand_dims(x, 1)),
    ("sum", [], [X], tf.reduce_sum), ("mean", [], [X], tf.reduce_mean), ("max", [], [TIES], tf.reduce_max),
    ("min", [-1], [TIES], lambda x: tf.reduce_min(x, -1)), ("max", [0, True], [X], lambda x: tf.reduce_max(x, 0, True)),
    ("mean", [-1, True], [(2, 3, 2)], lambda x: tf.reduce_mean(x, -1, True)),
    ("variance", [], [X], tf.math.reduce_variance), ("std", [[0, 1], True], [X], lambda x: tf.math.reduce_std(
        x, [0, 1], True)),
    ("variance", [1], [numpy.ones((2, 3), numpy.float32)], lambda x: tf.math.reduce_variance(x, 1), "equal numbers"),
    ("sum", [0], [STEPS], lambda x: tf.reduce_sum(x, 0)), ("max", [1], [STEPS], lambda x: tf.reduce_max(x, 1)),
    ("min", [], [STEPS], tf.reduce_min), ("abs", [], [STEPS], tf.abs), ("square", [], [STEPS], tf.square),
    ("sign", [], [STEPS], tf.sign), ("mean", [], [STEPS], tf.reduce_mean), ("relu", [], [STEPS], tf.nn.relu),
    ("cumsum", [1], [STEPS], lambda x: tf.cumsum(x, 1)),
    ("clip", [-1, 3], [STEPS], lambda x: tf.clip_by_value(x, -1, 3)),
    ("maximum", [1], [STEPS], lambda x: tf.maximum(x, 1)), ("argmax", [0], [STEPS], lambda x: tf.argmax(x, 0)),
    ("abs", [], [EDGES], tf.abs), ("relu", [], [EDGES], tf.nn.relu), ("maximum", [0.0], [EDGES], lambda x: tf.maximum(
        x, 0.0)), ("minimum", [], [TIES, TURNED], tf.minimum),
    ("clip", [-0.5, 0.75], [EDGES], lambda x: tf.clip_by_value(x, -0.5, 0.75)),
    ("sqrt", [], [ZERO_TO_FOUR], tf.sqrt), ("rsqrt", [], [ZERO_TO_FOUR], tf.math.rsqrt),
    ("log", [], [ZERO_TO_FOUR], tf.math.log), ("sqrt", [], [EDGES], tf.sqrt), ("log", [], [EDGES], tf.math.log),
    ("sigmoid", [], [LARGE], tf.sigmoid), ("tanh", [], [LARGE], tf.tanh), ("silu", [], [LARGE], tf.nn.silu),
    ("gelu", [], [LARGE], tf.nn.gelu), ("erf", [], [LARGE], tf.math.erf),
    ("gelu", [True], [LARGE], lambda x: tf.nn.gelu(x, approximate=True)),
    ("softmax", [], [(2, 2, 3)], tf.nn.softmax), ("log_softmax", [], [(2, 2, 3)], tf.nn.log_softmax),
    ("cumsum", [-1], [(2, 2, 3)], lambda x: tf.cumsum(x, -1)), ("cumsum", [1, True], [X], lambda x: tf.cumsum(
        x, 1, reverse=True)), ("argmax", [], [X], lambda x: tf.argmax(x, -1)), ("argmin", [0], [X], tf.argmin),
    ("one_hot", [3, "int64"], [numpy.array([[2, 0], [1, 1]])], lambda x: tf.one_hot(x, 3, dtype=tf.int64)),
    ("gather", [], [X, numpy.array([1, 1, 0])], tf.gather),
    ("gather", [-1], [X, numpy.array([[0, 2], [1, 1]])], lambda x, i: tf.gather(x, i, axis=-1)),
    ("where", [], [numpy.array([[True], [False]]), X, (1, 3)], tf.where),
    ("pad", [[[0, 1], [2, 0]]], [X], lambda x: tf.pad(x, [[0, 1], [2, 0]])), ("tile", [[1, 2, 2]], [(2, 2, 1)],
                                                                             lambda x: tf.tile(x, [1, 2, 2])),
    ("stack", [0], [X, X], lambda *x: tf.stack(x)), ("concat", [0], [X, (1, 3)], lambda *x: tf.concat(x, 0)),
    ("concat", [1], [STEPS, STEPS], lambda *x: tf.concat(x, 1)),
    ("matmul", [], [(2, 3), (3, 2)], tf.matmul), ("matmul", [], [(2, 1, 2, 3), (3, 3, 2)], tf.matmul),
    ("transposed_matmul", [], [(2, 3, 2), (2, 2, 3)], lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True)),
    ("cast", ["bool"], [EDGES], lambda x: tf.cast(x, tf.bool)), ("cast", ["int64"], [BOOLS], lambda x: tf.cast(
        x, tf.int64)), ("cast", ["uint8"], [ZERO_TO_FOUR], lambda x: tf.cast(x, tf.uint8)),
    ("cast", ["float32"], [STEPS], f32), ("half", ["float16"], [X], lambda x: f32(tf.cast(x, tf.float16))),
    ("half", ["bfloat16"], [X], lambda x: f32(tf.cast(x, tf.bfloat16))),
    ("half_sum", ["float16"], [(40,)], lambda x: f32(tf.reduce_sum(tf.cast(x, tf.float16)))),
    ("half_gelu", ["float16"], [X], lambda x: f32(tf.nn.gelu(tf.cast(x, tf.float16)))),
    ("lt", [], [TIES, TURNED], tf.less), ("le", [], [TIES, TURNED], tf.less_equal),
    ("gt", [], [TIES, TURNED], tf.greater), ("ge", [], [TIES, TURNED], tf.greater_equal),
    ("ne", [], [TIES, TURNED], tf.not_equal), ("eq", [], [MISSING, MISSING], tf.equal),
    ("ne", [], [MISSING, MISSING], tf.not_equal), ("lt", [0.0], [MISSING], lambda x: x < 0.0),
    ("eq", [2], [STEPS], lambda x: x == 2), ("eq", [], [BOOLS, OTHERS], tf.equal),
    ("any", [], [BOOLS], tf.reduce_any), ("all", [1, True], [BOOLS], lambda x: tf.reduce_all(x, 1, True)),
    ("round", [], [numpy.array([-2.5, 0.5, 1.5, 2e9], numpy.float32)], tf.round, "large"),
    ("attention", [], [HEADS] * 3, keras.ops.dot_product_attention),
    ("biased_attention", [BIAS], [HEADS] * 3, lambda q, k, v: keras.ops.dot_product_attention(
        q, k, v, bias=tf.constant(BIAS))),
    ("resize", [[3, 4]], [IMAGES], lambda x: tf.image.resize(x, [3, 4]), "the same"),
    ("resize", [[1, 1]], [IMAGES], lambda x: tf.image.resize(x, [1, 1])),
    ("resize", [[6, 8]], [(2, 3, 4, 1)], lambda x: tf.image.resize(x, [6, 8])),
    ("resize", [[2, 5]], [(3, 4, 2)], lambda x: tf.image.resize(x, [2, 5])),
    ("resize", [[3, 3]], [BYTES], lambda x: tf.image.resize(x, [3, 3])),
    ("resize", [[2, 2], {"method": "nearest"}], [IMAGES], lambda x: tf.image.resize(x, [2, 2], "nearest")),
    ("resize", [[3, 1], {"method": "nearest"}], [BYTES], lambda x: tf.image.resize(x, [3, 1], "nearest")),
    ("normalize", [0.5, 0.25], [IMAGES], lambda x: (x - 0.5) / 0.25),
    ("normalize", [100.0, 50.0], [BYTES], lambda x: (f32(x) - 100) / 50),
]


def function_of(call, arguments, inputs, function):
    """The output, and gradients of the sum of its squares by the inputs that have one."""
    values = [drawn(*value) if isinstance(value, tuple) else value for value in inputs]
    given = [tf.constant(value) for value in values]
    sources = [value for value in given if value.dtype.is_floating]
    with tf.GradientTape() as tape:
        for value in sources:
            tape.watch(value)
        output = function(*given)
        total = tf.reduce_sum(tf.square(output)) if output.dtype.is_floating else None
    gradients = [] if total is None else tape.gradient(total, sources)
    return {"class": call, "arguments": arguments, "inputs": values, "types": [value.dtype.name for value in given],
            "output": output.numpy(),
            "gradients": [False if found is None else tf.convert_to_tensor(found).numpy() for found in gradients]}


def main():
    for name, make in PIPELINES.items():
        case("pipelines", name, pipeline, make, name)
    for name, make in SIZES.items():
        case("sizes", name, lambda: {"size": False if (size := size_of(make())) is None else size})
    for name, holds in facts().items():
        case("facts", name, lambda: {"holds": holds})
    for name, make in READ.items():
        case("files", name, lambda: {"class": name.split()[0]} | make())
    for file, options in DECODED:
        case("images", titled("decode", options, file), decoded, file, options)
    for note, *given in (("grey", SLOPE[..., :1], 95), ("RGB", SLOPE, 95), ("RGB", SLOPE, 40)):
        case("encoded", titled("encode_jpeg", {"quality": given[1]}, note), encoded, *given)
    for name, arguments, example, function in RANDOM:
        case("random_images", titled(name, {"arguments": arguments, "of": example.dtype.name}), moments, name,
             arguments, example, function)
    for call, arguments, inputs, function, *note in FUNCTIONS:
        shapes = [list(value) if isinstance(value, tuple) else f"{value.dtype}{list(value.shape)}" for value in inputs]
        name = titled(call, {"arguments": arguments, "of": shapes}, *note)
        case("functions", name, function_of, call, arguments, inputs, function)
    write(__file__)


if __name__ == "__main__":
    main()
