"""Optimizers and schedules beside those of optimizers.py: other rules, averages of weights, restarts."""

from optimizers import FAST, INFINITE, MOMENTUM, NAN, rates, steps
from values import case, text, titled, write

EMA = {"use_ema": True, "ema_momentum": 0.5}

# As in optimizers.py.
OPTIMIZERS = [
    ("Adagrad", {}, {}),
    ("Adagrad", FAST | {"initial_accumulator_value": 0.0, "epsilon": 0.001}, {}),
    ("Adagrad", FAST | {"weight_decay": 0.1}, {"exclude": ["bias"]}),
    ("Adagrad", FAST | {"clipnorm": 0.5}, {}),
    ("Adagrad", FAST, {"absent": {2: 1, 3: 0}, "rates": {3: 0.01}}),
    ("Adagrad", {}, {"schedule": ("InverseTimeDecay", [], {
        "initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5})}),
    ("Adadelta", {}, {}),
    ("Adadelta", {"learning_rate": 1.0}, {}),
    ("Adadelta", {"learning_rate": 1.0, "rho": 0.8, "epsilon": 0.001, "weight_decay": 0.01}, {}),
    ("Adadelta", {"learning_rate": 1.0, "global_clipnorm": 0.5}, {"factors": {2: 0.0, 3: 100.0}}),
    ("Adamax", {}, {}),
    ("Adamax", FAST | {"beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.001}, {}),
    ("Adamax", FAST | {"weight_decay": 0.1, "clipvalue": 0.3}, {}),
    ("Adamax", FAST, {"absent": {2: 1, 3: 0}, "factors": {4: 0.0}}),
    ("Nadam", {}, {}),
    ("Nadam", FAST | {"beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.001}, {}),
    ("Nadam", FAST | {"weight_decay": 0.1}, {"count": 12}),
    ("Nadam", FAST | {"global_clipnorm": 0.5}, {}),
    ("Nadam", FAST, {"absent": {2: 1, 3: 0}}),
    ("Nadam", {}, {"schedule": ("CosineDecayRestarts", [], {"initial_learning_rate": 0.1, "first_decay_steps": 2})}),
    ("Adam", {"amsgrad": True}, {}),
    ("Adam", FAST | {"amsgrad": True, "beta_2": 0.5, "weight_decay": 0.1}, {"factors": {3: 0.0, 4: 0.1}}),
    ("AdamW", FAST | {"amsgrad": True, "clipnorm": 0.5}, {}),
    ("RMSprop", FAST | MOMENTUM | {"centered": True, "weight_decay": 0.1}, {"exclude": ["bias"]}),
    ("RMSprop", FAST | MOMENTUM | {"weight_decay": 0.1}, {}),
    ("SGD", FAST | EMA, {}),
    ("SGD", FAST | MOMENTUM | EMA | {"ema_overwrite_frequency": 2}, {}),
    ("Nadam", FAST | EMA | {"ema_overwrite_frequency": 1}, {}),
    ("Adam", FAST | {"use_ema": True, "ema_overwrite_frequency": 3}, {"absent": {1: 1, 3: 0}}),
    ("LossScaleOptimizer", {"initial_scale": 4.0}, {"inner": ("Nadam", FAST), "among": {1: INFINITE, 3: NAN}}),
    ("LossScaleOptimizer", {"initial_scale": 4.0}, {"inner": ("Adagrad", FAST), "among": {2: INFINITE}}),
]

SCHEDULES = [
    ("CosineDecayRestarts", [0.1, 4], {}, [0, 1, 3, 4, 5, 11, 12, 13, 27, 28, 50]),
    ("CosineDecayRestarts", [0.1, 3], {"t_mul": 1.0, "m_mul": 0.5, "alpha": 0.1}, [0, 1, 2, 3, 4, 6, 8, 9, 30]),
    ("CosineDecayRestarts", [0.5, 5], {"t_mul": 1.5, "m_mul": 0.9}, [0, 4, 6, 10, 14, 22, 23, 40, 100]),
    ("InverseTimeDecay", [0.1, 4, 0.5], {}, [0, 1, 4, 5, 100]),
    ("InverseTimeDecay", [0.1, 4, 0.5], {"staircase": True}, [0, 3, 4, 7, 8, 100]),
    ("InverseTimeDecay", [1.0, 1, 0.0], {}, [0, 1, 100]),
]


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
