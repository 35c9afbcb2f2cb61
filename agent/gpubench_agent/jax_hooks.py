"""JAX: `jax.jit` gives a proxy that calls the jitted function, since JAX itself calls in C++ and has no hook."""
import functools
import sys

from . import calls, code, facts, guard, sync
from .clock import now
from .recorder import job
from .window import gives_way_to

SYNCS = ("__float__", "__int__", "__bool__", "__index__", "__format__", "__repr__", "__str__", "__array__", "item",
         "tolist", "block_until_ready")

jitted = calls.Calls("jax", "jit")


class Proxy:
    """Stands for a jitted function: everything but the call is the function's own."""

    def __init__(self, function, python_function):
        functools.update_wrapper(self, python_function, updated=())
        self.__dict__["_gpubench"] = function, calls.Function(getattr(python_function, "__name__", "function"),
                                                              python_function)

    def __call__(self, *arguments, **keywords):
        function, known = self.__dict__["_gpubench"]
        if jitted.depth:
            return function(*arguments, **keywords)
        try:
            jitted.enter(known)
            jitted.depth = 1
            start = now()
        except Exception as error:
            facts.fault("jit", error)
        try:
            result = function(*arguments, **keywords)
        finally:
            jitted.depth = 0
        try:
            if known.trains:
                jitted.result = result
            jitted.leave(known, start, now(), jitted.compile_ns > 0, arguments, keywords)
        except Exception as error:
            facts.fault("jit", error)
        return result

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name):
        return getattr(self.__dict__["_gpubench"][0], name)

    def __reduce_ex__(self, protocol):
        return self.__dict__["_gpubench"][0].__reduce_ex__(protocol)

    def __repr__(self):
        return repr(self.__dict__["_gpubench"][0])


def settle():
    """Waits for the results of the last training step, which JAX may not have computed yet."""
    import jax
    result, jitted.result = jitted.result, None
    for leaf in jax.tree_util.tree_leaves(result):
        try:
            leaf.block_until_ready()
        except Exception:  # given away to a later call, or no array
            pass


for method in ("__call__", "__get__", "__getattr__", "__reduce_ex__", "__repr__"):
    guard.hide(vars(Proxy)[method])


def attach_jit(jax):
    def make(original):
        @guard.like(original)
        def jit(*arguments, **keywords):
            result = original(*arguments, **keywords)
            try:
                if not arguments:  # jax.jit(static_argnums=...): a decorator
                    decorator = result

                    def decorate(function):
                        return Proxy(decorator(function), function)
                    return guard.hide(decorate)
                return Proxy(result, arguments[0])
            except Exception as error:
                facts.fault("jax.jit", error)
                return result
        return jit

    guard.install("jax.jit", jax, "jit", make)


def attach_gradients(jax):
    for name in ("grad", "value_and_grad"):
        def make(original):
            @guard.like(original)
            def transform(*arguments, **keywords):
                gradient = original(*arguments, **keywords)

                @functools.wraps(gradient)
                def call(*inputs, **named):
                    result = gradient(*inputs, **named)
                    try:
                        end = now()
                        jitted.gradient(sys._getframe(1))
                        job.spent_here(end)
                    except Exception as error:
                        facts.fault("jax.grad", error)
                    return result
                return guard.hide(call)
            return transform

        guard.install("jax." + name, jax, name, make)


def attach_compiles(monitoring):
    @guard.hide
    def listen(event, seconds, **_):
        try:
            if event.startswith("/jax/core/compile/") and event.endswith("_duration"):
                jitted.compile_ns += int(seconds * 1e9)
        except Exception as error:
            facts.fault("jax.monitoring", error)

    monitoring.register_event_duration_secs_listener(listen)


def attach_profiler(jax):
    gives_way_to("jax.profiler.start_trace", jax.profiler, "start_trace")


def describe(steps):
    """Devices, once the job has used them: asking earlier would start JAX's backends."""
    if steps == 2 and job.framework == "jax":
        import jax
        facts.write("framework", name="jax", version=jax.__version__, backend=jax.default_backend(),
                    device=jax.devices()[0].device_kind, devices=jax.local_device_count())


def attach(jax):
    facts.write("framework", name="jax", version=jax.__version__, backend=None, device=None, devices=None)
    job.settle = settle
    import jax._src.array as array

    def attach_syncs(_):
        for name in SYNCS:
            if hasattr(array.ArrayImpl, name):
                sync.hook("Array", array.ArrayImpl, name)
        sync.hook_function(jax, "block_until_ready")
        sync.hook_function(jax, "device_get")

    for part, argument in ((attach_jit, jax), (attach_gradients, jax), (attach_compiles, jax.monitoring),
                           (attach_profiler, jax), (attach_syncs, jax)):
        try:
            part(argument)
        except Exception as error:
            facts.fault("jax " + part.__name__, error)
    job.after_step.append(guard.guarded("jax describe", describe))
