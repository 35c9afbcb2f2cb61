"""Pipelines with states, groups and choices; colours and extents of images; the reviews of imdb.npz."""

import pathlib
import tempfile

from data import from_slices, listed, moments, pipeline, r, ragged, size_of, zipped
from values import case, drawn, keras, numpy, tf, titled, uniform, write

Dataset = tf.data.Dataset


def halves(count):
    return r(count).map(lambda x: tf.cast(x, tf.float32) / 2)


def pairs(count):
    return zipped((r(count), r(10, 10 + count)))


def summed(state, x):
    return state + x, state + x


def counted(state, x):
    """A sum and a count, and both as an element."""
    total, count = state
    return (total + x, count + 1.0), (total, count)


def by_rest(data, size=None, reduce=lambda key, window: window.batch(4), **options):
    return data.group_by_window(key_func=lambda *x: x[0] % 3, reduce_func=reduce, window_size=size, **options)


def three(*ends):
    return [r(10 * i, 10 * i + end) for i, end in enumerate(ends)]


def chosen(datasets, choice, **options):
    return Dataset.choose_from_datasets(datasets, from_slices(numpy.array(choice)), **options)


def words():
    return from_slices([b"a", b"rose", b"is", b"a", b"rose", b"", b"is"])


ONE = numpy.int64(1)
PIPELINES = {
    "take_while": lambda: r(9).take_while(lambda x: x * x < 20),
    "take_while none": lambda: r(5).take_while(lambda x: x > 3),
    "take_while all": lambda: r(5).take_while(lambda x: x < 99),
    "take_while passes again": lambda: r(9).take_while(lambda x: x % 4 < 3),
    "take_while of two tensors": lambda: pairs(6).take_while(lambda a, b: a + b < 16),
    "take_while then repeat": lambda: r(9).take_while(lambda x: x < 3).repeat(2),
    "take_while then batch": lambda: r(9).take_while(lambda x: x < 5).batch(2),
    "take_while of a repeat": lambda: r(4).repeat().take_while(lambda x: x < 3),
    "take_while of batches": lambda: r(9).batch(2).take_while(lambda x: tf.reduce_sum(x) < 10),
    "scan": lambda: r(1, 6).scan(numpy.int64(0), summed),
    "scan of numbers with a point": lambda: halves(5).scan(numpy.float32(0.25), summed),
    "scan of two tensors": lambda: pairs(4).scan(ONE, lambda s, x: (s + x[0] * x[1], (s, x[1]))),
    "scan with a state of two": lambda: halves(4).scan((numpy.float32(0), numpy.float32(0)), counted),
    "scan with a state of rows": lambda: halves(4).scan(
        numpy.zeros(2, numpy.float32), lambda s, x: (tf.stack([s[1], x]), s)),
    "scan then repeat": lambda: r(1, 4).scan(numpy.int64(0), summed).repeat(2),
    "scan of a repeat": lambda: r(1, 3).repeat(2).scan(numpy.int64(0), summed),
    "scan of nothing": lambda: r(0).scan(numpy.int64(0), summed),
    "scan of batches": lambda: r(5).batch(2).scan(ONE, lambda s, x: (s + tf.reduce_sum(x), x * s)),
    "scan then skip": lambda: r(1, 6).scan(numpy.int64(0), summed).skip(2),
    "unique": lambda: r(10).map(lambda x: x * x % 7).unique(),
    "unique of texts": lambda: words().unique(),
    "unique of a repeat": lambda: r(3).repeat(4).unique(),
    "unique then repeat": lambda: r(6).map(lambda x: x % 3).unique().repeat(2),
    "unique then batch": lambda: r(6).map(lambda x: x // 2).unique().batch(2),
    "group_by_window": lambda: by_rest(r(14), 4),
    "group_by_window larger than the groups": lambda: by_rest(r(8), 9),
    "group_by_window of 1": lambda: by_rest(r(4), 1),
    "group_by_window of nothing": lambda: by_rest(r(0), 2),
    "group_by_window drop_remainder": lambda: by_rest(
        r(14), 4, lambda key, window: window.batch(4, drop_remainder=True)),
    "group_by_window of two tensors": lambda: by_rest(pairs(7), 2, lambda key, window: window.batch(2)),
    "group_by_window with small batches": lambda: by_rest(r(14), 4, lambda key, window: window.batch(3)),
    "group_by_window without a batch": lambda: by_rest(r(9), 2, lambda key, window: window),
    "group_by_window with a map": lambda: by_rest(r(9), 2, lambda key, window: window.map(lambda x: x * 2).batch(2)),
    "group_by_window with a repeat": lambda: by_rest(r(6), 2, lambda key, window: window.batch(2).repeat(2)),
    "group_by_window with a take": lambda: by_rest(r(12), 3, lambda key, window: window.take(2)),
    "group_by_window then repeat": lambda: by_rest(r(5), 2).repeat(2),
    "group_by_window window_size_func": lambda: by_rest(r(14), window_size_func=lambda key: key + 1),
    "group_by_window padded": lambda: ragged().group_by_window(
        lambda x: tf.size(x, tf.int64) // 3, lambda key, window: window.padded_batch(2), 2),
    "group_by_window negative keys": lambda: r(7).group_by_window(
        lambda x: -x % 3 - 2, lambda key, window: window.batch(9), 5),
    "apply": lambda: r(8).apply(lambda data: data.skip(2).batch(3)),
    "choose_from_datasets": lambda: chosen(three(3, 2, 4), [0, 1, 2, 2, 1, 0]),
    "choose_from_datasets stops": lambda: chosen(three(3, 2, 4), [1, 1, 1, 0, 0]),
    "choose_from_datasets passes over": lambda: chosen(
        three(3, 2, 4), [1, 1, 1, 0, 2, 1, 0], stop_on_empty_dataset=False),
    "choose_from_datasets of all": lambda: Dataset.choose_from_datasets(
        three(3, 2, 4), r(3).repeat(), stop_on_empty_dataset=False),
    "choose_from_datasets of two tensors": lambda: chosen([pairs(3), pairs(2)], [1, 0, 0]),
    "choose_from_datasets then repeat": lambda: chosen(three(2, 2), [0, 1]).repeat(2),
    "sample_from_datasets of one": lambda: Dataset.sample_from_datasets([r(4)], weights=[0.5]),
    "sample_from_datasets with a weight of 0": lambda: Dataset.sample_from_datasets(three(3, 2), weights=[0.0, 1.0]),
    "random": lambda: Dataset.random(seed=1).take(4).map(lambda x: tf.cast((x >= 0) & (x < 2 ** 32), tf.int64)),
}

SIZES = {
    "take_while": lambda: r(4).take_while(lambda x: x < 2), "scan": lambda: r(4).scan(ONE, summed),
    "scan of one without end": lambda: r(4).repeat().scan(ONE, summed), "unique": lambda: r(4).unique(),
    "group_by_window": lambda: by_rest(r(4), 2), "apply": lambda: r(4).apply(lambda data: data.batch(3)),
    "choose_from_datasets": lambda: chosen(three(3, 2), [0, 1]),
    "choose_from_datasets without end": lambda: Dataset.choose_from_datasets(
        [r(3).repeat(), r(2)], r(2).repeat(), stop_on_empty_dataset=False),
    "choose_from_datasets without end stops": lambda: Dataset.choose_from_datasets(
        [r(3).repeat(), r(2)], r(2).repeat()),
    "choose_from_datasets of choices that end": lambda: Dataset.choose_from_datasets(
        [r(3).repeat(), r(2).repeat()], r(2)),
    "sample_from_datasets": lambda: Dataset.sample_from_datasets(three(3, 2)),
    "sample_from_datasets without end": lambda: Dataset.sample_from_datasets([r(3).repeat(), r(2)]),
    "random": lambda: Dataset.random(seed=1),
}

# The state, and the function that gives the new one.
REDUCED = {
    "reduce": lambda: r(5).reduce(numpy.int64(0), lambda s, x: s + x),
    "reduce of nothing": lambda: r(0).reduce(numpy.int64(7), lambda s, x: s + x),
    "reduce of batches": lambda: halves(5).batch(2).reduce(numpy.float32(0), lambda s, x: s + tf.reduce_sum(x)),
    "reduce of two tensors": lambda: pairs(4).reduce(ONE, lambda s, x: s * 2 + x[0] * x[1]),
    "reduce to two": lambda: halves(5).reduce(
        (numpy.float32(0), numpy.float32(0)), lambda s, x: (tf.maximum(s[0], x), s[1] + 1.0)),
    "reduce of a shuffle": lambda: r(9).shuffle(9, seed=1).reduce(numpy.int64(0), lambda s, x: s + x * x),
    "reduce of a filter": lambda: r(9).filter(lambda x: x % 2 == 1).reduce(numpy.int64(0), lambda s, x: s * 10 + x),
}


def facts():
    """What holds for tf.data's random choices."""
    def order(data):
        return [row[0] for row in listed(data, 2000)]

    far = [r(10 ** 6), r(10 ** 6, 2 * 10 ** 6)]
    drawn_by = order(Dataset.sample_from_datasets(far, weights=[0.8, 0.2], seed=3).take(2000))
    of_first = [x for x in drawn_by if x < 10 ** 6]
    still, anew = Dataset.random(seed=3).take(5), Dataset.random(seed=3, rerandomize_each_iteration=True).take(5)
    some = Dataset.sample_from_datasets(far, seed=3).take(50)
    again = Dataset.sample_from_datasets(far, seed=3, rerandomize_each_iteration=True).take(50)
    whole = order(Dataset.sample_from_datasets(three(5, 9), seed=3))
    stopped = order(Dataset.sample_from_datasets(three(5, 900), weights=[0.9, 0.1], seed=3, stop_on_empty_dataset=True))
    tf.random.set_seed(None)  # with a seed tf.data shuffles every window alike
    windows = {tuple(x % 10 for x in row[0]) for row in listed(
        r(60).group_by_window(lambda x: x // 10, lambda key, window: window.shuffle(10).batch(10), 10))}
    return {
        "sample_from_datasets: a share of 0.8": abs(len(of_first) / 2000 - 0.8) < 0.05,
        "sample_from_datasets: each dataset in its order": of_first == sorted(of_first),
        "sample_from_datasets: weights need no sum of 1": abs(len([x for x in order(Dataset.sample_from_datasets(
            far, weights=[8.0, 2.0], seed=3).take(2000)) if x < 10 ** 6]) / 2000 - 0.8) < 0.05,
        "sample_from_datasets: all elements": sorted(whole) == [*range(5), *range(10, 19)],
        "sample_from_datasets: stops at an empty one": len(stopped) < 100,
        "sample_from_datasets: epochs are equal": order(some) == order(some),
        "sample_from_datasets: epochs differ": order(again) != order(again),
        "random: epochs are equal": order(still) == order(still),
        "random: epochs differ": order(anew) != order(anew),
        "random: another seed, other numbers": order(still) != order(Dataset.random(seed=4).take(5)),
        "group_by_window: shuffled windows differ": len(windows) > 1,
    }


COLOURS, GREYS = (2, 3, 4, 3), (2, 3, 4, 1)
PURE = numpy.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [0.5, 0.5, 0.5], [0, 0, 0]],
                    [[1, 1, 1], [0.2, 0.4, 0.2], [0.9, 0.1, 0.9]]], numpy.float32)
BYTES = numpy.random.default_rng(5).integers(0, 256, (3, 4, 3)).astype(numpy.uint8)
METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
COUNTS = numpy.arange(12).reshape(3, 4, 1)


def resize(size, **options):
    return ("resize", [size] + ([options] if options else []))


# Call and arguments, inputs (shapes are drawn from 0 to 1), and what TensorFlow computes.
FUNCTIONS = [
    *((("adjust_brightness", [delta]), [x], lambda x, d=delta: tf.image.adjust_brightness(x, d))
      for delta, x in ((0.3, COLOURS), (-0.25, BYTES), (0.5, BYTES), (0.1, GREYS))),
    *((("adjust_contrast", [factor]), [x], lambda x, f=factor: tf.image.adjust_contrast(x, f))
      for factor, x in ((1.75, COLOURS), (0.5, BYTES), (3.0, BYTES), (0.0, GREYS))),
    *((("adjust_gamma", arguments), [x], lambda x, a=arguments: tf.image.adjust_gamma(x, *a))
      for arguments, x in (([2.0, 0.5], COLOURS), ([0.5], BYTES), ([], BYTES), ([1.5, 2.0], BYTES), ([0.0], GREYS))),
    *((("adjust_hue", [delta]), [x], lambda x, d=delta: tf.image.adjust_hue(x, d))
      for delta in (0.3, -0.25, 1.0, 0.0) for x in (COLOURS, PURE, BYTES)),
    *((("adjust_saturation", [factor]), [x], lambda x, f=factor: tf.image.adjust_saturation(x, f))
      for factor in (0.5, 3.0, 0.0) for x in (COLOURS, PURE, BYTES)),
    *((("rgb_to_grayscale", []), [x], tf.image.rgb_to_grayscale) for x in (COLOURS, PURE, BYTES)),
    *((("grayscale_to_rgb", []), [x], tf.image.grayscale_to_rgb) for x in (GREYS, BYTES[..., :1], COUNTS)),
    *((("per_image_standardization", []), [x], tf.image.per_image_standardization)
      for x in (COLOURS, BYTES, (3, 4, 1), 0 * PURE + 2)),
    *((("flip_left_right", []), [x], tf.image.flip_left_right) for x in (COLOURS, BYTES, COUNTS)),
    *((("flip_up_down", []), [x], tf.image.flip_up_down) for x in (COLOURS, BYTES, COUNTS)),
    *((("central_crop", [share]), [x], lambda x, s=share: tf.image.central_crop(x, s))
      for share in (0.5, 0.4, 1.0) for x in ((2, 5, 8, 1), COUNTS, (7, 6, 2))),
    *((("crop_to_bounding_box", box), [x], lambda x, b=box: tf.image.crop_to_bounding_box(x, *b))
      for box in ([1, 0, 2, 3], [0, 2, 3, 1], [0, 0, 3, 4]) for x in (COLOURS, BYTES)),
    *((("pad_to_bounding_box", box), [x], lambda x, b=box: tf.image.pad_to_bounding_box(x, *b))
      for box in ([1, 2, 6, 7], [0, 0, 3, 4], [0, 3, 3, 7]) for x in (GREYS, COUNTS)),
    *((("resize_with_crop_or_pad", size), [x], lambda x, s=size: tf.image.resize_with_crop_or_pad(x, *s))
      for size in ([2, 6], [5, 3], [1, 1], [8, 9]) for x in (GREYS, COUNTS)),
    *((("resize_with_pad", size), [x], lambda x, s=size: tf.image.resize_with_pad(x, *s))
      for size in ([5, 9], [6, 2], [2, 2]) for x in (GREYS, COUNTS.astype(numpy.float32))),
    (("resize_with_pad", [5, 5, {"method": "nearest"}]), [GREYS],
     lambda x: tf.image.resize_with_pad(x, 5, 5, method="nearest")),
    (("resize_with_pad", [2, 2, {"antialias": True}]), [(5, 8, 1)],
     lambda x: tf.image.resize_with_pad(x, 2, 2, antialias=True)),
    *((resize(size, method=method), [x], lambda x, s=size, m=method: tf.image.resize(x, s, m))
      for method in METHODS for size, x in (([5, 3], GREYS), ([2, 9], (5, 4, 2)), ([4, 4], (9, 7, 1)))),
    *((resize(size, method=method, antialias=True), [x],
       lambda x, s=size, m=method: tf.image.resize(x, s, m, antialias=True))
      for method in METHODS for size, x in (([5, 3], (3, 9, 1)), ([2, 3], (1, 7, 8, 2)))),
    # Pixels at the radius of the filter itself.
    (resize([4, 2], method="gaussian", antialias=True), [(7, 2, 1)],
     lambda x: tf.image.resize(x, [4, 2], "gaussian", antialias=True)),
    *((resize(size, preserve_aspect_ratio=True), [x],
       lambda x, s=size: tf.image.resize(x, s, preserve_aspect_ratio=True))
      for size, x in (([6, 6], (8, 4, 1)), ([3, 9], (2, 5, 7, 1)), ([9, 2], (3, 4, 2)))),
    (resize([2, 5], method="bicubic"), [BYTES], lambda x: tf.image.resize(x, [2, 5], "bicubic")),
    (resize([2, 2], method="area"), [BYTES], lambda x: tf.image.resize(x, [2, 2], "area")),
]


def image_function(call, arguments, inputs, function):
    """The output, and gradients of the sum of its squares where TensorFlow has them."""
    values = [uniform(*value) if isinstance(value, tuple) else value for value in inputs]
    given = [tf.constant(value) for value in values]
    sources = [value for value in given if value.dtype.is_floating]
    gradients = []
    with tf.GradientTape() as tape:
        for value in sources:
            tape.watch(value)
        output = function(*given)
        total = tf.reduce_sum(tf.square(output)) if output.dtype.is_floating else None
    try:
        gradients = [] if total is None else tape.gradient(total, sources)
    except LookupError:
        pass
    return {"class": call, "arguments": arguments, "inputs": values, "types": [value.dtype.name for value in given],
            "output": output.numpy(),
            "gradients": [False if found is None else tf.convert_to_tensor(found).numpy() for found in gradients]}


SMALL = numpy.round(numpy.random.default_rng(2).random((2, 3, 3)), 2).astype(numpy.float32)
SMALL_BYTES = (255 * SMALL).astype(numpy.uint8)
RANDOM = [
    ("random_flip_up_down", [], SMALL, tf.image.random_flip_up_down),
    ("random_hue", [0.2], SMALL, lambda x: tf.image.random_hue(x, 0.2)),
    ("random_saturation", [0.5, 1.5], SMALL, lambda x: tf.image.random_saturation(x, 0.5, 1.5)),
    ("random_flip_up_down", [], SMALL_BYTES, tf.image.random_flip_up_down),
    ("random_hue", [0.5], SMALL_BYTES, lambda x: tf.image.random_hue(x, 0.5)),
    ("random_saturation", [0.0, 2.0], SMALL_BYTES, lambda x: tf.image.random_saturation(x, 0.0, 2.0)),
]

REVIEWS = [[14, 22, 3], [5], [30, 300, 70000, 1], [2, 2, 2], [9, 8, 7, 6, 5], [11]]
IMDB = [{}, {"num_words": 20}, {"num_words": 20, "skip_top": 8, "oov_char": 0}, {"num_words": 20, "oov_char": None},
        {"start_char": None}, {"start_char": None, "index_from": 0, "num_words": 9}, {"maxlen": 4}, {"seed": 7},
        {"start_char": 4, "index_from": 10}]


def imdb_archive():
    def array(lists):
        objects = numpy.empty(len(lists), object)
        objects[:] = lists
        return objects
    path = pathlib.Path(tempfile.mkdtemp()) / "imdb.npz"
    numpy.savez_compressed(path, x_train=array(REVIEWS), y_train=numpy.arange(6) % 2, x_test=array(REVIEWS[1:4]),
                           y_test=numpy.array([1, 0, 1]))
    return path


def imdb(path, options):
    """The elements of both splits."""
    from keras.src.datasets import imdb as module
    module.get_file = lambda *_, **__: str(path)
    splits = module.load_data(**options)
    return {"options": {name: False if value is None else value for name, value in options.items()},
            "splits": {name: [[list(map(int, x)), int(y)] for x, y in zip(*split)]
                       for name, split in zip(("train", "test"), splits)}}


def main():
    for name, make in PIPELINES.items():
        case("pipelines", name, pipeline, make, name)
    for name, make in SIZES.items():
        case("sizes", name, lambda: {"size": False if (size := size_of(make())) is None else size})
    for name, make in REDUCED.items():
        case("reduced", name, lambda: {"class": "reduce", "state": [x.numpy() for x in tf.nest.flatten(make())]})
    for name, holds in facts().items():
        case("facts", name, lambda: {"holds": bool(holds)})
    for (call, arguments), inputs, function in FUNCTIONS:
        shapes = [list(value) if isinstance(value, tuple) else f"{value.dtype}{list(value.shape)}" for value in inputs]
        pure = ", pure colours" if inputs[0] is PURE else ""
        name = titled(call, {"arguments": arguments, "of": shapes}) + pure
        case("functions", name, image_function, call, arguments, inputs, function)
    for name, arguments, example, function in RANDOM:
        case("random_images", titled(name, {"arguments": arguments, "of": example.dtype.name}), moments, name,
             arguments, example, function)
    path = imdb_archive()
    case("archives", "imdb.npz", lambda: {"file": path.read_bytes()})
    for options in IMDB:
        case("reviews", titled("imdb", options), imdb, path, options)
    write(__file__)


if __name__ == "__main__":
    main()
