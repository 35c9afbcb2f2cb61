"""The nets of this folder in Keras: their losses on the same weights and the same batch, into nets_values.lua.

Weights and batches follow from a formula (`numbers`), which nets_test.lua has too, so that the file holds shapes and
losses alone. It is run by hand, as the scripts of conformance are.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

from values import case, keras, numpy, tf, write  # noqa: E402

L, ops = keras.layers, keras.ops


def numbers(count, stream):
    """Whole numbers below 10007 without a pattern that a transposed or shifted weight could hide in."""
    i = numpy.arange(count, dtype=numpy.int64)
    return (31 * i * i + (7919 + 613 * stream) * i + 104729 * stream) % 10007


def made(form, stream):
    """The array that a form stands for: base + scale * [-1, 1), or whole numbers from low to below high."""
    drawn = numbers(math.prod(form["shape"]), stream).reshape(form["shape"])
    if "low" not in form:
        return (form["base"] + form["scale"] * (2 * drawn / 10007 - 1)).astype(numpy.float32)
    drawn = form["low"] + drawn % (form["high"] - form["low"])
    if "kept" in form:  # of the first row so many, of each further row one more; the others are padding
        drawn *= numpy.arange(drawn.shape[1]) < form["kept"] + numpy.arange(drawn.shape[0])[:, None]
    if "classes" in form:
        return numpy.eye(form["classes"], dtype=numpy.float32)[drawn]
    return drawn.astype(form["dtype"])


def reals(*shape, base=0.0, scale=1.0):
    return {"shape": shape, "base": base, "scale": scale}


def wholes(*shape, low=0, high=2, dtype="float32", **more):
    return {"shape": shape, "low": low, "high": high, "dtype": dtype} | more


def tokens(*shape, **more):
    return wholes(*shape, dtype="int32", **more)


def set_weights(weights):
    """Sets them by the formula, and gives their forms: gammas and variances around 1, kernels as Glorot draws them."""
    forms = []
    for stream, weight in enumerate(weights):
        shape = tuple(weight.shape)
        scale = 0.1 if len(shape) == 1 else round(math.sqrt(6 / (math.prod(shape[:-1]) + shape[-1])), 3)
        around = weight.name in ("gamma", "moving_variance")
        form = reals(*shape, base=1.0 if around else 0.0, scale=0.5 if weight.name == "embeddings" else scale)
        weight.assign(made(form, stream + 1))
        forms.append(form)
    return forms


def given(forms):
    return [made(form, 101 + stream) for stream, form in enumerate(forms)]


def held(build, inputs, labels, random=False):
    """The loss in inference, those of three steps, and the one after them. The steps of a net that draws numbers in
    training call it as in inference."""
    model = build()
    fields = {"weights": set_weights(model.weights), "inputs": inputs, "labels": labels}
    arrays = given(inputs + labels)
    x, y = arrays[:len(inputs)], arrays[len(inputs):]
    x, y = x[0] if len(x) == 1 else x, y[0] if len(y) == 1 else dict(zip(model.output_names, y))
    rows = inputs[0]["shape"][0]

    def evaluated():
        return model.evaluate(x, y, batch_size=rows, verbose=0, return_dict=True)["loss"]

    fields |= {"random": random, "loss": evaluated()}
    return fields | {"trained": [step(model, x, y, not random) for _ in range(3)], "after": evaluated()}


def step(model, x, y, training):
    """The loss before it. Gradients of embeddings are dense, as of Keras' other backends: of TensorFlow's sparse ones
    fit squares what each mention of a token adds by itself, instead of their sum."""
    with tf.GradientTape() as tape:
        loss = model.compute_loss(x=x, y=y, y_pred=model(x, training=training))
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply_gradients(zip(map(tf.convert_to_tensor, gradients), model.trainable_variables))
    return float(loss)


def unet():
    def block(x, channels):
        for _ in range(2):
            x = L.Conv2D(channels, 3, padding="same", use_bias=False)(x)
            x = L.ReLU()(L.BatchNormalization()(x))
        return x

    image = x = keras.Input((64, 64, 3))
    skips = []
    for channels in (16, 32, 64):
        skips.append(block(x, channels))
        x = L.MaxPooling2D(2)(skips[-1])
    x = block(x, 128)
    for skip in reversed(skips):
        channels = skip.shape[-1]
        x = block(L.Concatenate()([skip, L.Conv2DTranspose(channels, 2, strides=2)(x)]), channels)
    model = keras.Model(image, L.Conv2D(1, 1, activation="sigmoid")(x))
    entropy = keras.losses.BinaryCrossentropy()

    def entropy_and_dice(y, p):
        return entropy(y, p) + 1 - (2 * ops.sum(y * p) + 1) / (ops.sum(y) + ops.sum(p) + 1)

    model.compile("adam", entropy_and_dice)
    return model


class ClassToken(L.Layer):
    """A trained token in front of the others, and a trained vector for each position."""

    def build(self, shape):
        self.token = self.add_weight(shape=(1, 1, shape[2]), initializer="zeros")
        self.positions = self.add_weight(shape=(1, shape[1] + 1, shape[2]), initializer="random_normal")

    def call(self, x):
        token = ops.broadcast_to(self.token, (ops.shape(x)[0], 1, x.shape[2]))
        return ops.concatenate([token, x], axis=1) + self.positions


def vit():
    def norm(x):
        return L.LayerNormalization(epsilon=1e-6)(x)

    width, heads = 64, 4
    image = keras.Input((32, 32, 3))
    x = L.Reshape((-1, width))(L.Conv2D(width, 4, strides=4)(image))
    x = L.Dropout(0.1)(ClassToken()(x))
    for _ in range(4):
        y = norm(x)
        x = x + L.MultiHeadAttention(heads, width // heads, dropout=0.1)(y, y)
        y = L.Dense(2 * width, activation="gelu")(norm(x))
        x = x + L.Dense(width)(L.Dropout(0.1)(y))
    model = keras.Model(image, L.Dense(10)(norm(x)[:, 0]))
    rate = keras.optimizers.schedules.CosineDecay(0.0, 100, warmup_target=1e-3, warmup_steps=10)
    adam = keras.optimizers.AdamW(rate, weight_decay=0.05, global_clipnorm=1.0)
    adam.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    model.compile(adam, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


class Positions(L.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=shape[1:], initializer="random_normal")

    def call(self, x):
        return x * 8.0 + self.table


def seq2seq_transformer():
    vocabulary, length, width, heads = 200, 24, 64, 4

    def embed(words):
        return Positions()(L.Embedding(vocabulary, width)(words))

    def attend(query, value, words, causal=False):
        seen = ops.expand_dims(ops.not_equal(words, 0), 1)
        attention = L.MultiHeadAttention(heads, width // heads)
        y = attention(query, value, attention_mask=seen, use_causal_mask=causal)
        return L.LayerNormalization()(query + L.Dropout(0.1)(y))

    def feed(x):
        return L.LayerNormalization()(x + L.Dense(width)(L.Dense(4 * width, activation="relu")(x)))

    source, target = keras.Input((length,), dtype="int32"), keras.Input((length,), dtype="int32")
    memory, x = embed(source), embed(target)
    for _ in range(2):
        memory = feed(attend(memory, memory, source))
    for _ in range(2):
        x = feed(attend(attend(x, x, target, causal=True), memory, source))
    model = keras.Model([source, target], L.Dense(vocabulary)(x))

    def of_words(y, logits):
        words = ops.cast(ops.not_equal(y, 0), "float32")
        losses = ops.sparse_categorical_crossentropy(y, logits, from_logits=True)
        return ops.sum(losses * words) / ops.sum(words)

    model.compile(keras.optimizers.Adam(1e-3, beta_2=0.98, epsilon=1e-9), of_words)
    return model


def dlrm():
    fields, vocabulary, width = 8, 1000, 16

    def mlp(x, units):
        for count in units:
            x = L.Dense(count, activation="relu")(x)
        return x

    facts, kinds = keras.Input((13,)), keras.Input((fields,), dtype="int32")
    bottom = mlp(facts, (64, 32, width))
    rows = [L.Reshape((1, width))(bottom)]
    rows += [L.Embedding(vocabulary, width)(kinds[:, i:i + 1]) for i in range(fields)]
    rows = L.Concatenate(axis=1)(rows)
    products = ops.reshape(ops.matmul(rows, ops.transpose(rows, (0, 2, 1))), (-1, (fields + 1) ** 2))
    below = [i * (fields + 1) + j for i in range(1, fields + 1) for j in range(i)]
    x = mlp(L.Concatenate()([bottom, ops.take(products, below, axis=1)]), (64, 32))
    model = keras.Model([facts, kinds], L.Dense(1, activation="sigmoid")(x))
    model.compile("adam", "binary_crossentropy")
    return model


class Sample(L.Layer):
    def call(self, statistics, training=False):
        mean, log_variance = statistics
        divergence = ops.sum(0.5 * (mean * mean + ops.exp(log_variance) - 1 - log_variance), -1)
        self.add_loss(ops.mean(divergence))
        noise = keras.random.normal(ops.shape(mean)) if training else 0.0
        return mean + ops.exp(0.5 * log_variance) * noise


def vae():
    image = keras.Input((784,))
    hidden = L.Dense(256, activation="relu")(image)
    z = Sample()([L.Dense(8)(hidden), L.Dense(8)(hidden)])
    model = keras.Model(image, L.Dense(784, activation="sigmoid")(L.Dense(256, activation="relu")(z)))

    def of_pixels(x, p):
        return -ops.mean(ops.sum(x * ops.log(p + 1e-7) + (1 - x) * ops.log(1 - p + 1e-7), -1))

    model.compile("adam", of_pixels)
    return model


def siamese():
    encoder = keras.Sequential([
        keras.Input((28, 28, 1)), L.Conv2D(16, 3, activation="relu"), L.MaxPooling2D(2),
        L.Conv2D(32, 3, activation="relu"), L.MaxPooling2D(2), L.Flatten(), L.Dense(32),
    ])
    a, b = keras.Input((28, 28, 1)), keras.Input((28, 28, 1))
    distance = ops.sqrt(ops.sum(ops.square(encoder(a) - encoder(b)), -1, keepdims=True) + 1e-9)
    model = keras.Model([a, b], distance)

    def contrastive(same, d):
        return ops.mean(same * d * d + (1 - same) * ops.square(ops.maximum(1 - d, 0)))

    model.compile("adam", contrastive)
    return model


def multi():
    title, body, tags = keras.Input((10,)), keras.Input((40,)), keras.Input((12,))
    embed = L.Embedding(1000, 32, mask_zero=True)
    x = L.Concatenate()([L.LSTM(32)(embed(title)), L.Bidirectional(L.LSTM(16))(embed(body)), tags])
    priority, department = L.Dense(1, activation="sigmoid", name="priority")(x), L.Dense(4, name="department")(x)
    model = keras.Model([title, body, tags], [priority, department])
    of_department = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.RMSprop(1e-3), {"priority": "binary_crossentropy", "department": of_department},
                  loss_weights={"priority": 1.0, "department": 0.2})
    return model


class Decoder(L.Layer):
    """An LSTM over the target whose every step attends to the source by its state before."""

    def __init__(self, width, length):
        super().__init__()
        self.length, self.cell, self.query = length, L.LSTMCell(width), L.Dense(width)
        self.mix = L.Dense(width, activation="tanh")

    def build(self, shapes):
        width = self.query.units
        self.cell.build((None, 2 * width))
        self.query.build((None, width))
        self.mix.build((None, 2 * width))

    def call(self, inputs):
        keys, x = inputs
        h, outputs = ops.mean(keys, 1), []
        c = h * 0
        for t in range(self.length):
            weights = ops.softmax(ops.sum(self.query(h)[:, None] * keys, -1))
            context = ops.sum(weights[..., None] * keys, 1)
            _, (h, c) = self.cell(ops.concatenate([x[:, t], context], -1), [h, c])
            outputs.append(self.mix(ops.concatenate([h, context], -1)))
        return ops.stack(outputs, 1)


def seq2seq_lstm():
    vocabulary, width, length = 60, 48, 12
    source, target = keras.Input((length,), dtype="int32"), keras.Input((length,), dtype="int32")
    read = L.Bidirectional(L.LSTM(width // 2, return_sequences=True))
    memory = read(L.Embedding(vocabulary, width)(source))
    x = Decoder(width, length)([memory, L.Embedding(vocabulary, width)(target)])
    model = keras.Model([source, target], L.Dense(vocabulary)(x))
    model.compile(keras.optimizers.Adam(3e-3, clipnorm=1.0),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


class NoisyDense(L.Layer):
    """Variational dropout: each weight has noise of its own, whose strength is learned."""

    def __init__(self, units, relu=False):
        super().__init__()
        self.units, self.relu = units, relu

    def build(self, shape):
        self.theta = self.add_weight(shape=(shape[1], self.units))
        self.log_variance = self.add_weight(shape=(shape[1], self.units), initializer=keras.initializers.Constant(-8))
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, x, training=False):
        y = mean = ops.matmul(x, self.theta) + self.bias
        if training:
            deviation = ops.sqrt(ops.matmul(ops.square(x), ops.exp(self.log_variance)) + 1e-8)
            y = mean + deviation * keras.random.normal(ops.shape(mean))
        a = ops.clip(self.log_variance - ops.log(ops.square(self.theta) + 1e-8), -10, 10)
        gain = 0.63576 * ops.sigmoid(1.8732 + 1.48695 * a) - 0.5 * ops.log(1 + ops.exp(-a)) - 0.63576
        self.add_loss(-1e-6 * ops.sum(gain))
        return ops.relu(y) if self.relu else y


def vdropout():
    model = keras.Sequential([keras.Input((784,)), NoisyDense(128, relu=True), NoisyDense(10)])
    model.compile("adam", keras.losses.CategoricalCrossentropy(from_logits=True))
    return model


def gan():
    """Both losses, with the generator in inference and in training; the discriminator drops in training."""
    leaky = {"activation": "leaky_relu"}
    generator = keras.Sequential([keras.Input((32,)), L.Dense(128, **leaky), L.BatchNormalization(),
                                  L.Dense(256, **leaky), L.Dense(784, activation="tanh")])
    discriminator = keras.Sequential([keras.Input((784,)), L.Dense(256, **leaky), L.Dropout(0.3),
                                      L.Dense(128, **leaky), L.Dense(1)])
    inputs = [reals(8, 784, base=0.5, scale=0.5), reals(8, 32)]
    fields = {"inputs": inputs, "generator": set_weights(generator.weights),
              "discriminator": set_weights(discriminator.weights)}
    entropy = keras.losses.BinaryCrossentropy(from_logits=True)
    real, z = given(inputs)
    on = numpy.ones((8, 1), numpy.float32)
    for name, training in ("inference", False), ("training", True):
        scores = discriminator(generator(z, training=training))
        fields[name] = [entropy(0.9 * on, discriminator(real)) + entropy(0 * on, scores), entropy(on, scores)]
        fields[name] = [float(loss) for loss in fields[name]]
    return fields


case("nets", "unet", held, unet, [reals(2, 64, 64, 3)], [wholes(2, 64, 64, 1)])
case("nets", "vit", held, vit, [reals(4, 32, 32, 3)], [wholes(4, high=10, dtype="int64")], random=True)
case("nets", "seq2seq_transformer", held, seq2seq_transformer,
     [tokens(4, 24, low=2, high=199, kept=12), tokens(4, 24, low=1, high=199, kept=13)],
     [wholes(4, 24, low=2, high=199, dtype="int64", kept=12)], random=True)
case("nets", "dlrm", held, dlrm, [reals(16, 13), tokens(16, 8, high=1000)], [wholes(16, 1)])
case("nets", "vae", held, vae, [reals(8, 784, base=0.5, scale=0.5)], [reals(8, 784, base=0.5, scale=0.5)], random=True)
case("nets", "siamese", held, siamese, [reals(4, 28, 28, 1), reals(4, 28, 28, 1)], [wholes(4, 1)])
case("nets", "multi", held, multi,
     [tokens(8, 10, high=1000, kept=4), tokens(8, 40, high=1000, kept=20), wholes(8, 12)],
     [wholes(8, 1), wholes(8, high=4, dtype="int64")])
case("nets", "seq2seq_lstm", held, seq2seq_lstm,
     [tokens(8, 12, low=2, high=60), tokens(8, 12, low=1, high=60)],
     [wholes(8, 12, low=2, high=60, dtype="int64")])
case("nets", "vdropout", held, vdropout, [reals(8, 784, base=0.5, scale=0.5)], [wholes(8, high=10, classes=10)],
     random=True)
case("gan", "gan", gan)
write(__file__)
