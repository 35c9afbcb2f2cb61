"""The traces, and the first finding that each must have: its name and kind as `gpubench explain --json` has them, and a
name that its evidence must have."""
import collections

Case = collections.namedtuple("Case", "framework name finding kind named rank", defaults=[None, None, None])

# Nothing to remove: also where gpubench has no finding and says that the trace is healthy.
COMPUTE = ("compute_bound", None)
OPERATORS = ("host_bound", "operators")
PYTHON = ("host_bound", "Python")
RANGE = ("host_bound", "annotation", "augment_and_log")
COMPILE = ("host_bound", "compilation")
SYNC = ("host_bound", "synchronization")
NO_WORKERS = ("input_bound", "no workers")
WORKERS = ("input_bound", "slow workers")
PROCESSING = ("input_bound", "processing")
INPUT = ("input_bound", None)
CANNOT_TELL = ("cannot_tell", None)

# Of several ranks: the rank whose own row must name the cause, which is the late one.
LATE = 1


def of(framework, causes, rank=None):
    return [Case(framework, name, *cause)._replace(rank=rank) for name, cause in causes.items()]


CASES = [
    *of("torch", {
        "products": COMPUTE,
        "products_unmarked": COMPUTE,
        "products_workers": COMPUTE,
        "loader": NO_WORKERS,
        "loader_unmarked": NO_WORKERS,
        "loader_half": NO_WORKERS,
        "collate": NO_WORKERS,
        "workers_2": WORKERS,
        "workers_stack": WORKERS,
        "workers_4": WORKERS,
        "workers_iterable": WORKERS,
        "collate_workers": WORKERS,
        "python": PYTHON,
        "python_half": PYTHON,
        "python_stack": PYTHON,
        "python_busy": PYTHON,
        "python_beside_threads": PYTHON,
        "range": RANGE,
        "range_half": RANGE,
        "small_operators": OPERATORS,
        "small_operators_adam": OPERATORS,
        "small_operators_stack": OPERATORS,
        "recompile": COMPILE,
        "recompile_inductor": COMPILE,
        "one_operator": CANNOT_TELL,
        "start_up": CANNOT_TELL,
        "cut": NO_WORKERS,
        "cut_packed": PYTHON,
    }),
    *of("torch", {"ranks_loader": NO_WORKERS, "ranks_python": PYTHON, "ranks_merged": NO_WORKERS}, LATE),
    *of("keras", {
        "products": COMPUTE,
        "map": PROCESSING,
        "map_prefetch": PROCESSING,
        "generator": PROCESSING,
        "callback": PYTHON,
        "loop": PYTHON,
        "retrace": COMPILE,
        "recompile": COMPILE,
        "small_operators": OPERATORS,
    }),
    *of("jax", {
        "products": COMPUTE,
        "products_unmarked": COMPUTE,
        "recompile": COMPILE,
        "small_operators": OPERATORS,
        "reads": SYNC,
        "input": INPUT,
        "input_unmarked": INPUT,
        "python": PYTHON,
        "python_busy": PYTHON,
        "too_short": CANNOT_TELL,
    }),
]
assert len(CASES) == 50, len(CASES)
