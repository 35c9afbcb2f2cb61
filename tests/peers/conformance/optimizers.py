"""Optimizers: a kernel and a bias after each of some steps with drawn gradients; and schedules of the learning rate."""

from values import case, drawn, keras, numpy, text, tf, titled, write

FAST, MOMENTUM = {"learning_rate": 0.1}, {"momentum": 0.9}

INFINITE, NAN = float("inf"), float("nan")

# Class, options, and what else: a schedule in place of the learning rate; variables that do not decay; the optimizer
# that is wrapped; and by the number of a step: a learning rate that is set before it, a number that stands among its
# gradients, the number of a variable that has no gradient, a factor of its gradients.
OPTIMIZERS = [
    ("SGD", {}, {}),
    ("SGD", FAST, {}),
    ("SGD", FAST | {"weight_decay": 0.1}, {}),
    ("SGD", FAST | MOMENTUM, {}),
    ("SGD", FAST | MOMENTUM | {"nesterov": True}, {}),
    ("SGD", FAST | MOMENTUM | {"weight_decay": 0.1}, {}),
    ("SGD", FAST | {"clipnorm": 1.0}, {}),
    ("SGD", FAST | {"clipvalue": 0.4}, {}),
    ("SGD", FAST | MOMENTUM | {"global_clipnorm": 1.0}, {}),
    ("SGD", FAST | MOMENTUM | {"nesterov": True, "weight_decay": 0.05, "clipvalue": 0.3}, {}),
    ("SGD", FAST | MOMENTUM | {"nesterov": True, "global_clipnorm": 0.5}, {}),
    ("SGD", FAST | MOMENTUM | {"weight_decay": 0.1}, {"exclude": ["bias"]}),
    ("SGD", FAST | MOMENTUM, {"rates": {3: 0.01, 5: 0.2}}),
    ("SGD", FAST | MOMENTUM | {"weight_decay": 0.1}, {"absent": {2: 1, 3: 0}}),
    ("SGD", FAST | {"clipnorm": 1.0}, {"factors": {2: 0.0, 3: 100.0}}),
    ("SGD", FAST | {"global_clipnorm": 1.0}, {"factors": {2: 0.0, 3: 100.0}}),
    ("Adam", {}, {}),
    ("Adam", FAST | {"beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.001}, {}),
    ("Adam", FAST | {"beta_1": 0.0}, {}),
    ("Adam", FAST | {"weight_decay": 0.1}, {}),
    ("Adam", FAST | {"global_clipnorm": 0.5}, {}),
    ("Adam", {"learning_rate": 0.05, "weight_decay": 0.1, "global_clipnorm": 0.7}, {}),
    ("Adam", FAST | {"clipvalue": 0.3}, {}),
    ("Adam", FAST | {"clipnorm": 0.5}, {}),
    ("Adam", FAST, {"rates": {3: 0.01}}),
    ("Adam", FAST, {"factors": {1: 0.0, 3: 1e-4, 5: 1e4}}),
    ("Adam", FAST | {"amsgrad": True}, {}),
    ("Adam", FAST | {"use_ema": True, "ema_momentum": 0.5}, {}),
    ("AdamW", {}, {}),
    ("AdamW", FAST, {}),
    ("AdamW", FAST | {"clipvalue": 0.3, "beta_1": 0.7}, {}),
    ("AdamW", FAST | {"global_clipnorm": 0.5}, {}),
    ("AdamW", FAST | {"weight_decay": 0.1}, {"absent": {2: 1, 3: 0}}),
    ("AdamW", FAST | {"weight_decay": 0.1, "clipnorm": 0.5}, {}),
    ("AdamW", FAST | {"weight_decay": 0.1}, {"exclude": ["bias"]}),
    ("RMSprop", {}, {}),
    ("RMSprop", FAST | {"rho": 0.8, "epsilon": 0.001}, {}),
    ("RMSprop", FAST | MOMENTUM, {}),
    ("RMSprop", FAST | MOMENTUM | {"centered": True}, {}),
    ("RMSprop", FAST | {"clipnorm": 0.5}, {}),
    ("RMSprop", FAST | {"centered": True}, {}),
    ("RMSprop", FAST | MOMENTUM | {"clipvalue": 0.3}, {}),
    ("RMSprop", FAST | {"global_clipnorm": 0.5}, {}),
    ("RMSprop", FAST | MOMENTUM, {"absent": {2: 1, 3: 0}}),
    ("RMSprop", FAST | {"weight_decay": 0.1}, {}),
    ("Lion", {}, {}),
    ("Lion", FAST, {}),
    ("Lion", FAST | {"beta_1": 0.8, "beta_2": 0.9, "weight_decay": 0.1}, {}),
    ("Lion", {"learning_rate": 0.05, "clipnorm": 0.4, "weight_decay": 0.2}, {}),
    ("Lion", FAST | {"clipvalue": 0.3}, {}),
    ("Lion", FAST | {"global_clipnorm": 0.5, "beta_1": 0.5}, {}),
    ("Lion", FAST | {"weight_decay": 0.2}, {"exclude": ["kernel"]}),
    ("Lion", FAST, {"absent": {2: 1, 3: 0}, "factors": {4: 0.0}}),
    ("SGD", {}, {"schedule": ("CosineDecay", [], {"initial_learning_rate": 0.1, "decay_steps": 4, "alpha": 0.1})}),
    ("SGD", {}, {"schedule": ("ExponentialDecay", [], {
        "initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5})}),
    ("SGD", {}, {"schedule": ("PolynomialDecay", [], {"initial_learning_rate": 0.1, "decay_steps": 3, "power": 2.0})}),
    ("SGD", MOMENTUM, {"schedule": ("PiecewiseConstantDecay", [[1, 3], [0.1, 0.01, 0.001]], {})}),
    ("Adam", {}, {"schedule": ("ExponentialDecay", [], {
        "initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5, "staircase": True})}),
    ("AdamW", {"weight_decay": 0.1}, {"schedule": ("CosineDecay", [], {
        "initial_learning_rate": 0.0, "decay_steps": 4, "warmup_target": 0.1, "warmup_steps": 2})}),
    ("RMSprop", {}, {"schedule": ("CosineDecay", [], {"initial_learning_rate": 0.1, "decay_steps": 5})}),
    ("Lion", {"weight_decay": 0.1}, {"schedule": ("PiecewiseConstantDecay", [[2], [0.1, 0.01]], {})}),
    ("SGD", MOMENTUM | {"nesterov": True}, {"schedule": ("PolynomialDecay", [], {
        "initial_learning_rate": 0.1, "decay_steps": 2, "cycle": True})}),
    ("Adam", {"weight_decay": 0.1}, {"schedule": ("PolynomialDecay", [], {
        "initial_learning_rate": 0.1, "decay_steps": 10, "end_learning_rate": 0.01})}),
    ("LossScaleOptimizer", {"initial_scale": 4.0, "dynamic_growth_steps": 2}, {
        "inner": ("Adam", FAST), "among": {3: INFINITE}}),
    ("LossScaleOptimizer", {"initial_scale": 8.0}, {"inner": ("SGD", FAST | MOMENTUM), "among": {1: INFINITE}}),
    ("LossScaleOptimizer", {"initial_scale": 64.0, "dynamic_growth_steps": 3}, {
        "inner": ("AdamW", FAST), "among": {2: INFINITE, 3: NAN, 6: -INFINITE, 7: NAN}, "count": 11}),
    ("LossScaleOptimizer", {"initial_scale": 16.0, "dynamic_growth_steps": 1}, {
        "inner": ("RMSprop", FAST | {"global_clipnorm": 0.5}), "among": {4: NAN}}),
    ("LossScaleOptimizer", {"initial_scale": 2.0}, {
        "inner": ("Lion", FAST), "among": {1: NAN, 2: INFINITE, 3: NAN}}),
]


def schedule_of(kind, arguments, options):
    return getattr(keras.optimizers.schedules, kind)(*arguments, **options)


def steps(kind, options, schedule=None, exclude=None, inner=None, among={}, rates={}, absent={}, factors={}, count=5):
    """`scales`: the loss scale behind each step. Keras' LossScaleOptimizer takes gradients of the scaled loss."""
    made = dict(options)
    if schedule:
        made["learning_rate"] = schedule_of(*schedule)
    wrapped = [getattr(keras.optimizers, inner[0])(**inner[1])] if inner else []
    optimizer = getattr(keras.optimizers, kind)(*wrapped, **made)
    if exclude:
        optimizer.exclude_from_weight_decay(var_names=exclude)
    start, gradients = [drawn(3, 2), drawn(2)], [[drawn(3, 2), drawn(2)] for _ in range(count)]
    for step, factor in factors.items():
        gradients[step - 1] = [numpy.float32(factor) * gradient for gradient in gradients[step - 1]]
    for step, number in among.items():
        gradients[step - 1][1][0] = number
    for step, index in absent.items():
        gradients[step - 1][index] = False
    variables = [keras.Variable(values, name=name) for values, name in zip(start, ("kernel", "bias"))]
    optimizer.build(variables)
    after, scales = [], []
    for number, step in enumerate(gradients, 1):
        scale = float(optimizer.dynamic_scale) if inner else 1.0
        if number in rates:
            optimizer.learning_rate = rates[number]
        optimizer.apply_gradients([(None if gradient is False else tf.constant(scale * gradient), to)
                                   for gradient, to in zip(step, variables)])
        after.append([variable.numpy() for variable in variables])
        scales += [float(optimizer.dynamic_scale)] if inner else []
    finalized = None
    if options.get("use_ema"):
        optimizer.finalize_variable_values(variables)
        finalized = [variable.numpy() for variable in variables]
    return {"class": kind, "options": options, "finalized": finalized, "exclude": exclude, "rates": rates or None,
            "schedule": schedule and dict(zip(("class", "arguments", "options"), schedule)),
            "inner": inner and dict(zip(("class", "options"), inner)), "start": start, "gradients": gradients,
            "after": after, "scales": scales if inner else None}


# Class, arguments, options, steps.
SCHEDULES = [
    ("CosineDecay", [0.01, 10], {"alpha": 0.1, "warmup_target": 0.1, "warmup_steps": 5}, [0, 1, 3, 5, 7, 12, 15, 20]),
    ("CosineDecay", [0.1, 7], {"alpha": 0.25}, [0, 1, 6, 7, 8, 100]),
    ("CosineDecay", [0.01, 5], {"warmup_target": 0.2, "warmup_steps": 3, "alpha": 0.1}, [0, 1, 2, 3, 4, 7, 8, 9, 50]),
    ("ExponentialDecay", [0.5, 4, 0.3], {"staircase": True}, [0, 3, 4, 5, 7, 8, 12]),
    ("ExponentialDecay", [0.5, 4, 0.3], {}, [0, 1, 4, 9]),
    ("PolynomialDecay", [0.1, 10], {"end_learning_rate": 0.01, "power": 2.0}, [0, 1, 3, 8, 10, 20]),
    ("PolynomialDecay", [0.1, 4], {"cycle": True}, [0, 1, 3, 4, 5, 7, 8, 12, 20]),
    ("PolynomialDecay", [0.1, 4], {"cycle": True, "end_learning_rate": 0.01, "power": 0.5}, [0, 3, 4, 5, 8, 9, 12, 16]),
    ("PolynomialDecay", [0.1, 5], {"power": 3.0, "end_learning_rate": 0.02}, [0, 4, 5, 6, 99]),
    ("PiecewiseConstantDecay", [[3, 7], [0.1, 0.01, 0.001]], {}, [0, 3, 4, 7, 8, 20]),
    ("PiecewiseConstantDecay", [[2, 5, 9], [1.0, 0.5, 0.25, 0.125]], {}, [0, 2, 3, 5, 6, 9, 10]),
    ("CosineDecay", [0.1, 5], {}, [0, 1, 4, 5, 6]),
    ("CosineDecay", [0.0, 4], {"warmup_target": 0.1, "warmup_steps": 2}, [0, 1, 2, 3, 6, 7]),
    ("ExponentialDecay", [0.1, 1, 0.5], {}, [0, 1, 2, 10]),
    ("ExponentialDecay", [0.1, 5, 2.0], {}, [0, 1, 5, 12]),
    ("PolynomialDecay", [0.1, 10], {}, [0, 1, 9, 10, 11]),
    ("PolynomialDecay", [0.01, 4], {"end_learning_rate": 0.1}, [0, 1, 4, 5]),
    ("PolynomialDecay", [0.1, 4], {"power": 0.5, "end_learning_rate": 0.0}, [0, 1, 3, 4, 5]),
    ("PiecewiseConstantDecay", [[1], [1.0, 0.1]], {}, [0, 1, 2]),
    ("PiecewiseConstantDecay", [[0, 1], [1.0, 0.5, 0.25]], {}, [0, 1, 2]),
]


def rates(kind, arguments, options, at):
    schedule = schedule_of(kind, arguments, options)
    return {"class": kind, "arguments": arguments, "options": options, "steps": at,
            "rates": [float(schedule(step)) for step in at]}


def main():
    for kind, options, more in OPTIMIZERS:
        words = [titled(more["schedule"][0], more["schedule"][2])] if "schedule" in more else []
        words += [titled(*more["inner"])] if "inner" in more else []
        words += [f"without decay of the {name}" for name in more.get("exclude", [])]
        words += [text({name: more[name]})[1:-1] for name in ("rates", "among", "absent", "factors") if name in more]
        case("optimizers", titled(kind, options, " ".join(words)), steps, kind, options, **more)
    for kind, arguments, options, at in SCHEDULES:
        case("schedules", titled(kind, {"arguments": arguments} | options), rates, kind, arguments, options, at)
    write(__file__)


if __name__ == "__main__":
    main()
