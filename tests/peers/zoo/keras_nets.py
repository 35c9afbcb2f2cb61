"""The nets of gb.zoo in Keras."""

import keras
from keras import layers

MOBILE_STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def normalized(x):
    return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)


def conv(x, filters, size, stride=1):
    if stride > 1 and size > 1:
        x = layers.ZeroPadding2D(size // 2)(x)
    padding = "valid" if stride > 1 else "same"
    return normalized(layers.Conv2D(filters, size, stride, padding, use_bias=False)(x))


def residual_net(blocks, expansion, input_shape, classes=1000, width=64):
    inputs = keras.Input(input_shape)
    x = layers.ReLU()(conv(inputs, width, 7, 2))
    x = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(x))
    channels = width
    for stage, count in enumerate(blocks):
        filters = width << stage
        for index in range(count):
            stride = 2 if index == 0 and stage > 0 else 1
            short = x
            if stride > 1 or channels != expansion * filters:
                short = conv(x, expansion * filters, 1, stride)
            if expansion == 1:
                y = conv(layers.ReLU()(conv(x, filters, 3, stride)), filters, 3)
            else:
                y = layers.ReLU()(conv(x, filters, 1))
                y = conv(layers.ReLU()(conv(y, filters, 3, stride)), 4 * filters, 1)
            x, channels = layers.ReLU()(layers.Add()([y, short])), expansion * filters
    return keras.Model(inputs, layers.Dense(classes)(layers.GlobalAveragePooling2D()(x)))


def vgg16(input_shape, classes=1000):
    """Without the paper's dropout."""
    return keras.applications.VGG16(weights=None, input_shape=tuple(input_shape), classes=classes,
                                    classifier_activation=None)


def mobilenet_v2(input_shape, classes=1000, dropout=0.2):
    def spatial(x, stride, layer):
        if stride > 1:
            x = layers.ZeroPadding2D(1)(x)
        x = layer(strides=stride, padding="valid" if stride > 1 else "same", use_bias=False)(x)
        return layers.ReLU(6)(normalized(x))

    inputs = keras.Input(input_shape)
    channels = 32
    x = spatial(inputs, 2, lambda **options: layers.Conv2D(channels, 3, **options))
    for expansion, filters, count, first in MOBILE_STAGES:
        for index in range(count):
            stride, y = first if index == 0 else 1, x
            if expansion > 1:
                y = layers.ReLU(6)(conv(x, expansion * channels, 1))
            y = conv(spatial(y, stride, lambda **options: layers.DepthwiseConv2D(3, **options)), filters, 1)
            x = layers.Add()([x, y]) if stride == 1 and channels == filters else y
            channels = filters
    x = layers.GlobalAveragePooling2D()(layers.ReLU(6)(conv(x, 1280, 1)))
    return keras.Model(inputs, layers.Dense(classes)(layers.Dropout(dropout)(x)))


def mobilenet_v3(input_shape, classes=1000, model_type="large"):
    kind = keras.applications.MobileNetV3Large if model_type == "large" else keras.applications.MobileNetV3Small
    return kind(weights=None, input_shape=tuple(input_shape), classes=classes, classifier_activation=None,
                include_preprocessing=False)


class Positions(layers.Layer):
    """Adds a vector for each position, and the first of `segments` vectors."""

    def __init__(self, context, segments=0):
        super().__init__()
        self.context, self.segments = context, segments

    def build(self, shape):
        self.table = self.add_weight(shape=(self.context, shape[-1]), initializer="random_normal")
        if self.segments:
            self.kinds = self.add_weight(shape=(self.segments, shape[-1]), initializer="random_normal")

    def call(self, x):
        x = x + self.table[: x.shape[1]]
        return x + self.kinds[0] if self.segments else x


class ClassToken(layers.Layer):
    """A learned vector before those of the patches."""

    def build(self, shape):
        self.token = self.add_weight(shape=(1, 1, shape[-1]), initializer="zeros")

    def call(self, x):
        token = keras.ops.broadcast_to(self.token, (keras.ops.shape(x)[0], 1, x.shape[-1]))
        return keras.ops.concatenate([token, x], 1)


def vit(input_shape, classes=1000, patch=16, width=768, depth=12, heads=12, dropout=0.1):
    inputs = keras.Input(input_shape)
    x = layers.Reshape((-1, width))(layers.Conv2D(width, patch, patch)(inputs))
    x = ClassToken()(x)
    x = layers.Dropout(dropout)(Positions(x.shape[1])(x))
    for _ in range(depth):
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        y = layers.MultiHeadAttention(heads, width // heads)(y, y)
        x = layers.Add()([x, layers.Dropout(dropout)(y)])
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        y = layers.Dense(4 * width, activation=lambda v: keras.ops.gelu(v, approximate=False))(y)
        y = layers.Dense(width)(layers.Dropout(dropout)(y))
        x = layers.Add()([x, layers.Dropout(dropout)(y)])
    return keras.Model(inputs, layers.Dense(classes)(layers.LayerNormalization(epsilon=1e-6)(x)[:, 0]))


def unet(input_shape, classes=2, width=64, depth=4, padding="valid", dropout=0.5):
    def convolutions(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding=padding, activation="relu")(x)
        return x

    def cropped(x, y):
        sides = [(x.shape[axis] - y.shape[axis]) for axis in (1, 2)]
        return layers.Cropping2D([(side // 2, side - side // 2) for side in sides])(x) if any(sides) else x

    inputs = x = keras.Input(input_shape)
    skips = []
    for level in range(depth + 1):
        x = convolutions(x, width << level)
        if level >= depth - 1:
            x = layers.Dropout(dropout)(x)
        if level < depth:
            skips.append(x)
            x = layers.MaxPooling2D(2)(x)
    for level in reversed(range(depth)):
        x = layers.Conv2DTranspose(width << level, 2, 2)(x)
        x = convolutions(layers.Concatenate()([cropped(skips[level], x), x]), width << level)
    return keras.Model(inputs, layers.Conv2D(classes, 1)(x))


class TiedLogits(layers.Layer):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def call(self, x):
        return keras.ops.matmul(x, keras.ops.transpose(self.embedding.embeddings))


def gpt2(length, vocabulary=50257, context=1024, width=768, depth=12, heads=12, dropout=0.1):
    inputs = keras.Input((length,), dtype="int32")
    tokens = layers.Embedding(vocabulary, width)
    x = layers.Dropout(dropout)(Positions(context)(tokens(inputs)))
    for _ in range(depth):
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        y = layers.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=True)
        x = layers.Add()([x, layers.Dropout(dropout)(y)])
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        y = layers.Dense(4 * width, activation=lambda v: keras.ops.gelu(v, approximate=True))(y)
        x = layers.Add()([x, layers.Dropout(dropout)(layers.Dense(width)(y))])
    return keras.Model(inputs, TiedLogits(tokens)(layers.LayerNormalization(epsilon=1e-5)(x)))


def bert(length, vocabulary=30522, context=512, width=512, depth=4, heads=8, dropout=0.1, classes=2):
    inputs = keras.Input((length,), dtype="int32")
    x = Positions(context, 2)(layers.Embedding(vocabulary, width)(inputs))
    x = layers.Dropout(dropout)(layers.LayerNormalization(epsilon=1e-12)(x))
    for _ in range(depth):
        y = layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = layers.LayerNormalization(epsilon=1e-12)(layers.Add()([x, layers.Dropout(dropout)(y)]))
        y = layers.Dense(width)(layers.Dense(4 * width, activation=lambda v: keras.ops.gelu(v, approximate=False))(x))
        x = layers.LayerNormalization(epsilon=1e-12)(layers.Add()([x, layers.Dropout(dropout)(y)]))
    pooled = layers.Dropout(dropout)(layers.Dense(width, "tanh")(x[:, 0]))
    return keras.Model(inputs, layers.Dense(classes)(pooled))


def lstm_text(length, vocabulary=20000, width=128, units=64, classes=1):
    inputs = keras.Input((length,), dtype="int32")
    x = layers.Bidirectional(layers.LSTM(units, return_sequences=True))(layers.Embedding(vocabulary, width)(inputs))
    return keras.Model(inputs, layers.Dense(classes)(layers.Bidirectional(layers.LSTM(units))(x)))


class LlamaAttention(layers.Layer):
    """Causal attention of heads that share keys and values, behind a rotation by positions."""

    def __init__(self, width, heads, key_value_heads, rope_max_wavelength):
        super().__init__()
        self.heads, self.key_value_heads, self.dim = heads, key_value_heads, width // heads
        self.rope_max_wavelength = rope_max_wavelength
        self.query, self.output_dense = (layers.Dense(width, use_bias=False) for _ in range(2))
        self.key, self.value = (layers.Dense(key_value_heads * self.dim, use_bias=False) for _ in range(2))

    def call(self, x):
        ops, time = keras.ops, x.shape[1]
        rate = self.rope_max_wavelength ** (-ops.arange(0, self.dim, 2, dtype="float32") / self.dim)
        angle = ops.arange(time, dtype="float32")[:, None, None] * rate
        cos, sin = ops.cast(ops.cos(angle), x.dtype), ops.cast(ops.sin(angle), x.dtype)

        def rotate(y):
            first, second = ops.split(y, 2, -1)
            return ops.concatenate([first * cos - second * sin, second * cos + first * sin], -1)

        def split(y, heads):
            return ops.reshape(y, (-1, time, heads, self.dim))

        query, key, value = split(self.query(x), self.heads), *(split(project(x), self.key_value_heads)
                                                                for project in (self.key, self.value))
        share = self.heads // self.key_value_heads
        y = ops.dot_product_attention(rotate(query), ops.repeat(rotate(key), share, 2), ops.repeat(value, share, 2),
                                      is_causal=True)
        return self.output_dense(ops.reshape(y, (-1, time, self.heads * self.dim)))


def llama(length, vocabulary=49152, context=8192, width=576, hidden=1536, depth=30, heads=9, key_value_heads=3,
          rope_max_wavelength=100000):
    def dense(units, activation=None):
        return layers.Dense(units, activation, use_bias=False)

    def norm():
        return layers.RMSNormalization(epsilon=1e-5)

    inputs = keras.Input((length,), dtype="int32")
    tokens = layers.Embedding(vocabulary, width)
    x = tokens(inputs)
    for _ in range(depth):
        x = layers.Add()([x, LlamaAttention(width, heads, key_value_heads, rope_max_wavelength)(norm()(x))])
        y = norm()(x)
        x = layers.Add()([x, dense(width)(layers.Multiply()([dense(hidden, "silu")(y), dense(hidden)(y)]))])
    return keras.Model(inputs, TiedLogits(tokens)(norm()(x)))


def build(name, options):
    if name == "resnet18":
        return residual_net([2, 2, 2, 2], 1, **options)
    if name == "resnet50":
        return residual_net([3, 4, 6, 3], 4, **options)
    nets = {"vgg16": vgg16, "mobilenet_v2": mobilenet_v2, "mobilenet_v3": mobilenet_v3, "vit_b16": vit,
            "unet": unet, "gpt2_small": gpt2, "bert_small": bert, "lstm_text": lstm_text,
            "llama_small": llama}
    return nets[name](**options)


def loss_of(name):
    if name == "lstm_text":
        return keras.losses.BinaryCrossentropy(from_logits=True)
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)
