"""DataLoaders: the wait for batches, loading in this process, evaluation, and where loaders were made."""
import os
import sys
import weakref

from . import code, facts, guard
from .clock import now
from .prove import proof
from .recorder import AT_BATCH, AT_LOAD, FIRST_OF_EPOCH, LOAD, TAKEN, WAIT, job, section
from .sampler import sampler
from .window import window

LEAST_STEPS = 40  # a job with a short loader has several epochs
MAX_LOADERS = 20  # whose facts are written
BATCHES_WITHOUT_BACKWARD = 16  # of one iterator: it evaluates, whatever the model says


backwards = 0  # backward passes so far
last_evaluation = 0  # end of the last batch that was taken for evaluation
by_mode = False  # an evaluation was begun by `model.eval()`
root = None  # weak reference to the model, once it is known


class Loader:
    """What is known of a DataLoader."""
    count = 0

    def __init__(self, site):
        Loader.count += 1
        self.id, self.site = Loader.count, site
        self.evaluates = None
        self.reported = False


loaders = weakref.WeakKeyDictionary()


def innermost(dataset):
    """The dataset behind `Subset`, `ConcatDataset` and other wrappers of PyTorch: the one with code of the user's."""
    for _ in range(8):
        inner = getattr(dataset, "dataset", None) or (getattr(dataset, "datasets", None) or [None])[0]
        if inner is None or code.owner(file_of(dataset)) is code.USER:
            return dataset
        dataset = inner
    return dataset


def file_of(dataset):
    found = reader(dataset)
    return found.co_filename if found is not None else "<unknown>"


def reader(dataset):
    """The code that makes a sample: `__getitem__`, `__iter__`, or the transform if that alone is the user's."""
    for name in ("__getitem__", "__getitems__", "__iter__"):
        method = getattr(type(dataset), name, None)
        found = code.code_of(method) if method is not None else None
        if found is None or code.owner(found.co_filename) is code.FRAMEWORK and name != "__iter__":
            continue
        if code.owner(found.co_filename) is not code.USER:
            for attribute in ("transform", "transforms", "loader"):
                if code.is_users(getattr(dataset, attribute, None)):
                    return code.code_of(getattr(dataset, attribute))
        return found
    return None


def report(info, loader, evaluates):
    """The fact of a loader, once it is iterated."""
    info.reported = True
    if info.id > MAX_LOADERS:
        return
    dataset = innermost(loader.dataset)
    found = reader(dataset)
    file, line = info.site
    sampler_name = type(getattr(loader, "sampler", None)).__name__
    facts.write("loader", id=info.id, dataset=type(dataset).__name__,
                site="%s:%s" % (file, line) if file else None, file=file, line=line,
                getitem_file=os.path.abspath(found.co_filename) if found else None,
                getitem_line=found.co_firstlineno if found else None,
                batch_size=loader.batch_size or getattr(loader.batch_sampler, "batch_size", None),
                num_workers=loader.num_workers, persistent_workers=getattr(loader, "persistent_workers", None),
                prefetch_factor=getattr(loader, "prefetch_factor", None), pin_memory=loader.pin_memory,
                shuffle="Random" in sampler_name,
                is_iterable=hasattr(type(loader.dataset), "__iter__"), is_evaluation=bool(evaluates))
    try:
        if not evaluates:
            job.expected = max(job.expected, len(loader), LEAST_STEPS)
    except Exception:  # an IterableDataset has no length
        pass


def evaluates(iterator, info, grad):
    """Whether the batch is for evaluation: gradients are off, the model is in eval(), or no backward pass followed the
    iterator's earlier batches."""
    if not grad:
        return True
    model = root() if root is not None else None
    if model is not None and not model.training:
        return True
    if iterator._gpubench_seen != backwards:
        iterator._gpubench_seen, iterator._gpubench_run = backwards, 0
    iterator._gpubench_run += 1
    return iterator._gpubench_run > BATCHES_WITHOUT_BACKWARD


def before_batch(iterator, grad):
    """Returns the loader's info, or None in a thread that is not the training's."""
    if window.due is not None:
        window.tick()
    info = iterator._gpubench
    info.evaluates = evaluates(iterator, info, grad)
    if info.evaluates:
        job.begin_evaluation(now(), sys._getframe(2))
    return info


def after_batch(info, start, end, batch, frame):
    global last_evaluation
    job.times[WAIT] += end - start
    job.times[TAKEN] += 1
    if info.evaluates:
        if last_evaluation:
            job.evaluation_step(start)
        last_evaluation = end
    else:
        last_evaluation = 0
        if proof.keeping:
            proof.keep(batch)
        section.open()
    job.at(AT_BATCH, frame, end - start)


def attach_batches(dataloader, is_grad_enabled):
    where = "DataLoader.__next__"

    def make(original):
        @guard.like(original)
        def __next__(self):
            info, kept = None, False
            try:
                begin = now()
                if hasattr(self, "_gpubench"):
                    info = before_batch(self, is_grad_enabled())
                    kept = proof.active and not info.evaluates
                job.spent(begin)
                start = now()
            except Exception as error:
                facts.fault(where, error)
            if kept:
                job.times[TAKEN] += 1
                return proof.batch()
            try:
                batch = original(self)
            except StopIteration:
                if info is not None:
                    ended(where, info, self)
                raise
            if info is not None:
                try:
                    end = now()
                    after_batch(info, start, end, batch, sys._getframe(1))
                    job.spent(end)
                except Exception as error:
                    facts.fault(where, error)
            return batch
        return __next__

    guard.install(where, dataloader._BaseDataLoaderIter, "__next__", make)


@guard.hide
def ended(where, info, iterator):
    global last_evaluation
    try:
        iterator._gpubench_seen = None
        if info.evaluates:
            end = now()
            if last_evaluation:
                job.evaluation_step(end)
            last_evaluation = 0
            job.end_evaluation(end)
            section.open()
        elif job.steps:
            job.flags |= FIRST_OF_EPOCH
    except Exception as error:
        facts.fault(where, error)


def attach_loaders(dataloader, is_grad_enabled):
    def made(arguments, _, __, ___, ____):
        loaders[arguments[0]] = Loader(code.caller())

    def iterated(arguments, _, __, start, end):
        iterator, loader = arguments[:2]
        if type(loader).__module__.startswith("torch.utils.data") or loader in loaders or hasattr(loader, "dataset"):
            info = loaders.get(loader) or loaders.setdefault(loader, Loader((None, None)))
            iterator._gpubench, iterator._gpubench_seen, iterator._gpubench_run = info, None, 0
            grad = is_grad_enabled()
            if not info.reported and job.words is not None:
                model = root() if root is not None else None
                report(info, loader, not grad or model is not None and not model.training)
            if grad:
                job.times[WAIT] += end - start  # starts the workers, with their first batches
                if not job.steps:
                    job.flags |= FIRST_OF_EPOCH

    guard.around("DataLoader.__init__", dataloader.DataLoader, "__init__", after=made)
    guard.around("DataLoader.__iter__", dataloader._BaseDataLoaderIter, "__init__", after=iterated)


def attach_fetchers(fetch, get_worker_info):
    """Loading of samples, in a worker or in the job's own process."""
    state = {}

    def fetches(_, __):
        state["before"] = job.loads()

    def fetched(arguments, _, batch, start, end):
        fetcher, index = arguments[:2]
        samples = len(index) if fetcher.auto_collation else 1
        worker = get_worker_info() is not None
        if not worker:
            job.times[LOAD] += end - start
            job.loaded(end - start, state["before"])
        if state.get("dataset") is not fetcher.dataset:
            state["dataset"] = fetcher.dataset
            inner = innermost(fetcher.dataset)
            state["code"], state["name"] = reader(inner), type(inner).__name__
        found = state["code"]
        if found is not None:
            name = code.name_of(found)
            site = job.site(AT_LOAD, found, None, name if "." in name else state["name"] + "." + name)
            site.add(samples, end - start, (end - start) // max(1, samples), job.records)
        if worker:
            sampler.start()
            job.flush_own()

    guard.around("Dataset.__getitem__", fetch._MapDatasetFetcher, "fetch", fetches, fetched)
    guard.around("IterableDataset.__iter__", fetch._IterableDatasetFetcher, "fetch", fetches, fetched)


def attach_errors(utils):
    """A worker's exception is told as text: without the agent's frames."""
    def made(arguments, _):
        given = arguments[1] if len(arguments) > 1 else None
        guard.clean((given or sys.exc_info())[1])

    guard.around("ExceptionWrapper", utils.ExceptionWrapper, "__init__", before=made)


def attach(dataloader):
    import torch
    attach_batches(dataloader, torch.is_grad_enabled)
    attach_loaders(dataloader, torch.is_grad_enabled)
    attach_fetchers(dataloader._utils.fetch, torch.utils.data.get_worker_info)
    attach_errors(torch._utils)
