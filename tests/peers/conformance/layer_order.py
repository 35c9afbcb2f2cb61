"""The order of model.layers and model.weights: drawn graphs of layers, with shared ones, several inputs and outputs,
operators, and models in models. A graph is described by a list of calls, from which both sides make it."""

from values import case, keras, write
import values

WIDTH = 3


def drawn_graph(name, depth):
    """Calls are {what, name or number, arguments}; values are counted from 1, the inputs first. Each value is used,
    because gpubench leaves out layers that no output needs, also those of a model inside."""
    integer = lambda low, high: int(values.random.integers(low, high))
    graph = {"inputs": integer(1, 4), "models": [], "calls": []}
    if depth > 0:
        graph["models"] = [drawn_graph(f"{name}m{i}_", depth - 1) for i in range(integer(1, 3))]
    count, made, used = graph["inputs"], [], set()

    def call(what, which, arguments):
        nonlocal count
        used.update(arguments)
        graph["calls"].append([what, which, arguments])
        count += len(graph["models"][which - 1]["outputs"]) if what == "model" else 1

    def some(number):
        return [int(one) for one in values.random.integers(1, count + 1, number)]

    for step in range(integer(4, 10)):
        what = integer(0, 10)
        if what < 4 or (what < 6 and not made):
            made.append(f"{name}dense{step}")
            call("dense", made[-1], some(1))
        elif what < 6:
            call("dense", made[integer(0, len(made))], some(1))
        elif what < 7:
            call("add", f"{name}add{step}", some(integer(2, 4)))
        elif what < 8 or not graph["models"]:
            call("plus", "", some(2))
        else:
            which = integer(1, len(graph["models"]) + 1)
            call("model", which, some(graph["models"][which - 1]["inputs"]))
    for index in range(1, len(graph["models"]) + 1):
        call("model", index, some(graph["models"][index - 1]["inputs"]))
    for value in range(1, graph["inputs"] + 1):
        if value not in used:
            call("dense", f"{name}end{value}", [value])
    graph["outputs"] = [value for value in range(1, count + 1) if value not in used]
    values.random.shuffle(graph["outputs"])
    graph["outputs"] = list(map(int, graph["outputs"]))
    return graph


def model_of(graph, name):
    inputs = [keras.Input((WIDTH,), name=f"{name}input{i + 1}") for i in range(graph["inputs"])]
    models = [model_of(inner, f"{name}m{i}_") for i, inner in enumerate(graph["models"])]
    made, layers = list(inputs), {}
    for what, which, arguments in graph["calls"]:
        given = [made[argument - 1] for argument in arguments]
        if what == "dense":
            layers.setdefault(which, keras.layers.Dense(WIDTH, name=which))
            made.append(layers[which](given[0]))
        elif what == "add":
            made.append(keras.layers.Add(name=which)(given))
        elif what == "plus":
            made.append(given[0] + given[1])
        else:
            outputs = models[which - 1](given if len(given) > 1 else given[0])
            made += outputs if isinstance(outputs, list) else [outputs]
    outputs = [made[output - 1] for output in graph["outputs"]]
    return keras.Model(inputs, outputs if len(outputs) > 1 else outputs[0], name=name + "model")


def listed(model, inner=False):
    names = []
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            names += listed(layer, True)
        elif not (inner and isinstance(layer, keras.layers.InputLayer)):
            names.append(layer.name)
    return names


def order(depth=None, graph=None):
    graph = graph or drawn_graph("", depth)
    model = model_of(graph, "")
    return {"graph": graph, "layers": listed(model), "weights": [weight.path for weight in model.weights]}


def graph_of(inputs, calls, outputs, models=()):
    return {"inputs": inputs, "models": list(models), "calls": calls, "outputs": outputs}


def dense(name, argument):
    return ["dense", name, [argument]]


SHORT_AND_LONG = [dense("a", 1), dense("b", 2), dense("c", 1), dense("d", 5), ["add", "sum", [6, 4, 3]]]
case("order", "the long way first", order, graph=graph_of(2, SHORT_AND_LONG, [7]))
case("order", "an input that is read late", order,
     graph=graph_of(2, [dense("a", 1), dense("b", 3), ["add", "sum", [2, 4]]], [5]))
case("order", "inputs in another order", order, graph=graph_of(3, [["add", "sum", [3, 1, 2]]], [4]))
case("order", "a shared layer at two depths", order,
     graph=graph_of(1, [dense("a", 1), dense("b", 2), dense("c", 3), dense("a", 1), ["add", "sum", [4, 5]],
                        dense("b", 6)], [7]))
INNER = graph_of(1, [dense("m0_a", 1), dense("m0_b", 2), dense("m0_c", 1), ["add", "m0_sum", [4, 3]]], [5])
case("order", "a model beside a layer", order,
     graph=graph_of(1, [dense("a", 1), ["model", 1, [1]], dense("b", 2), ["add", "sum", [4, 3]]], [5], [INNER]))
case("order", "a model twice", order,
     graph=graph_of(2, [["model", 1, [2]], dense("a", 1), ["model", 1, [4]], ["add", "sum", [3, 5]]], [6], [INNER]))
for index in range(24):
    case("order", f"drawn, {index + 1}", order, index % 3)

write(__file__)
