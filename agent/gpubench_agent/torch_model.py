"""Facts of the model that an optimizer trains, and PyTorch's settings. They are read once, at the second step."""
import os
import sys
import weakref

from . import code, facts, guard, torch_data


def subclasses(kind):
    found = {kind}
    for child in type.__subclasses__(kind):
        found |= subclasses(child)
    return found


class Models:
    """The model of each optimizer. An optimizer is given its parameters, mostly the generator of `model.parameters()`,
    whose frame has the model; else the functions that make the optimizer have it among their variables. A hook on each
    module's call would change what torch.compile sees."""

    def __init__(self):
        self.of = weakref.WeakKeyDictionary()
        self.made_at = weakref.WeakKeyDictionary()  # optimizer: (file, line)
        self.compiled = False  # torch.compile has run
        self.when_known = []  # called with (optimizer, model), before the first step

    def made(self, optimizer, frame, module):
        self.made_at[optimizer] = code.caller()
        model = module if module is not None else self.search(optimizer, frame)
        if model is not None:
            self.of[optimizer] = weakref.ref(model)
            for function in self.when_known:
                function(optimizer, model)

    @staticmethod
    def search(optimizer, frame):
        kinds = subclasses(sys.modules["torch"].nn.Module)
        wanted = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        best, most = None, 0
        for _ in range(8):
            if frame is None:
                break
            values = list(frame.f_locals.values())
            values += [item for value in values if code.is_plain(value) for item in vars(value).values()]
            for value in values:
                if type(value) in kinds:
                    count = sum(1 for parameter in value.parameters() if id(parameter) in wanted)
                    if count > most:
                        best, most = value, count
            if best is not None and most == len(wanted):
                break
            frame = frame.f_back
        return best


models = Models()


def module_of(parameters):
    """The module whose `parameters()` a generator is, or None."""
    frame = getattr(parameters, "gi_frame", None)
    module = frame.f_locals.get("self") if frame is not None else None
    return module if type(module) in subclasses(sys.modules["torch"].nn.Module) else None


def attach(optimizer):
    modules = {}  # id of an optimizer that is made: the module whose parameters it is given

    def before(arguments, keywords):
        modules[id(arguments[0])] = module_of(arguments[1] if len(arguments) > 1 else keywords.get("params"))

    def after(arguments, _, __, ___, ____):
        models.made(arguments[0], sys._getframe(2), modules.pop(id(arguments[0]), None))

    guard.around("Optimizer.__init__", optimizer.Optimizer, "__init__", before, after)


def users_class(model):
    """(module, code object) of the outermost module of a class of the user's, or (None, None)."""
    for module in model.modules():
        for name in ("forward", "training_step", "__init__"):
            function = vars(type(module)).get(name)
            if function is not None and code.is_users(function):
                return module, code.code_of(function)
    return None, None


def channels_last(torch, parameters):
    images = [parameter for parameter in parameters if parameter.dim() == 4]
    if not images:
        return None
    last = torch.channels_last
    return all(item.is_contiguous(memory_format=last) and not item.is_contiguous() or item.shape[1] == 1
               or item.shape[2] * item.shape[3] == 1 for item in images)


def describe(optimizer):
    import torch
    model = models.of.get(optimizer, lambda: None)()
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    names, written, forward = set(), None, None
    if model is not None:
        torch_data.root = weakref.ref(model)
        names = {type(module).__name__ for module in model.modules()}
        written, forward = users_class(model)
    made_at = models.made_at.get(optimizer, (None, None))
    device = parameters[0].device.type
    facts.write("model", **{
        "class": type(model if written is None else written).__name__ if model is not None else None,
        "parameters": sum(parameter.numel() for parameter in parameters),
        "dtype": str(parameters[0].dtype).replace("torch.", ""),
        "file": os.path.abspath(forward.co_filename) if forward else None,
        "line": forward.co_firstlineno if forward else None,
        "compiled": "OptimizedModule" in names or models.compiled,
        "optimizer": type(optimizer).__name__,
        "fused": optimizer.defaults.get("fused"), "foreach": optimizer.defaults.get("foreach"),
        "ddp": bool(names & {"DistributedDataParallel", "FullyShardedDataParallel"}),
        "optimizer_file": made_at[0], "optimizer_line": made_at[1],
        "channels_last": channels_last(torch, parameters)})
    facts.write("framework", name="torch", version=torch.__version__, backend=None, device=device,
                devices=torch.cuda.device_count() if device == "cuda" else 1)
    for name, read in (("threads", torch.get_num_threads), ("interop_threads", torch.get_num_interop_threads),
                       ("matmul_precision", torch.get_float32_matmul_precision),
                       ("cudnn.benchmark", lambda: torch.backends.cudnn.benchmark)):
        try:
            facts.write("setting", name=name, value=read())
        except Exception:  # older versions lack some
            pass
