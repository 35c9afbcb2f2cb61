"""Steps of one net in PyTorch: `torch_step.py NET BATCH OPTIONS [--compile]`."""

import argparse
import resource

import models
import numpy
import settings
import torch
import torch_nets


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=list(models.MODELS))
    parser.add_argument("batch", type=int)
    parser.add_argument("options")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="torch.compile, and the fused Adam")
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--inference", action="store_true")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    options = models.from_text(arguments.options)
    inputs, labels = (torch.from_numpy(array) for array in models.batch_of(arguments.net, arguments.batch, options, numpy))
    imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    net = torch_nets.build(arguments.net, options).train(not arguments.inference)
    images = inputs.dim() == 4
    if images:  # the layout in which its convolutions are fastest on CPUs
        inputs = inputs.permute(0, 3, 1, 2)
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(net.parameters(), models.LEARNING_RATE, fused=arguments.compile or None)
    forward = torch.compile(net) if arguments.compile else net
    mixed = torch.autocast("cpu", torch.bfloat16, enabled=arguments.precision == "bfloat16")

    def answer():
        with torch.inference_mode(), mixed:
            return forward(inputs)

    def train():
        optimizer.zero_grad()
        with mixed:
            loss = torch_nets.loss_of(arguments.net, forward(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    step = answer if arguments.inference else train
    timer = settings.EpochTimer(models.STEPS, arguments.seconds)
    while not timer.enough():
        timer.begin()
        for _ in range(models.STEPS):
            step()
        timer.end()
    name = "torch.compile" if arguments.compile else "torch"
    # PyTorch splits the bias of an LSTM into two that are added.
    parameters = sum(value.numel() for key, value in net.named_parameters() if "bias_hh" not in key)
    settings.print_result(timer.result(system=name, version=torch.__version__, parameters=parameters,
                                       rss_before_net=imported))


if __name__ == "__main__":
    main()
