"""Executes each line of PyTorch once, and looks for its effect. No case depends on a time."""
import os
import pathlib
import sys
import tempfile

import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from lines import NoEffect, execute, run

has_gpu = torch.cuda.is_available()


def see(effect, what):
    if not effect:
        raise AssertionError(f"no effect: {what}")


class Processes(Dataset):
    """Its elements are the processes that made them."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return os.getpid()


def names(**own):
    return {"torch": torch, "DataLoader": DataLoader, "DistributedDataParallel": DistributedDataParallel,
            "default_hooks": default_hooks, **own}


def loader(check):
    def case(line):
        made = execute(line, names(data=Processes()), dataset="data", n="2", larger_batch="4", smaller_batch="4")
        check(made, torch.cat(list(made)).tolist())
    return case


def workers(made, processes):
    see(os.getpid() not in processes and len(set(processes)) == 2, f"processes {set(processes)}")


def prefetch(made, processes):
    workers(made, processes)
    see(made.prefetch_factor == 4, "prefetch_factor")


def batch(made, processes):
    see(made.batch_size == 4 and len(processes) == 8, "batches of 4")


def pinned_memory(made, processes):
    if not has_gpu:
        raise NoEffect("no GPU: memory is pinned for one only")
    see(next(iter(made)).is_pinned(), "pinned")


def prefetch_to_device(line):
    own = names(batch=torch.zeros(2))
    moved = execute(line, own, device="cuda" if has_gpu else "cpu")
    if not has_gpu:
        raise NoEffect("no GPU: the batch stays in host memory")
    see(moved.is_cuda, "the device")


def one_device(line):
    model = execute(line, names(model=torch.nn.Linear(2, 2)), device="meta")
    see(all(weight.is_meta for weight in model.parameters()), "the device of the weights")


def compiled(name):
    def case(line):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        own = names(model=torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), step=lambda x: torch.relu(x) + 1)
        execute(line, own)
        see(own[name](torch.ones(2, 4)).shape == (2, 4), "the result")
        see(torch._dynamo.utils.counters["stats"]["unique_graphs"] >= 1, "a graph was compiled")
    return case


def fewer_synchronizations(line):
    own = names(total=torch.zeros(()), loss=torch.ones((), requires_grad=True))
    execute(line, own)
    see(own["total"].item() == 1 and not own["total"].requires_grad, "the sum")


def group():
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)


def larger_buckets(line):
    group()
    ddp = execute(line, names(model=torch.nn.Linear(4, 4)))
    see(ddp.bucket_bytes_cap == 100 << 20, f"buckets of {ddp.bucket_bytes_cap} bytes")


def compressed_exchanges(line):
    group()
    own = names(model=DistributedDataParallel(torch.nn.Linear(4, 4)))
    try:
        execute(line, own)
    except TypeError as why:  # DDP asks for CUDA and NCCL
        if has_gpu:
            raise
        raise NoEffect(why) from why
    own["model"](torch.ones(1, 4)).sum().backward()


def device_exchanges(line):
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531", RANK="0", WORLD_SIZE="1")
    try:
        execute(line, names())
    except (ValueError, RuntimeError) as why:
        if has_gpu:
            raise
        raise NoEffect(f"no GPU: {why}") from why
    see(torch.distributed.get_backend() == "nccl", "the backend")
    torch.distributed.destroy_process_group()
    if not has_gpu:
        raise NoEffect("no GPU exchanges anything")


def recomputation(line):
    calls = []

    def layer(x):
        calls.append(1)
        return torch.sin(x)

    import torch.utils.checkpoint
    execute(line, names(layer=layer, x=torch.ones(2, requires_grad=True)), layer="layer").sum().backward()
    see(len(calls) == 2, f"{len(calls)} forward passes")


def mixed_precision(line):
    body = line + " result = torch.ones(2, 2, device=device) @ torch.ones(2, 2, device=device)"
    own = names(device="cuda" if has_gpu else "cpu")
    execute(body if has_gpu else body.replace('"cuda"', '"cpu"'), own)
    see(own["result"].dtype == torch.bfloat16, str(own["result"].dtype))


def tensor_float32(line):
    before = torch.get_float32_matmul_precision()
    execute(line, names())
    see(before == "highest" and torch.get_float32_matmul_precision() == "high", "the precision")
    torch.set_float32_matmul_precision(before)


def padded_sizes(line):
    layer = execute(line, names(), **{"in": "4", "multiple of 8": "16"})
    see(layer.out_features % 8 == 0, "the width")


def cache(line):
    made = execute(line, names(tensors=[torch.arange(8)]), tensors="tensors")
    see(len(made) == 8, "the elements")


def batched_map(line):
    made = execute(line, names(data=Processes(), collate=len), dataset="data", **{"function of a batch": "collate"})
    see(list(made) == [1] * 8, "the function gets a batch")


def fewer_callbacks(line):
    calls = []
    for step in range(8):
        execute(line, names(step=step, callback=lambda: calls.append(1)), n="4", callback="callback")
    see(len(calls) == 2, f"{len(calls)} calls")


def fewer_threads(line):
    before = torch.get_num_threads()
    execute(line, names(), n="1")
    see(torch.get_num_threads() == 1, f"{torch.get_num_threads()} threads")
    torch.set_num_threads(before)


def rarer_evaluation(line):
    calls = []
    for step in range(8):
        execute(line, names(step=step, evaluate=lambda: calls.append(1)), n="4", evaluation="evaluate")
    see(len(calls) == 2, f"{len(calls)} calls")


def rarer_saving(line):
    with tempfile.TemporaryDirectory() as folder:
        file, model = pathlib.Path(folder) / "model.pt", torch.nn.Linear(2, 2)
        times = []
        for step in range(8):
            execute(line, names(step=step, model=model, file=file), n="4", file="file")
            times.append(file.exists())
            file.unlink(missing_ok=True)
        see(times == [True, False, False, False] * 2, f"saved at {times}")


def whole_batches(line):
    made = execute(line, names(data=Processes()), dataset="data")
    see(made.drop_last, "drop_last")


def share_of_rank(line):
    made = execute(line, names(data=Processes()), dataset="data", **{"share of the rank": "2"})
    see(made.batch_size == 2, "batches of 2")


def kept_allocations(line):
    execute(line, names(os=os))
    see(os.environ.pop("PYTORCH_CUDA_ALLOC_CONF") == "expandable_segments:True", "the variable")
    if not has_gpu:
        raise NoEffect("no GPU, whose memory it is about")


def gradient_accumulation(line):
    weight = torch.ones((), requires_grad=True)
    for _ in range(4):
        execute(line, names(loss=4 * weight))
    see(weight.grad.item() == 4, f"the gradient of the batch: {weight.grad}")


def no_offload(line):
    group()
    from torch.distributed.fsdp import FullyShardedDataParallel
    try:
        execute(line, names(FullyShardedDataParallel=FullyShardedDataParallel, model=torch.nn.Linear(2, 2)))
    except (AssertionError, RuntimeError, ValueError) as why:
        if has_gpu:
            raise
        raise NoEffect(f"no GPU: {why}") from why


if __name__ == "__main__":  # workers of loaders may import this file
    cases = {
        "more_workers": loader(workers), "parallel_reads": loader(workers), "prefetch": loader(prefetch),
        "prefetch_to_device": prefetch_to_device, "pinned_memory": loader(pinned_memory), "one_device": one_device,
        "larger_batch": loader(batch), "smaller_batch": loader(batch), "graph": compiled("model"),
        "compiled_step": compiled("step"), "fewer_synchronizations": fewer_synchronizations,
        "larger_buckets": larger_buckets, "compressed_exchanges": compressed_exchanges,
        "device_exchanges": device_exchanges, "recomputation": recomputation, "mixed_precision": mixed_precision,
        "tensor_float32": tensor_float32, "padded_sizes": padded_sizes, "fused_kernels": compiled("model"),
        "kernel_search": compiled("model"), "cache": cache, "batched_map": batched_map,
        "fewer_callbacks": fewer_callbacks, "fixed_shapes": whole_batches, "balanced_shares": share_of_rank,
        "kept_allocations": kept_allocations, "gradient_accumulation": gradient_accumulation, "no_offload": no_offload,
        "rarer_evaluation": rarer_evaluation, "rarer_saving": rarer_saving, "fewer_threads": fewer_threads,
    }
    sys.exit(run("pytorch", cases))
