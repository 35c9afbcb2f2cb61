"""The loss of each step of one net in PyTorch: `torch_losses.py NET FOLDER OPTIONS BATCH SEED THREADS DTYPE STEPS`, with the
batches in x.npy and y.npy of FOLDER, where it also writes weights.safetensors, with which it begins. The float32 weights are
those of any DTYPE."""

import sys

import models
import numpy
import safetensors_file
import settings
import torch
import torch_nets
from torch import nn

LEARNING_RATE = 1e-3
EPSILON = 1e-7  # of gpubench and Keras


def initialize(net):
    """Draws weights from the distributions that gb.zoo draws from."""
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            fan_in = module.weight[0].numel()
            # he_normal: cut off at two standard deviations, which are widened for it
            scale = (2 / fan_in) ** 0.5 / 0.87962566103423978
            nn.init.trunc_normal_(module.weight, std=scale, a=-2 * scale, b=2 * scale)
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)


def main():
    net_name, folder, options, batch, seed, threads, dtype, steps = sys.argv[1:]
    batch, dtype = int(batch), getattr(torch, dtype)
    torch.set_num_threads(int(threads))
    torch.manual_seed(int(seed))
    inputs, labels = (torch.from_numpy(numpy.load(f"{folder}/{name}.npy")[:batch * int(steps)]) for name in "xy")
    net = torch_nets.build(net_name, models.from_text(options)).train()
    initialize(net)
    weights = {key: value.contiguous().numpy() for key, value in net.state_dict().items()}
    safetensors_file.write(f"{folder}/weights.safetensors", weights)
    net = net.to(dtype)
    if inputs.dim() == 4:
        inputs = inputs.permute(0, 3, 1, 2).to(dtype)
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(net.parameters(), LEARNING_RATE)
    losses = []
    for step, begin in enumerate(range(0, len(inputs), batch), 1):
        # Keras adds epsilon before the second moment is corrected for its bias, PyTorch after it.
        optimizer.param_groups[0]["eps"] = EPSILON / (1 - 0.999 ** step) ** 0.5
        optimizer.zero_grad()
        loss = torch_nets.loss_of(net_name, net(inputs[begin:begin + batch]), labels[begin:begin + batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    settings.print_result({"system": "torch", "version": torch.__version__, "losses": losses})


if __name__ == "__main__":
    main()
