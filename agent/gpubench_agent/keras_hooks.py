"""Keras 3 on any backend. `CallbackList` is hooked instead of adding a callback, which would turn off Keras'
asynchronous callbacks; its batches mark the steps."""
import functools
import os
import sys
import weakref

from . import code, facts, guard, methods, saves, sync
from .clock import now
from .prove import KEEP, proof
from .recorder import AT_CALLBACK, AT_LOAD, FIRST_OF_EPOCH, LEVEL_KERAS, TAKEN, WAIT, job, section
from .window import window

METHODS = ("on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end", "on_train_batch_begin",
           "on_train_batch_end", "on_batch_begin", "on_batch_end", "on_test_begin", "on_test_end",
           "on_test_batch_begin", "on_test_batch_end")
compiled_at = weakref.WeakKeyDictionary()  # model: (file, line) of compile()


class Fit:
    """The training that runs."""
    last_batch = -1
    backend = None
    is_described = False


def begin(callbacks):
    """What is known before the first batch; the model may not be built then."""
    Fit.backend = sys.modules["keras"].config.backend() if hasattr(sys.modules["keras"], "config") else None
    params = callbacks.params or {}
    per_call = getattr(callbacks.model, "steps_per_execution", 1) or 1
    if params.get("steps") and params.get("epochs"):
        job.expected = params["steps"] * params["epochs"] // per_call
    Fit.is_described = False
    facts.write("framework", name="keras", version=sys.modules["keras"].__version__, backend=Fit.backend, device=None,
                devices=None)


def describe(model):
    """Facts of the model that is trained, behind its first batch."""
    per_call = getattr(model, "steps_per_execution", 1) or 1
    kind = type(model)
    written = code.code_of(kind.__init__)
    own = written is not None and code.owner(written.co_filename) is code.USER
    file, line = compiled_at.get(model, (None, None))
    facts.write("model", **{
        "class": kind.__name__, "parameters": model.count_params(), "dtype": getattr(model, "compute_dtype", None),
        "file": os.path.abspath(written.co_filename) if own else file, "line": written.co_firstlineno if own else line,
        "compile_file": file, "compile_line": line, "run_eagerly": getattr(model, "run_eagerly", None),
        "jit_compile": getattr(model, "jit_compile", None), "steps_per_execution": per_call,
        "policy": getattr(getattr(model, "dtype_policy", None), "name", None),
        "optimizer": type(getattr(model, "optimizer", None)).__name__})


def on_train_begin(callbacks, *_):
    begin(callbacks)
    Fit.last_batch = -1
    if proof.wanted and Fit.backend == "tensorflow":
        prove_on_graph(callbacks.model)
    section.open()


def on_epoch_begin(*_):
    Fit.last_batch = -1
    job.flags |= FIRST_OF_EPOCH


def on_batch_end(callbacks, batch):
    """After Keras' own callbacks."""
    if not Fit.is_described:
        Fit.is_described = True
        describe(callbacks.model)
    batches, Fit.last_batch = max(1, batch - Fit.last_batch), batch
    sync.budget.new_step()
    framework = {"tensorflow": "tensorflow", "jax": "jax", "torch": "torch"}.get(Fit.backend)
    window.deferred = False
    if job.mark(LEVEL_KERAS, "keras train batch", batches=batches, framework=framework):
        section.open()


def prove_on_graph(model):
    """On TensorFlow the graph reads the iterator: kept batches come from another iterator of the same type."""
    train, kept = model.train_function, []

    def keep(iterator):
        kept.append(iter(iterator._dataset.take(KEEP).cache().repeat()))
        for _ in range(KEEP + 1):
            next(kept[0])  # the cache is full behind the last one
        proof.keep(None)  # there is something to go on with

    def train_function(iterator):
        try:
            if proof.keeping and not kept:
                keep(iterator)
        except Exception as error:
            facts.fault("batches to keep", error)
            proof.keeping = False
        return train(kept[0] if proof.active and kept else iterator)

    model.train_function = guard.hide(train_function)


class TimedIterator:
    """Batches that Keras takes in Python (JAX)."""

    def __init__(self, iterator):
        self.iterator = iter(iterator)

    def __iter__(self):
        return self

    def __next__(self):
        if proof.active and proof.kept:
            job.times[TAKEN] += 1
            return proof.batch()
        start = now()
        batch = next(self.iterator)
        try:
            end = now()
            job.times[WAIT] += end - start
            if proof.keeping:
                proof.keep(batch)
        except Exception as error:
            facts.fault("TimedIterator", error)
        return batch


for method in ("__init__", "__iter__", "__next__"):
    guard.hide(vars(TimedIterator)[method])


def before_after(name, before=None, after=None):
    """Hooks CallbackList.NAME: each is called with the list and its first argument."""
    from keras.src.callbacks import callback_list
    guard.around("CallbackList." + name, callback_list.CallbackList, name,
                 before and (lambda arguments, _: before(*arguments[:2])),
                 after and (lambda arguments, _, __, ___, ____: after(*arguments[:2])))


def attach_callbacks(_):
    from keras.src.callbacks import callback_list

    def made(arguments, _, __, ___, ____):
        for callback in arguments[0].callbacks:
            name = type(callback).__name__
            if name not in ("History", "ProgbarLogger"):
                methods.time_methods(AT_CALLBACK, type(callback), METHODS, all_code=name != "LambdaCallback")
            if name == "LambdaCallback":
                for method in METHODS:
                    function = vars(callback).get(method)
                    if function is not None and code.is_users(function):
                        setattr(callback, method, guard.hide(methods.timed(function, AT_CALLBACK, True)))

    guard.around("CallbackList.__init__", callback_list.CallbackList, "__init__", after=made)
    before_after("on_train_begin", after=on_train_begin)
    before_after("on_epoch_begin", before=on_epoch_begin)
    before_after("on_train_batch_begin", after=lambda *_: section.open())
    before_after("on_train_batch_end", before=lambda *_: section.close(now()), after=on_batch_end)
    before_after("on_test_begin", before=lambda *_: job.begin_evaluation(now(), sys._getframe(2)))
    before_after("on_test_batch_end", after=lambda *_: job.evaluation_step(now()))
    before_after("on_test_end", after=lambda *_: job.end_evaluation(now()))


def attach_models(_):
    from keras.src.models import model
    from keras.src.trainers import trainer

    def compiled(arguments, _, __, ___, ____):
        compiled_at[arguments[0]] = code.caller()

    saves.time_saves("Model.save", model.Model, "save")
    saves.time_saves("Model.save_weights", model.Model, "save_weights")
    guard.around("Model.compile", trainer.Trainer, "compile", after=compiled)


def attach_data(keras):
    from keras.src.trainers.data_adapters import py_dataset_adapter
    backend = keras.config.backend()

    def adapted(arguments, keywords, _, __, ___):
        dataset = arguments[1] if len(arguments) > 1 else keywords.get("x")
        methods.time_methods(AT_LOAD, type(dataset), ("__getitem__",))
        found = code.code_of(type(dataset).__getitem__)
        file, line = code.caller()
        facts.write("loader", id=id(dataset), dataset=type(dataset).__name__, site=file and "%s:%s" % (file, line),
                    file=file, line=line, getitem_file=os.path.abspath(found.co_filename),
                    getitem_line=found.co_firstlineno, batch_size=None, num_workers=getattr(dataset, "workers", None),
                    persistent_workers=None, prefetch_factor=getattr(dataset, "max_queue_size", None),
                    pin_memory=None, shuffle=None, is_evaluation=job.evaluating is not None, kind="PyDataset",
                    use_multiprocessing=getattr(dataset, "use_multiprocessing", None))

    def generated(arguments, keywords):
        generator = arguments[1] if len(arguments) > 1 else keywords.get("generator")
        if getattr(generator, "gi_code", None) is not None:
            tensorflow_hooks.given_generator[:] = [generator.gi_code]

    if backend == "tensorflow":
        from keras.src.trainers.data_adapters import generator_data_adapter

        from . import tensorflow_hooks
        guard.around("GeneratorDataAdapter.__init__", generator_data_adapter.GeneratorDataAdapter, "__init__",
                     before=generated)
    guard.around("PyDatasetAdapter.__init__", py_dataset_adapter.PyDatasetAdapter, "__init__", after=adapted)
    if backend == "jax":
        from keras.src.backend.jax import trainer

        def make(original):
            @functools.wraps(original)
            def _get_iterator(self):
                return TimedIterator(original(self))
            return _get_iterator

        guard.install("JAXEpochIterator", trainer.JAXEpochIterator, "_get_iterator", make)


def attach(keras):
    from . import prove
    prove.start()
    facts.write("framework", name="keras", version=keras.__version__, backend=keras.config.backend(), device=None,
                devices=None)
    for part in (attach_callbacks, attach_models, attach_data):
        try:
            part(keras)
        except Exception as error:
            facts.fault("keras " + part.__name__, error)
