"""PyTorch: an optimizer's step marks a training step. Backward passes and the optimizer are timed; the forward pass
is the time from the batch to the backward pass, less what other hooks have timed in it, since a wrapper around
`Module.__call__` would be paid for each layer and confuse torch.compile."""
import sys
import weakref

from . import code, facts, guard, saves, sync, torch_data, torch_model
from .clock import now
from .recorder import AT_COMPILE, COMPILE, COMPILED, LEVEL_OPTIMIZER, job, section
from .window import gives_way_to, window

SYNCS = ("item", "tolist", "cpu", "numpy", "__float__", "__int__", "__bool__", "__format__", "__repr__", "__array__")
OTHERS_IN_A_ROW = 20  # steps of other optimizers until one of them becomes the mark


class Optimizers:
    """The first optimizer that steps is the mark: a GAN has two, and each step of training runs both."""

    def __init__(self):
        self.mark = None
        self.others = 0
        self.since = 0

    def before(self, optimizer):
        if window.due is not None:
            window.tick()
        section.open()

    def after(self, optimizer, end):
        section.close(end)
        mark = self.mark() if self.mark is not None else None
        if mark is None or self.others >= OTHERS_IN_A_ROW:
            mark, self.mark = optimizer, weakref.ref(optimizer)
        if mark is not optimizer:
            self.others += 1
            section.open()
            return
        self.others = 0
        sync.budget.new_step()
        if job.mark(LEVEL_OPTIMIZER, "torch optimizer " + type(optimizer).__name__, framework="torch"):
            job.note_loop(sys._getframe(2))
            if job.steps == 2:
                try:
                    torch_model.describe(optimizer)
                except Exception as error:
                    facts.fault("the model's description", error)
        section.open()


optimizers = Optimizers()


def attach_optimizers(optimizer):
    @guard.hide
    def before(opt, _, __):
        try:
            start = now()
            optimizers.before(opt)
            job.spent(start)
        except Exception as error:
            fail("Optimizer.step, before", error)

    @guard.hide
    def after(opt, _, __):
        try:
            end = now()
            optimizers.after(opt, end)
            job.spent(end)
        except Exception as error:
            fail("Optimizer.step, after", error)

    @guard.hide
    def fail(where, error):
        facts.fault(where, error)
        for handle in handles:
            handle.remove()
        del handles[:]

    handles = []
    if hasattr(optimizer, "register_optimizer_step_post_hook"):
        handles.append(optimizer.register_optimizer_step_pre_hook(before))
        handles.append(optimizer.register_optimizer_step_post_hook(after))
        return

    def make(original):  # PyTorch 1.13: the method that wraps `step` once for each class
        def hook_for_profile(self):
            hooked = getattr(type(self).step, "hooked", None)
            original(self)
            if not hooked:
                guard.install("Optimizer.step " + type(self).__name__, type(self), "step", make_step)
                type(self).step.hooked = True
        return hook_for_profile

    def make_step(original):
        @guard.like(original)
        def step(self, *arguments, **keywords):
            before(self, None, None)
            result = original(self, *arguments, **keywords)
            after(self, None, None)
            return result
        return step

    guard.install("Optimizer._hook_for_profile", optimizer.Optimizer, "_hook_for_profile", make)


def attach_backward(autograd):
    def before(_, __):
        if window.due is not None:
            window.tick()

    def after(_, __, ___, ____, end):
        torch_data.backwards += 1
        job.end_evaluation(torch_data.last_evaluation or end,
                           happened=bool(torch_data.last_evaluation) or not torch_data.by_mode)
        torch_data.by_mode = False
        section.close(end)
        section.open()

    guard.around("torch.autograd.backward", autograd, "backward", before, after)


def attach_modes(nn):
    """An evaluation without a DataLoader lies between `model.eval()` and `model.train()`. Where a backward pass comes first,
    the model trains in the mode for evaluation. The calls for its children, which both make, are let through at once."""
    where = "Module.train"

    def changed(mode, frame):
        start = now()
        if mode:
            job.end_evaluation(start)
            section.open()
        elif job.evaluating is None:
            torch_data.by_mode = True
            job.begin_evaluation(start, frame)
        job.spent_here(start)

    def make(original):
        @guard.like(original)
        def train(self, mode=True):
            if job.steps and torch_data.root is not None and torch_data.root() is self:
                try:
                    changed(mode, sys._getframe(1))
                except Exception as error:
                    facts.fault(where, error)
            return original(self, mode)
        return train

    guard.install(where, nn.Module, "train", make)


def attach_syncs(torch):
    for name in SYNCS:
        sync.hook("Tensor", torch.Tensor, name, warns=True)
    sync.hook_function(torch.cuda, "synchronize")


def attach_saves(torch):
    saves.time_saves("torch.save", torch, "save")


def attach_compiler(callback):
    """torch._dynamo.callback, imported by the first torch.compile."""
    started = []

    @guard.hide
    def begin(*_):
        started.append(now())

    @guard.hide
    def end(*_):
        try:
            if not started:
                return
            start = started.pop()
            if started:
                return  # a nested one
            stop = now()
            torch_model.models.compiled = True
            job.times[COMPILE] += stop - start
            job.flags |= COMPILED
            frame = code.user_frame(sys._getframe(1))
            if frame is not None:
                job.at(AT_COMPILE, frame, stop - start)
            facts.write("compile", what="torch.compile", file=frame and frame.f_code.co_filename,
                        line=frame and frame.f_lineno, seconds=(stop - start) / 1e9, step=job.records, count=1)
        except Exception as error:
            facts.fault("torch._dynamo.callback", error)

    handler = callback.callback_handler
    handler.register_start_callback(begin)
    handler.register_end_callback(end)


def attach_profiler(profiler):
    gives_way_to("torch.autograd.profiler.profile", profiler.profile, "__init__")


def attach(torch):
    from . import imports, prove
    window.deferred = True
    prove.start()
    facts.write("framework", name="torch", version=torch.__version__, backend=None, device=None, devices=None)
    import torch.optim.optimizer as optimizer
    import torch.utils.data.dataloader as dataloader
    for part, arguments in ((attach_optimizers, optimizer), (torch_model.attach, optimizer),
                            (attach_backward, torch.autograd), (attach_modes, torch.nn), (attach_saves, torch),
                            (attach_profiler, torch.autograd.profiler), (attach_syncs, torch),
                            (torch_data.attach, dataloader)):
        try:
            part(arguments)
        except Exception as error:
            facts.fault(part.__name__, error)
    imports.after("torch._dynamo.callback", attach_compiler)
