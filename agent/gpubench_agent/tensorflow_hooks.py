"""TensorFlow: calls of `tf.function` mark the steps of hand-written loops; iterators of `tf.data` give the wait where
they are read from Python, and Python functions in a pipeline are timed."""
import sys
import weakref

from . import calls, code, facts, guard, saves, sync
from .clock import now
from .prove import proof
from .recorder import AT_BATCH, AT_PYTHON, TAKEN, WAIT, job
from .window import gives_way_to

SYNCS = ("numpy", "__float__", "__int__", "__index__", "__bool__", "__format__", "__str__", "__repr__", "__array__")

functions = calls.Calls("tensorflow", "tf.function")


def attach_functions(polymorphic):
    where = "tf.function"

    def make(original):
        @guard.like(original)
        def __call__(self, *arguments, **keywords):
            if functions.depth:
                return original(self, *arguments, **keywords)
            known = None
            try:
                known = functions.functions.get(self)
                if known is None:
                    function = self._python_function
                    known = calls.Function(getattr(function, "__name__", "function"), function)
                    functions.functions[self] = known
                functions.enter(known)
                traced = self.experimental_get_tracing_count()
                start = now()
            except Exception as error:
                facts.fault(where, error)
                return original(self, *arguments, **keywords)
            functions.depth = 1
            try:
                result = original(self, *arguments, **keywords)
            finally:
                functions.depth = 0
            try:
                end = now()
                functions.leave(known, start, end, self.experimental_get_tracing_count() != traced, arguments, keywords)
            except Exception as error:
                facts.fault(where, error)
            return result
        return __call__

    guard.install(where, polymorphic.Function, "__call__", make)


def attach_gradients(backprop):
    def after(_, __, ___, ____, _____):
        functions.gradient(sys._getframe(2))

    guard.around("GradientTape.gradient", backprop.GradientTape, "gradient", after=after)


# Datasets

_made_at = weakref.WeakKeyDictionary()  # dataset: (file, line)
reported = []  # weak references to datasets whose facts were written
AUTOTUNE = -1


def number(dataset, name):
    """`AUTOTUNE`, a number, or None if the graph alone knows it."""
    value = getattr(dataset, name, None)
    try:
        value = int(value)
        return "AUTOTUNE" if value == AUTOTUNE else value
    except Exception:
        return None


def map_function(dataset):
    wrapper = getattr(dataset, "_map_func", None)
    return getattr(wrapper, "_func", None)


def operations(dataset):
    """Types of the operations in the function of a map, those of the functions it calls as well."""
    graph = dataset._map_func.function.graph
    found = {operation.type for operation in graph.get_operations()}
    for function in graph.as_graph_def().library.function:
        found |= {node.op for node in function.node_def}
    return found


def stages_of(dataset):
    """Stages from the source on: name, parallel calls, buffer, and for maps the user's function."""
    found = []
    for _ in range(60):
        stage = {"name": type(dataset).__name__.strip("_").replace("Dataset", "").replace("V2", ""),
                 "parallel": number(dataset, "_num_parallel_calls"), "buffer": number(dataset, "_buffer_size")}
        file, line = _made_at.get(dataset, (None, None))
        stage.update(file=file, line=line)
        if hasattr(dataset, "_map_func"):
            kinds = operations(dataset)
            stage["python"] = any("PyFunc" in kind for kind in kinds)
            stage["random"] = any("Random" in kind for kind in kinds)
            found_code = code.code_of(map_function(dataset)) if map_function(dataset) else None
            stage["function"] = code.name_of(found_code) if found_code else None
        found.append(stage)
        inputs = dataset._inputs()
        if not inputs:
            break
        dataset = inputs[0]
    return [stage for stage in reversed(found) if stage["name"] not in ("Options", "_Options")]


def report_dataset(dataset):
    if any(known() is dataset for known in reported) or len(reported) > 20:
        return
    reported.append(weakref.ref(dataset))
    stages = stages_of(dataset)
    written = [stage for stage in stages if stage["file"]]
    last = written[-1] if written else {"file": None, "line": None}
    options = dataset.options()
    facts.write("dataset", stages=stages, element=repr(dataset.element_spec)[:500], file=last["file"],
                line=last["line"], options={"deterministic": options.deterministic,
                         "private_threadpool_size": options.threading.private_threadpool_size})


def attach_datasets(dataset_ops):
    def made(arguments, _, __, ___, ____):
        _made_at[arguments[0]] = code.caller()

    guard.around("Dataset.__init__", dataset_ops.DatasetV2, "__init__", after=made)


def attach_iterators(iterator_ops, executing_eagerly):
    where = "tf.data iterator"

    def made(arguments, keywords, _, __, ___):
        dataset = arguments[1] if len(arguments) > 1 else keywords.get("dataset")
        if dataset is not None and executing_eagerly():
            report_dataset(dataset)

    def make(original):
        @guard.like(original)
        def _next_internal(self):
            if not executing_eagerly():
                return original(self)
            if proof.active and proof.kept[0] is not None:
                job.times[TAKEN] += 1
                return proof.batch()
            start = now()
            batch = original(self)
            try:
                end = now()
                job.times[WAIT] += end - start
                job.times[TAKEN] += 1
                if proof.keeping:
                    proof.keep(batch)
                if job.words is not None:
                    job.at(AT_BATCH, sys._getframe(2), end - start)
                job.spent(end)
            except Exception as error:
                facts.fault(where, error)
            return batch
        return _next_internal

    guard.around("tf.data iterator, made", iterator_ops.OwnedIterator, "__init__", after=made)
    guard.install(where, iterator_ops.OwnedIterator, "_next_internal", make)


given_generator = []  # code of the generator that Keras' fit was given


def generator_code(state):
    """Of `from_generator`: the generator that runs, or the one that Keras reads behind its own."""
    running = [getattr(one, "gi_code", None) for one in list(state._iterators.values())]
    users = [one for one in running if one is not None and code.owner(one.co_filename) is code.USER]
    return (users or given_generator or [None])[-1]


def python_code(function):
    """The user's code behind a function in a pipeline: itself, or what its closure holds (`from_generator`)."""
    for _ in range(4):
        function = getattr(function, "_func", function)
        found = code.code_of(function)
        if found is not None and code.owner(found.co_filename) is code.USER:
            return found
        cells = [getattr(cell, "cell_contents", None) for cell in getattr(function, "__closure__", None) or ()]
        for content in cells:
            if hasattr(content, "_iterators"):
                return generator_code(content)
            if callable(content) and code.is_users(content):
                return code.code_of(content)
        cells = [content for content in cells if callable(content)]
        if not cells:
            return None
        function = cells[0]
    return None


def attach_python_functions(script_ops):
    known = weakref.WeakKeyDictionary()

    def called(arguments, _, __, start, end):
        function = arguments[0].get(arguments[1])
        if function is None:
            return
        if known.get(function) is None:  # a generator begins to run within its first call
            known[function] = python_code(function)
        if known[function] is not None:
            job.site(AT_PYTHON, known[function], None).add(1, end - start, end - start, job.records)

    guard.around("tf.py_function", script_ops.FuncRegistry, "__call__", after=called)


def attach_profiler(profiler):
    gives_way_to("tf.profiler.start", profiler, "start")


def attach_saves(checkpoint):
    for name in ("Checkpoint", "CheckpointManager"):
        saves.time_saves("tf.train.%s.save" % name, getattr(checkpoint, name, None), "save")


def describe(steps):
    if steps == 2 and job.framework == "tensorflow":
        import tensorflow as tf
        devices = tf.config.list_logical_devices()
        accelerators = [device for device in devices if device.device_type != "CPU"]
        facts.write("framework", name="tensorflow", version=tf.__version__, backend=None,
                    device=(accelerators or devices)[0].device_type.lower(), devices=max(1, len(accelerators)))


def attach(tensorflow):
    from importlib import import_module
    facts.write("framework", name="tensorflow", version=tensorflow.__version__, backend=None, device=None, devices=None)
    core = import_module("tensorflow.python.framework.ops")

    def attach_syncs(ops):
        for name in SYNCS:
            sync.hook("tf.Tensor", ops._EagerTensorBase, name)

    eager = import_module("tensorflow.python.eager.context").executing_eagerly
    for part, name in ((attach_functions, "tensorflow.python.eager.polymorphic_function.polymorphic_function"),
                       (attach_gradients, "tensorflow.python.eager.backprop"),
                       (attach_datasets, "tensorflow.python.data.ops.dataset_ops"),
                       (lambda module: attach_iterators(module, eager), "tensorflow.python.data.ops.iterator_ops"),
                       (attach_python_functions, "tensorflow.python.ops.script_ops"),
                       (attach_profiler, "tensorflow.python.profiler.profiler_v2"),
                       (lambda _: attach_syncs(core), "tensorflow.python.framework.ops")):
        try:
            part(import_module(name))
        except Exception as error:
            facts.fault(name, error)
    try:
        attach_saves(tensorflow.train)
    except Exception as error:
        facts.fault("tf.train", error)
    from . import prove
    prove.start()
    job.after_step.append(guard.guarded("tensorflow describe", describe))
