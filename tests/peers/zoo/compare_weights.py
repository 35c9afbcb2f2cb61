"""Logits of nets of gb.zoo with random weights of PyTorch and Keras, in those systems and in gpubench."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import models
import processes

FOLDER = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4  # relative to the largest logit, or absolute below 1
NETS = {"resnet18": "torch", "resnet50": "torch", "vgg16": "keras", "mobilenet_v2": "torch", "mobilenet_v3": "keras",
        "mobilenet_v3:small": "keras", "vit_b16": "torch", "unet": "torch", "unet:valid": "torch",
        "bert_small": "torch", "gpt2_small": "torch", "lstm_text": "torch", "lstm_text:keras": "keras",
        "llama_small": "torch"}
CHANGED = {  # options of models.py
    "mobilenet_v3:small": {"model_type": "small"},
    "unet:valid": {"input_shape": [188, 204, 1], "padding": "valid"},
}


def main():
    parser = argparse.ArgumentParser(prog="tests/peers/zoo/weights", description=__doc__)
    parser.add_argument("--models", default=",".join(NETS), help="of " + ", ".join(NETS))
    parser.add_argument("--quick", action="store_true", help="tiny nets")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--torch-python", default=sys.executable, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.models.split(",")) - set(NETS)
    if unknown:
        parser.error(f"unknown models: {', '.join(sorted(unknown))}; there are {', '.join(NETS)}")
    good = True
    for name in arguments.models.split(","):
        net, origin = name.split(":")[0], NETS[name]
        _, options = (models.QUICK if arguments.quick else models.MODELS)[net]
        text = models.as_text(options | CHANGED.get(name, {}))
        with tempfile.TemporaryDirectory() as folder:
            python = sys.executable if origin == "keras" else arguments.torch_python
            words = [python, FOLDER / "weights.py", net, folder, text] + ["--keras"] * (origin == "keras")
            try:
                subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
                result = processes.gpubench("zoo/gpubench_weights.lua", arguments.threads, net=net, folder=folder,
                                            options=text, **{"from": origin})
            except subprocess.CalledProcessError as failure:
                print(f"{name}: {failure.stderr.strip().splitlines()[-1:]}")
                good = False
                continue
            except processes.Failed as failure:
                print(f"{name}: {failure}")
                good = False
                continue
        held = result["error"] <= TOLERANCE * max(1, result["largest"])
        good = good and held
        print(f"{name}: logits up to {result['largest']:.3g} differ by at most {result['error']:.2g}: "
              f"{'equal' if held else 'DIFFERENT'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
