"""The nets of gb.zoo in PyTorch: the names of their parameters are those of torchvision and of the published GPT-2
and Llama."""

import math
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional


def _conv(inputs, outputs, size, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)


class Basic(nn.Module):
    expansion = 1

    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.conv1, self.bn1 = _conv(inputs, filters, 3, stride), nn.BatchNorm2d(filters)
        self.conv2, self.bn2 = _conv(filters, filters, 3), nn.BatchNorm2d(filters)
        self.downsample = _shortcut(inputs, filters, stride)

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.conv1, self.bn1 = _conv(inputs, filters, 1), nn.BatchNorm2d(filters)
        self.conv2, self.bn2 = _conv(filters, filters, 3, stride), nn.BatchNorm2d(filters)
        self.conv3, self.bn3 = _conv(filters, 4 * filters, 1), nn.BatchNorm2d(4 * filters)
        self.downsample = _shortcut(inputs, 4 * filters, stride)

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        return functional.relu(self.bn3(self.conv3(y)) + self.downsample(x))


def _shortcut(inputs, outputs, stride):
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(_conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


class ResNet(nn.Module):
    def __init__(self, block, blocks, input_shape, classes=1000, width=64):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(input_shape[2], width, 7, 2, 3, bias=False), nn.BatchNorm2d(width)
        channels, stages = width, []
        for stage, count in enumerate(blocks):
            filters, parts = width << stage, []
            for index in range(count):
                parts.append(block(channels, filters, 2 if index == 0 and stage > 0 else 1))
                channels = block.expansion * filters
            stages.append(nn.Sequential(*parts))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Vgg16(nn.Module):
    def __init__(self, input_shape, classes=1000, width=64, units=4096, blocks=(2, 2, 3, 3, 3), dropout=0.5):
        super().__init__()
        channels, parts = input_shape[2], []
        for stage, count in enumerate(blocks):
            for _ in range(count):
                filters = width << min(stage, 3)
                parts += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
                channels = filters
            parts.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*parts)
        pixels = (input_shape[0] >> len(blocks)) * (input_shape[1] >> len(blocks))
        self.classifier = nn.Sequential(nn.Linear(pixels * channels, units), nn.ReLU(), nn.Dropout(dropout),
                                        nn.Linear(units, units), nn.ReLU(), nn.Dropout(dropout), nn.Linear(units, classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden, parts = expansion * inputs, []
        if expansion > 1:
            parts.append(nn.Sequential(_conv(inputs, hidden, 1), nn.BatchNorm2d(hidden), nn.ReLU6()))
        parts += [nn.Sequential(_conv(hidden, hidden, 3, stride, hidden), nn.BatchNorm2d(hidden), nn.ReLU6()),
                  _conv(hidden, outputs, 1), nn.BatchNorm2d(outputs)]
        self.conv = nn.Sequential(*parts)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(nn.Module):
    STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

    def __init__(self, input_shape, classes=1000, dropout=0.2):
        super().__init__()
        channels = 32
        parts = [nn.Sequential(_conv(input_shape[2], channels, 3, 2), nn.BatchNorm2d(channels), nn.ReLU6())]
        for expansion, outputs, count, stride in self.STAGES:
            for index in range(count):
                parts.append(Inverted(channels, outputs, stride if index == 0 else 1, expansion))
                channels = outputs
        parts.append(nn.Sequential(_conv(channels, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6()))
        self.features = nn.Sequential(*parts)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Excited(nn.Module):
    """Each channel times a factor, which depends on the means of all channels."""

    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        return x * functional.hardsigmoid(self.fc2(functional.relu(self.fc1(functional.adaptive_avg_pool2d(x, 1)))))


def _multiple_of_8(channels):
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


class MobileBlock(nn.Module):
    def __init__(self, inputs, kernel, expansion, outputs, excites, activation, stride):
        super().__init__()
        hidden, parts = _multiple_of_8(inputs * expansion), []
        if expansion > 1:
            parts += [_conv(inputs, hidden, 1), nn.BatchNorm2d(hidden, 1e-3, 0.001), activation()]
        parts += [_conv(hidden, hidden, kernel, stride, hidden), nn.BatchNorm2d(hidden, 1e-3, 0.001), activation()]
        if excites:
            parts.append(Excited(hidden, _multiple_of_8(hidden / 4)))
        self.block = nn.Sequential(*parts, _conv(hidden, outputs, 1), nn.BatchNorm2d(outputs, 1e-3, 0.001))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.block(x) if self.adds else self.block(x)


class MobileNetV3(nn.Module):
    """Padding is symmetric, as in torchvision: the work is that of Keras' nets, the logits are not."""

    RELU, SWISH = nn.ReLU, nn.Hardswish
    LARGE = [(3, 1, 16, False, RELU, 1), (3, 4, 24, False, RELU, 2), (3, 3, 24, False, RELU, 1), (5, 3, 40, True, RELU, 2),
             (5, 3, 40, True, RELU, 1), (5, 3, 40, True, RELU, 1), (3, 6, 80, False, SWISH, 2), (3, 2.5, 80, False, SWISH, 1),
             (3, 2.3, 80, False, SWISH, 1), (3, 2.3, 80, False, SWISH, 1), (3, 6, 112, True, SWISH, 1),
             (3, 6, 112, True, SWISH, 1), (5, 6, 160, True, SWISH, 2), (5, 6, 160, True, SWISH, 1), (5, 6, 160, True, SWISH, 1)]
    SMALL = [(3, 1, 16, True, RELU, 2), (3, 72 / 16, 24, False, RELU, 2), (3, 88 / 24, 24, False, RELU, 1),
             (5, 4, 40, True, SWISH, 2), (5, 6, 40, True, SWISH, 1), (5, 6, 40, True, SWISH, 1), (5, 3, 48, True, SWISH, 1),
             (5, 3, 48, True, SWISH, 1), (5, 6, 96, True, SWISH, 2), (5, 6, 96, True, SWISH, 1), (5, 6, 96, True, SWISH, 1)]
    TYPES = {"large": (LARGE, 1280), "small": (SMALL, 1024)}

    def __init__(self, input_shape, classes=1000, model_type="large", dropout=0.2):
        super().__init__()
        channels, (blocks, units) = 16, self.TYPES[model_type]
        parts = [_conv(input_shape[2], channels, 3, 2), nn.BatchNorm2d(channels, 1e-3, 0.001), nn.Hardswish()]
        for block in blocks:
            parts.append(MobileBlock(channels, *block))
            channels = block[2]
        self.features = nn.Sequential(*parts, _conv(channels, 6 * channels, 1), nn.BatchNorm2d(6 * channels, 1e-3, 0.001),
                                      nn.Hardswish())
        self.classifier = nn.Sequential(nn.Linear(6 * channels, units), nn.Hardswish(), nn.Dropout(dropout),
                                        nn.Linear(units, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class EncoderBlock(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.self_attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(dropout), nn.Linear(4 * width, width),
                                 nn.Dropout(dropout))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        y = self.ln_1(x)
        x = x + self.drop(self.self_attention(y, y, y, need_weights=False)[0])
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    def __init__(self, length, width, depth, heads, dropout):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(1, length, width) * 0.02)
        self.drop = nn.Dropout(dropout)
        self.layers = nn.Sequential(OrderedDict(
            (f"encoder_layer_{index}", EncoderBlock(width, heads, dropout)) for index in range(depth)))
        self.ln = nn.LayerNorm(width, 1e-6)

    def forward(self, x):
        return self.ln(self.layers(self.drop(x + self.pos_embedding)))


class Vit(nn.Module):
    def __init__(self, input_shape, classes=1000, patch=16, width=768, depth=12, heads=12, dropout=0.1):
        super().__init__()
        patches = (input_shape[0] // patch) * (input_shape[1] // patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.conv_proj = nn.Conv2d(input_shape[2], width, patch, patch)
        self.encoder = Encoder(patches + 1, width, depth, heads, dropout)
        self.heads = nn.Sequential(OrderedDict(head=nn.Linear(width, classes)))

    def forward(self, x):
        x = self.conv_proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], 1)
        return self.heads(self.encoder(x)[:, 0])


class Convolutions(nn.Module):
    def __init__(self, inputs, outputs, padding):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(inputs, outputs, 3, padding=padding), nn.Conv2d(outputs, outputs, 3, padding=padding)

    def forward(self, x):
        return functional.relu(self.conv2(functional.relu(self.conv1(x))))


class Unet(nn.Module):
    def __init__(self, input_shape, classes=2, width=64, depth=4, padding="valid", dropout=0.5):
        super().__init__()
        widths, pixels = [width << level for level in range(depth + 1)], 1 if padding == "same" else 0
        self.down = nn.ModuleList(Convolutions(inputs, outputs, pixels)
                                  for inputs, outputs in zip([input_shape[2], *widths], widths))
        self.larger = nn.ModuleList(nn.ConvTranspose2d(2 * filters, filters, 2, 2) for filters in widths[:-1])
        self.up = nn.ModuleList(Convolutions(2 * filters, filters, pixels) for filters in widths[:-1])
        self.drop, self.classes = nn.Dropout(dropout), nn.Conv2d(width, classes, 1)

    def forward(self, x):
        depth, skips = len(self.up), []
        for level, convolutions in enumerate(self.down):
            x = convolutions(x)
            if level >= depth - 1:
                x = self.drop(x)
            if level < depth:
                skips.append(x)
                x = functional.max_pool2d(x, 2)
        for level in reversed(range(depth)):
            x = self.larger[level](x)
            rows, columns = ((skips[level].shape[axis] - x.shape[axis]) // 2 for axis in (2, 3))
            skip = skips[level][:, :, rows:rows + x.shape[2], columns:columns + x.shape[3]]
            x = self.up[level](torch.cat([skip, x], 1))
        return self.classes(x)


class InOut(nn.Module):
    """A linear layer with its weight as [in, out], as the published GPT-2 has it."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return functional.linear(x, self.weight.t(), self.bias)


def _attend(query, key, value, heads, causal):
    def split(x):
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    y = functional.scaled_dot_product_attention(split(query), split(key), split(value), is_causal=causal)
    return y.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = InOut(width, 3 * width), InOut(width, width)

    def forward(self, x):
        return self.c_proj(_attend(*self.c_attn(x).chunk(3, -1), self.heads, True))


class Expansion(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = InOut(width, 4 * width), InOut(4 * width, width)

    def forward(self, x):
        return self.c_proj(functional.gelu(self.c_fc(x), approximate="tanh"))


class GptBlock(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), SelfAttention(width, heads)
        self.ln_2, self.mlp = nn.LayerNorm(width), Expansion(width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attn(self.ln_1(x)))
        return x + self.drop(self.mlp(self.ln_2(x)))


class Gpt2(nn.Module):
    def __init__(self, vocabulary=50257, context=1024, length=0, width=768, depth=12, heads=12, dropout=0.1):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=0.02)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(GptBlock(width, heads, dropout) for _ in range(depth))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1])))
        for block in self.h:
            x = block(x)
        return functional.linear(self.ln_f(x), self.wte.weight)


class BertBlock(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width, 1e-12)
        self.expand, self.project = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm2, self.drop = nn.LayerNorm(width, 1e-12), nn.Dropout(dropout)

    def forward(self, x):
        y = _attend(self.query(x), self.key(x), self.value(x), self.heads, False)
        x = self.norm1(x + self.drop(self.output(y)))
        return self.norm2(x + self.drop(self.project(functional.gelu(self.expand(x)))))


class BertSmall(nn.Module):
    def __init__(self, vocabulary=30522, context=512, length=0, width=512, depth=4, heads=8, dropout=0.1, classes=0):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.segments, self.norm = nn.Embedding(2, width), nn.LayerNorm(width, 1e-12)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(BertBlock(width, heads, dropout) for _ in range(depth))
        self.pooler = nn.Linear(width, width)
        self.classes = nn.Linear(width, classes) if classes else nn.Identity()

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1])) + self.segments.weight[0]
        x = self.drop(self.norm(x))
        for block in self.blocks:
            x = block(x)
        return self.classes(self.drop(torch.tanh(self.pooler(x[:, 0]))))


class LstmText(nn.Module):
    def __init__(self, vocabulary=20000, length=200, width=128, units=64, classes=1):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.first = nn.LSTM(width, units, batch_first=True, bidirectional=True)
        self.second = nn.LSTM(2 * units, units, batch_first=True, bidirectional=True)
        self.classes = nn.Linear(2 * units, classes)

    def forward(self, tokens):
        _, (last, _) = self.second(self.first(self.tokens(tokens))[0])
        return self.classes(last.transpose(0, 1).flatten(1))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5))


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, key_value_heads):
        super().__init__()
        self.heads, self.key_value_heads, dim = heads, key_value_heads, width // heads
        self.q_proj, self.o_proj = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(width, key_value_heads * dim, bias=False) for _ in range(2))

    def forward(self, x, cos, sin):
        def split(y, heads):
            return y.unflatten(-1, (heads, -1)).transpose(1, 2)

        def rotate(y):
            first, second = y.chunk(2, -1)
            return y * cos + torch.cat((-second, first), -1) * sin

        def share(y):
            return y.repeat_interleave(self.heads // self.key_value_heads, 1)

        query = rotate(split(self.q_proj(x), self.heads))
        key, value = (split(project(x), self.key_value_heads) for project in (self.k_proj, self.v_proj))
        y = functional.scaled_dot_product_attention(query, share(rotate(key)), share(value), is_causal=True)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class LlamaExpansion(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):
    def __init__(self, width, hidden, heads, key_value_heads):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(width), RmsNorm(width)
        self.self_attn, self.mlp = LlamaAttention(width, heads, key_value_heads), LlamaExpansion(width, hidden)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaBody(nn.Module):
    def __init__(self, vocabulary, width, hidden, depth, heads, key_value_heads, rope_max_wavelength):
        super().__init__()
        self.dim, self.rope_max_wavelength = width // heads, rope_max_wavelength
        self.embed_tokens, self.norm = nn.Embedding(vocabulary, width), RmsNorm(width)
        nn.init.normal_(self.embed_tokens.weight, std=0.02)
        self.layers = nn.ModuleList(LlamaBlock(width, hidden, heads, key_value_heads) for _ in range(depth))

    def forward(self, tokens):
        rate = self.rope_max_wavelength ** (-torch.arange(0, self.dim, 2) / self.dim)
        angle = torch.outer(torch.arange(tokens.shape[1]), rate).repeat(1, 2)
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, angle.cos(), angle.sin())
        return self.norm(x)


class Llama(nn.Module):
    def __init__(self, vocabulary=49152, context=8192, length=0, width=576, hidden=1536, depth=30, heads=9,
                 key_value_heads=3, rope_max_wavelength=100000):
        super().__init__()
        self.model = LlamaBody(vocabulary, width, hidden, depth, heads, key_value_heads, rope_max_wavelength)

    def forward(self, tokens):
        return functional.linear(self.model(tokens), self.model.embed_tokens.weight)


def build(name, options):
    if name == "resnet18":
        return ResNet(Basic, **{"blocks": [2, 2, 2, 2]} | options)
    if name == "resnet50":
        return ResNet(Bottleneck, **{"blocks": [3, 4, 6, 3]} | options)
    nets = {"vgg16": Vgg16, "mobilenet_v2": MobileNetV2, "mobilenet_v3": MobileNetV3, "vit_b16": Vit,
            "unet": Unet, "gpt2_small": Gpt2, "bert_small": BertSmall, "lstm_text": LstmText,
            "llama_small": Llama}
    return nets[name](**options)


def loss_of(name, logits, labels):
    if name == "lstm_text":
        return functional.binary_cross_entropy_with_logits(logits, labels)
    if name == "unet":
        return functional.cross_entropy(logits, labels)
    return functional.cross_entropy(logits.flatten(0, -2), labels.flatten())


def randomize(net, seed):
    """Random statistics and scales of normalizations, and numbers for what begins as zeros, so that a wrong order shows."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in net.parameters():
        if not parameter.any():
            parameter.data = torch.rand(parameter.shape, generator=generator) / 10
    for module in net.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            size = module.weight.shape
            module.weight.data = torch.rand(size, generator=generator) / math.sqrt(2) + 0.5
            module.bias.data = torch.rand(size, generator=generator) / 10
        if isinstance(module, RmsNorm):
            module.weight.data = torch.rand(module.weight.shape, generator=generator) / math.sqrt(2) + 0.5
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.data = torch.rand(size, generator=generator) / 10
            module.running_var.data = torch.rand(size, generator=generator) + 0.5
