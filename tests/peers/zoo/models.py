"""What is compared: nets of gb.zoo in their published widths, on inputs that two cores train in about a second a step.
Behind a colon stands which of several nets of one function."""

MODELS = {
    "resnet18": (8, {"input_shape": [112, 112, 3]}),
    "resnet50": (4, {"input_shape": [96, 96, 3]}),
    "vgg16": (4, {"input_shape": [64, 64, 3]}),
    "mobilenet_v2": (8, {"input_shape": [96, 96, 3]}),
    "mobilenet_v3": (8, {"input_shape": [96, 96, 3]}),
    "mobilenet_v3:small": (8, {"input_shape": [96, 96, 3], "model_type": "small"}),
    "vit_b16": (2, {"input_shape": [96, 96, 3]}),
    "unet": (2, {"input_shape": [64, 64, 1], "padding": "same"}),
    "bert_small": (8, {"length": 64, "classes": 2}),
    "gpt2_small": (2, {"length": 64}),
    "lstm_text": (32, {"length": 80}),
    "llama_small": (2, {"length": 64, "depth": 6}),
}
QUICK = {
    "resnet18": (2, {"input_shape": [32, 32, 3], "width": 8, "classes": 10}),
    "resnet50": (2, {"input_shape": [32, 32, 3], "width": 8, "classes": 10}),
    "vgg16": (2, {"input_shape": [32, 32, 3], "classes": 10}),
    "mobilenet_v2": (2, {"input_shape": [32, 32, 3], "classes": 10}),
    "mobilenet_v3": (2, {"input_shape": [32, 32, 3], "classes": 10}),
    "mobilenet_v3:small": (2, {"input_shape": [32, 32, 3], "classes": 10, "model_type": "small"}),
    "vit_b16": (2, {"input_shape": [32, 48, 3], "classes": 10, "patch": 8, "width": 32, "depth": 2, "heads": 2}),
    "unet": (2, {"input_shape": [32, 48, 1], "width": 8, "padding": "same"}),
    "bert_small": (2, {"length": 8, "classes": 2, "width": 32, "heads": 2, "depth": 2, "vocabulary": 100}),
    "gpt2_small": (2, {"length": 8, "width": 32, "heads": 2, "depth": 2, "vocabulary": 100}),
    "lstm_text": (2, {"length": 8, "vocabulary": 100}),
    "llama_small": (2, {"length": 8, "width": 32, "hidden": 48, "depth": 2, "heads": 4, "key_value_heads": 2, "vocabulary": 100}),
}
VOCABULARIES = {"bert_small": 30522, "gpt2_small": 50257, "lstm_text": 20000, "llama_small": 49152}
LEARNING_RATE = 1e-4
STEPS = 3  # of a timed epoch


def as_text(options):
    """For the environment of a script: "width=8;input_shape=32,32,3;model_type=small"."""
    return ";".join(f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"
                    for name, value in options.items())


def from_text(text):
    def value(word):
        parts = [int(part) if part.isdecimal() else part for part in word.split(",")]
        return parts if len(parts) > 1 else parts[0]

    return {name: value(word) for name, word in (entry.split("=") for entry in text.split(";") if entry)}


def batch_of(name, batch, options, numpy):
    """One random batch: inputs and labels. Images are [height, width, channels]."""
    random = numpy.random.default_rng(1)
    if "input_shape" in options:
        inputs = random.random((batch, *options["input_shape"]), numpy.float32)
        if name == "unet":
            return inputs, random.integers(0, options.get("classes", 2), inputs.shape[:3])
        return inputs, random.integers(0, options.get("classes", 1000), batch)
    vocabulary = options.get("vocabulary", VOCABULARIES.get(name))
    tokens = random.integers(0, vocabulary, (batch, options["length"]))
    if name in ("gpt2_small", "llama_small"):
        return tokens, random.integers(0, vocabulary, (batch, options["length"]))
    labels = random.integers(0, 2, batch)
    return tokens, labels.astype(numpy.float32)[:, None] if name == "lstm_text" else labels
