"""Functions of tensors that keras.ops has: results, and gradients of the sum of the squares of all results. Their
calls in gpubench are in functions_test.lua."""

from values import case, keras, numpy, tf, titled, drawn, write

ops = keras.ops
X, WIDE, CUBE = (2, 3), (3, 5), (2, 3, 4)
ZEROS = numpy.array([[0.5, 0, -2], [3, 1.5, 2]], numpy.float32)
TIES = numpy.array([[1, 3, 3, -2, 1], [2, 2, 0, 5, 2]], numpy.float32)
WHOLE = numpy.array([[3, -1, 2, 3], [0, 7, -7, 0]])
ANGLES = numpy.array([-1000.5, -3, -0.5, 0, 1e-4, 2, 40000.25], numpy.float32)
LARGE = numpy.array([[1e4, 1e4 + 1, 1e4 - 2], [-1e4, -1e4, 80]], numpy.float32)
LOST = numpy.array([[-numpy.inf, -numpy.inf], [numpy.inf, 1]], numpy.float32)
PLACES, ROWS = numpy.array([[1, 2], [0, 0], [1, 0]]), numpy.array([[2], [0]])
TWICE = numpy.array([[1], [3], [1]])
COLUMNS = numpy.array([[2, 0], [1, 1]])
BOOLS = numpy.array([[True, False], [True, True]])


def updated(x, updates, before):
    """What slice_update computes, which has no gradient in TensorFlow; the places behind are as many as are left."""
    around = [[b, n - b - u] for b, n, u in zip(before, x.shape, updates.shape)]
    return x * (1 - tf.pad(tf.ones_like(updates), around)) + tf.pad(updates, around)


# Call, arguments behind the inputs, inputs (shapes are drawn), what Keras computes, and what tells cases apart.
FUNCTIONS = [
    ("sin", [], [ANGLES], ops.sin), ("cos", [], [ANGLES], ops.cos), ("tan", [], [X], ops.tan),
    ("arctan", [], [ANGLES], ops.arctan), ("expm1", [], [X], ops.expm1),
    ("expm1", [], [numpy.array([-1e-6, 1e-6, -30, 0], numpy.float32)], ops.expm1, "near zero"),
    ("log1p", [], [numpy.array([-0.5, 1e-6, 0, 100, 3e8], numpy.float32)], ops.log1p),
    ("pow", [3.0], [X], lambda x: ops.power(x, 3.0)), ("pow", [], [TIES, TIES], lambda a, b: ops.power(a, b)),
    ("stop_gradient", [], [X], lambda x: ops.stop_gradient(x) * x, "times itself"),
    ("broadcast_to", [[2, 2, 3]], [X], lambda x: ops.broadcast_to(x, (2, 2, 3))),
    ("broadcast_to", [[3, 4]], [(3, 1)], lambda x: ops.broadcast_to(x, (3, 4))),
    ("split", [3, 1], [(2, 6)], lambda x: ops.split(x, 3, 1)), ("split", [2], [(4, 2)], lambda x: ops.split(x, 2)),
    ("split", [[1, 3], -1], [WIDE], lambda x: ops.split(x, [1, 3], -1)),
    ("unstack", [1], [X], lambda x: ops.unstack(x, axis=1)), ("unstack", [], [X], ops.unstack),
    ("roll", [1], [X], lambda x: ops.roll(x, 1)), ("roll", [-2, 1], [WIDE], lambda x: ops.roll(x, -2, 1)),
    ("roll", [[1, 7], [0, 1]], [WIDE], lambda x: ops.roll(x, (1, 7), (0, 1))),
    ("roll", [1, 0], [WHOLE], lambda x: ops.roll(x, 1, 0)),
    ("repeated", [2], [X], lambda x: ops.repeat(x, 2)), ("repeated", [3, 0], [X], lambda x: ops.repeat(x, 3, 0)),
    ("repeated", [[2, 0, 1], 1], [X], lambda x: ops.repeat(x, [2, 0, 1], 1)),
    ("prod", [], [X], ops.prod), ("prod", [1], [ZEROS], lambda x: ops.prod(x, 1)),
    ("prod", [[0, 2], True], [CUBE], lambda x: ops.prod(x, (0, 2), keepdims=True)),
    ("prod", [-1], [(2, 7)], lambda x: ops.prod(x, -1)), ("prod", [0], [WHOLE], lambda x: ops.prod(x, 0)),
    ("cumprod", [1], [WIDE], lambda x: ops.cumprod(x, 1)), ("cumprod", [], [X], lambda x: ops.cumprod(x, 0)),
    ("cumprod", [1, True], [X], lambda x: tf.math.cumprod(x, 1, reverse=True)),
    ("cumprod", [1], [WHOLE], lambda x: ops.cumprod(x, 1)),
    ("logsumexp", [], [X], ops.logsumexp), ("logsumexp", [1], [LARGE], lambda x: ops.logsumexp(x, 1)),
    ("logsumexp", [[0, 2], True], [CUBE], lambda x: ops.logsumexp(x, (0, 2), keepdims=True)),
    ("tril", [], [WIDE], ops.tril), ("tril", [-1], [(2, 3, 3)], lambda x: ops.tril(x, -1)),
    ("triu", [1], [WIDE], lambda x: ops.triu(x, 1)), ("triu", [], [WHOLE], ops.triu),
    ("tril", [], [BOOLS], lambda x: ops.tril(x)),
    ("pad", [[[1, 2], [0, 1]], "reflect"], [(3, 4)], lambda x: ops.pad(x, ((1, 2), (0, 1)), "reflect")),
    ("pad", [[[2, 3], [4, 0]], "symmetric"], [(3, 4)], lambda x: ops.pad(x, ((2, 3), (4, 0)), "symmetric")),
    ("pad", [1, "constant"], [X], lambda x: ops.pad(x, ((1, 1), (1, 1)))),
    ("pad", [[[1, 2]]], [X], lambda x: ops.pad(x, ((1, 2), (1, 2)))),
    ("pad", [[[1, 1], [2, 1]], "reflect"], [WHOLE[:, :3]], lambda x: ops.pad(x, ((1, 1), (2, 1)), "reflect")),
    ("sort", [], [TIES], ops.sort), ("sort", [0], [WIDE], lambda x: ops.sort(x, 0)), ("sort", [], [WHOLE], ops.sort),
    ("sort", [1], [CUBE], lambda x: ops.sort(x, 1)), ("argsort", [], [TIES], ops.argsort),
    ("argsort", [0], [WIDE], lambda x: ops.argsort(x, 0)), ("argsort", [], [WHOLE], ops.argsort),
    ("top_k", [3], [TIES], lambda x: ops.top_k(x, 3)), ("top_k", [1], [CUBE], lambda x: ops.top_k(x, 1)),
    ("top_k", [2], [WHOLE], lambda x: ops.top_k(x, 2)), ("top_k", [5], [WIDE], lambda x: ops.top_k(x, 5)),
    ("slice", [[0, 1], [2, 2]], [WIDE], lambda x: ops.slice(x, (0, 1), (2, 2))),
    ("slice_at", [[2, 1]], [WIDE, numpy.array([1, 3])], lambda x, at: ops.slice(x, at, (2, 1))),
    ("slice_at", [[1, 3, 4]], [CUBE, numpy.array([1, 0, 0])], lambda x, at: ops.slice(x, at, (1, 3, 4))),
    ("slice_from", [[2, 1, 4]], [CUBE, numpy.array(2)], lambda x, t: ops.slice(x, (0, t, 0), (2, 1, 4))),
    ("slice_update", [[1, 2]], [WIDE, (2, 3)], lambda x, u: updated(x, u, (1, 2))),
    ("slice_update_at", [], [CUBE, numpy.array([0, 2, 0]), (2, 1, 4)], lambda x, at, u: updated(x, u, (0, 2, 0))),
    ("slice_update", [[0, 1]], [WHOLE, numpy.array([[5], [6]])], lambda x, u: ops.slice_update(x, (0, 1), u)),
    ("scatter", [[2, 3]], [PLACES, (3,)], lambda i, v: ops.scatter(i, v, (2, 3))),
    ("scatter", [[4, 2]], [TWICE, (3, 2)], lambda i, v: ops.scatter(i, v, (4, 2))),
    ("scatter", [[3, 2, 2]], [ROWS, (2, 2, 2)], lambda i, v: ops.scatter(i, v, (3, 2, 2))),
    ("scatter_update", [], [X, PLACES, (3,)], lambda x, i, u: ops.scatter_update(x, i, u)),
    ("scatter_update", [], [(4, 2), ROWS, (2, 2)], lambda x, i, u: ops.scatter_update(x, i, u)),
    ("scatter_update", [], [numpy.array([1, 2, 3, 4]), TWICE, numpy.array([7, 8, 9])],
     lambda x, i, u: ops.scatter_update(x, i, u), "the last stays"),
    ("scatter_update", [{"reduction": "add"}], [(4, 2), TWICE, (3, 2)],
     lambda x, i, u: ops.scatter_update(x, i, u, reduction="add")),
    ("take_along_axis", [1], [X, COLUMNS], lambda x, i: ops.take_along_axis(x, i, 1)),
    ("take_along_axis", [0], [(3, 2), COLUMNS], lambda x, i: ops.take_along_axis(x, i, 0)),
    ("take_along_axis", [], [X, numpy.array([5, 0, 5])], ops.take_along_axis),
    ("take_along_axis", [-1], [CUBE, numpy.array([[[3], [0], [1]]])], lambda x, i: ops.take_along_axis(x, i, -1)),
    ("one_hot", [4], [numpy.array([[0, 3], [2, 1]])], lambda x: ops.one_hot(x, 4)),
    ("arange", [2, 11, 3], [], lambda: ops.arange(2, 11, 3)), ("arange", [5], [], lambda: ops.arange(5)),
    ("arange", [3, -2, -1], [], lambda: ops.arange(3, -2, -1)),
    ("arange", [0.5, 2.0, 0.25], [], lambda: ops.arange(0.5, 2.0, 0.25)),
    ("linspace", [0, 1, 5], [], lambda: ops.linspace(0.0, 1.0, 5)),
    ("linspace", [2, -2, 4, False], [], lambda: ops.linspace(2.0, -2.0, 4, endpoint=False)),
    ("linspace", [3, 9, 1], [], lambda: ops.linspace(3.0, 9.0, 1)), ("linspace", [0, 1], [], lambda: ops.linspace(
        0.0, 1.0)),
    # Of [2, 4, 1], Keras on TensorFlow gives [3, 5]; on JAX and NumPy, the [2, 4] of NumPy.
    ("eye", [3], [], lambda: ops.eye(3)),
    ("eye", [2, 4, 1], [], lambda: tf.constant(numpy.eye(2, 4, 1, numpy.float32))),
    ("eye", [3, 2, -1], [], lambda: ops.eye(3, 2, -1)),
]

EQUATIONS = [
    ("ij,jk->ik", X, (3, 4)), ("bij,bjk->bik", CUBE, (2, 4, 2)), ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
    ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)), ("bsd,de->bse", CUBE, (4, 2)), ("abc,cd->abd", CUBE, (4, 2)),
    ("abc,dbc->ad", CUBE, (3, 3, 4)), ("i,j->ij", (3,), (4,)), ("i,i->", (5,), (5,)), ("ij->ji", X), ("ij->", X),
    ("ij->j", X), ("ij,ij->ij", X, X), ("bi,bi->b", X, X), ("ij,jk", X, (3, 4)), ("ba", X),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 2)), ("...i,i->...", CUBE, (4,)), ("bi,io,bo->b", X, (3, 4), (2, 4)),
    ("ij,kl->il", X, (4, 2)), ("ij, jk -> ki", X, (3, 4)), ("nchw,oc->nohw", (1, 3, 2, 2), (4, 3)),
    ("ij,ij->i", numpy.array([[1, 2], [3, 4]], numpy.float32), X[:1] + (2,)),
    ("i,j->ij", numpy.array([1, 2, 3]), numpy.array([4, 5])),
]


def listed(output):
    return list(output) if isinstance(output, (tuple, list)) else [output]


def function_of(call, arguments, inputs, function):
    """The outputs, and gradients of the sum of their squares by the inputs that have one."""
    values = [drawn(*value) if isinstance(value, tuple) else value for value in inputs]
    given = [tf.constant(value) for value in values]
    sources = [value for value in given if value.dtype.is_floating]
    with tf.GradientTape() as tape:
        for value in sources:
            tape.watch(value)
        outputs = listed(function(*given))
        floating = [tf.reduce_sum(tf.square(one)) for one in outputs if one.dtype.is_floating]
        total = tf.add_n(floating) if floating and sources else None
    gradients = [] if total is None else tape.gradient(total, sources)
    return {"class": call, "arguments": arguments, "inputs": values, "types": [value.dtype.name for value in given],
            "outputs": [one.numpy() for one in outputs],
            "gradients": [False if found is None else tf.convert_to_tensor(found).numpy() for found in gradients]}


def add(call, arguments, inputs, function, *note):
    shapes = [list(value) if isinstance(value, tuple) else f"{value.dtype}{list(value.shape)}" for value in inputs]
    name = titled(call, {"arguments": arguments, "of": shapes}, *note)
    case("functions", name, function_of, call, arguments, inputs, function)


def main():
    for call, arguments, inputs, function, *note in FUNCTIONS:
        add(call, arguments, inputs, function, *note)
    add("logsumexp", [1], [LOST], lambda x: ops.logsumexp(x, 1), "infinite")
    for equation, *inputs in EQUATIONS:
        # Without an arrow the axes of the result are sorted; Keras on TensorFlow renames them before.
        result = ops.einsum if "->" in equation else tf.einsum
        add("einsum", [equation], inputs, lambda *x, equation=equation, result=result: result(equation, *x))
    write(__file__)


if __name__ == "__main__":
    main()
