"""The arguments of Keras' constructors that may stand without their names, in their order."""

import inspect

from values import case, keras, write

MODULES = {"callbacks": keras.callbacks, "constraints": keras.constraints, "initializers": keras.initializers,
           "losses": keras.losses, "metrics": keras.metrics, "optimizers": keras.optimizers,
           "regularizers": keras.regularizers, "schedules": keras.optimizers.schedules}


def positions(made):
    parameters = list(inspect.signature(made.__init__).parameters.values())[1:]
    names = [one.name for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD]
    required = sum(one.default is one.empty for one in parameters if one.kind == one.POSITIONAL_OR_KEYWORD)
    return {"class": made.__name__, "positions": names, "required": required}


for module, members in MODULES.items():
    for name, made in sorted(vars(members).items()):
        if inspect.isclass(made) and name == made.__name__:
            case(module, name, positions, made)

write(__file__)
