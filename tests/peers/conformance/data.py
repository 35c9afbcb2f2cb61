"""Datasets: elements of pipelines, by name, for which the test has the same pipeline; what random orders promise;
files. And images and tensors: results of functions with their gradients."""

import pathlib
import tempfile

from values import case, drawn, keras, numpy, tf, titled, uniform, write

from_slices, zipped, r = tf.data.Dataset.from_tensor_slices, tf.data.Dataset.zip, tf.data.Dataset.range
LENGTHS = [3, 1, 4, 2, 5]


def ragged():
    return tf.data.Dataset.from_generator(lambda: (numpy.arange(n, dtype=numpy.int64) + 1 for n in LENGTHS),
                                          output_signature=tf.TensorSpec([None], tf.int64))


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
}


def listed(data, most=40):
    """Rows of numbers; texts are lists of their bytes."""
    rows = [[value.numpy() for value in tf.nest.flatten(element)] for element in data.take(most)]
    return [[list(value) if isinstance(value, bytes) else value for value in row] for row in rows]


def pipeline(make):
    data = make()
    size = int(data.cardinality())
    return {"elements": listed(data), "size": float("inf") if size == -1 else size if size >= 0 else None}


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
    }


def file_of(name, content):
    path = pathlib.Path(tempfile.mkdtemp()) / name
    path.write_bytes(content)
    return str(path)


TABLE = b'x,label,note\r\n1.5,2,"a, b"\r\n-3,,\r\n4e-1,7,"say ""no"""\r\n'
TEXT = b"one\r\n\nthree words here\nlast"


def csv():
    defaults = [tf.float32, tf.constant([-1], tf.int64), tf.constant([""])]
    data = tf.data.experimental.CsvDataset(file_of("t.csv", TABLE), defaults, header=True)
    return {"file": TABLE, "elements": listed(data)}


def text_lines():
    return {"file": TEXT, "elements": listed(tf.data.TextLineDataset(file_of("t.txt", TEXT)))}


def list_files():
    """Names without the folder."""
    folder, names = pathlib.Path(tempfile.mkdtemp()), ["b2.txt", "a.txt", "b10.txt", "a.log", "c.txt"]
    for name in names:
        (folder / name).write_text("")
    paths = tf.data.Dataset.list_files(f"{folder}/*.txt", shuffle=False)
    return {"names": names, "elements": [[list(pathlib.Path(path.numpy().decode()).name.encode())] for path in paths]}


def tfrecord():
    path = file_of("t.tfrecord", b"")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(3):
            features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[i / 2, -i])),
                        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i * i]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(deterministic=True))
    wanted = {"x": tf.io.FixedLenFeature([2], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64),
              "weight": tf.io.FixedLenFeature([], tf.float32, 1.5)}
    parsed = tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, wanted)).map(
        lambda found: (found["x"], found["label"], found["weight"]))
    return {"file": pathlib.Path(path).read_bytes(), "elements": listed(parsed)}


PNG = tf.io.encode_png(numpy.random.default_rng(1).integers(0, 256, (3, 4, 3)).astype(numpy.uint8)).numpy()


def decoded(options):
    image = tf.io.decode_png(PNG, channels=options.get("channels", 0))
    if "size" in options:
        image = tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), options["size"], options["method"])
    return {"file": PNG, "options": options, "image": image.numpy()}


# Mean and deviation of each number over many draws, whose own values cannot agree.
PIXELS = numpy.round(numpy.random.default_rng(2).random((3, 4, 2)), 2).astype(numpy.float32)
RANDOM = {
    "random_flip_left_right": ([], tf.image.random_flip_left_right),
    "random_brightness": ([0.4], lambda x: tf.image.random_brightness(x, 0.4)),
    "random_contrast": ([0.5, 1.25], lambda x: tf.image.random_contrast(x, 0.5, 1.25)),
    "random_crop": ([[2, 3]], lambda x: tf.image.random_crop(x, [2, 3, 2])),
}
DRAWS = 8192


def moments(name, arguments, function):
    images = r(DRAWS).map(lambda _: function(tf.constant(PIXELS))).batch(DRAWS)
    output = next(iter(images)).numpy().reshape(DRAWS, -1).astype(float)
    return {"call": name, "arguments": arguments, "example": PIXELS, "draws": DRAWS, "mean": output.mean(0),
            "deviation": output.std(0)}


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

# Call, arguments behind the inputs, inputs (shapes are drawn), what TensorFlow computes.
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
    return {"call": call, "arguments": arguments, "inputs": values, "types": [value.dtype.name for value in given],
            "output": output.numpy(),
            "gradients": [False if found is None else tf.convert_to_tensor(found).numpy() for found in gradients]}


def main():
    for name, make in PIPELINES.items():
        case("pipelines", name, pipeline, make)
    for name, holds in facts().items():
        case("facts", name, lambda: {"holds": holds})
    for make in (csv, text_lines, list_files, tfrecord):
        case("files", make.__name__, make)
    for options in ({}, {"channels": 1}, {"channels": 3, "size": [5, 3], "method": "bilinear", "dtype": "float32"},
                    {"size": [2, 6], "method": "nearest", "dtype": "float32"}):
        case("images", titled("decode", options), decoded, options)
    for name, (arguments, function) in RANDOM.items():
        case("random_images", titled(name, {"arguments": arguments}), moments, name, arguments, function)
    for call, arguments, inputs, function in FUNCTIONS:
        shapes = [list(value) if isinstance(value, tuple) else f"{value.dtype}{list(value.shape)}" for value in inputs]
        name = titled(call, {"arguments": arguments, "of": shapes})
        case("functions", name, function_of, call, arguments, inputs, function)
    write(__file__)


if __name__ == "__main__":
    main()
