"""Layers: outputs and gradients with drawn weights, batch normalization over training steps, the spread of random
layers and initializers (whose draws themselves cannot agree)."""

from values import case, drawn, keras, numpy, tf, titled, write

SAME, SEQUENCE = {"padding": "same"}, {"units": 2, "return_sequences": True}
PAIR, THREE = [(2, 2, 2, 2)] * 2, [(2, 3)] * 3
# Windows with equal largest values, and values at the borders of activations.
TIED = numpy.array([[1, 1, 0, 2], [0, 1, 2, 2], [3, 0, -1, -1], [3, 3, -1, -1]], numpy.float32)
BORDERS = numpy.array([[-6, -3, -1, 0], [1, 3, 6, 0.5]], numpy.float32)

# Class, options, the inputs' shapes (or inputs), and what tells cases of the same options apart.
LAYERS = [
    ("Dense", {"units": 3, "activation": "relu"}, (2, 4)),
    ("Dense", {"units": 3, "activation": "tanh"}, (2, 2, 1, 4)),
    ("Dense", {"units": 4, "activation": "softmax"}, (2, 3, 3)),
    ("Dense", {"units": 4, "use_bias": False, "activation": "selu"}, (3, 3)),
    ("Dense", {"units": 3, "activation": "log_softmax"}, (1, 2, 4)),
    ("Dense", {"units": 1, "use_bias": False}, (3, 2)),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 3]} | SAME, (1, 5, 4, 2)),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2]} | SAME, (1, 6, 5, 1)),
    ("Conv2D", {"filters": 1, "kernel_size": [2, 2], "strides": [2, 2]} | SAME, (1, 5, 5, 1)),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 2], "strides": [2, 1], "activation": "relu"}, (1, 6, 5, 1)),
    ("Conv2D", {"filters": 4, "kernel_size": [3, 3], "groups": 2}, (1, 4, 4, 4)),
    ("Conv2D", {"filters": 2, "kernel_size": [2, 2], "dilation_rate": [2, 2]}, (1, 5, 4, 1)),
    ("Conv2D", {"filters": 3, "kernel_size": [3, 4], "strides": [2, 3]} | SAME, (1, 5, 7, 1)),
    ("Conv2D", {"filters": 2, "kernel_size": [2, 4], "strides": [3, 3]}, (1, 6, 8, 2)),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 3], "dilation_rate": [2, 3]} | SAME, (1, 5, 7, 1)),
    ("Conv2D", {"filters": 6, "kernel_size": [3, 3], "strides": [2, 2], "groups": 3} | SAME, (1, 4, 5, 3)),
    ("Conv2D", {"filters": 2, "kernel_size": [5, 5]} | SAME, (1, 3, 2, 1)),
    ("Conv2D", {"filters": 2, "kernel_size": [1, 1], "strides": [2, 2]} | SAME, (1, 5, 4, 3)),
    ("Conv2D", {"filters": 2, "kernel_size": 3, "strides": 2, "use_bias": False}, (1, 6, 7, 1)),
    ("Conv2D", {"filters": 2, "kernel_size": [2, 3], "strides": [1, 2]} | SAME, (1, 4, 6, 1)),
    ("Conv2D", {"filters": 3, "kernel_size": [2, 2], "activation": "softmax"}, (1, 3, 4, 2)),
    ("Conv2D", {"filters": 4, "kernel_size": [3, 2], "groups": 2, "dilation_rate": [2, 1]} | SAME, (1, 5, 4, 4)),
    ("Conv2D", {"filters": 2, "kernel_size": 2, "groups": 2}, (2, 3, 3, 2)),
    ("Conv1D", {"filters": 2, "kernel_size": 3, "strides": 2} | SAME, (1, 6, 2)),
    ("Conv1D", {"filters": 2, "kernel_size": 2, "padding": "causal", "dilation_rate": 2}, (1, 5, 2)),
    ("Conv1D", {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "causal"}, (2, 7, 2)),
    ("Conv1D", {"filters": 4, "kernel_size": 2, "padding": "causal", "dilation_rate": 3, "groups": 2}, (1, 8, 4)),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "dilation_rate": 2, "groups": 2, "activation": "relu"} | SAME,
     (2, 6, 4)),
    ("Conv1D", {"filters": 2, "kernel_size": 4, "strides": 3}, (1, 11, 2)),
    ("Conv1D", {"filters": 2, "kernel_size": 1, "use_bias": False}, (2, 4, 3)),
    ("Conv1D", {"filters": 2, "kernel_size": 5} | SAME, (1, 3, 2)),
    ("Conv1D", {"filters": 2, "kernel_size": 4, "padding": "causal", "activation": "tanh"}, (1, 3, 2)),
    ("DepthwiseConv2D", {"kernel_size": [3, 3]} | SAME, (1, 4, 4, 2)),
    ("DepthwiseConv2D", {"kernel_size": [3, 3], "strides": [2, 2], "depth_multiplier": 2, "activation": "relu6"} | SAME,
     (1, 5, 4, 2)),
    ("DepthwiseConv2D", {"kernel_size": [3, 3], "dilation_rate": [2, 2]}, (1, 6, 5, 2)),
    ("DepthwiseConv2D", {"kernel_size": [2, 3], "strides": [2, 2], "depth_multiplier": 3}, (1, 6, 7, 2)),
    ("DepthwiseConv2D", {"kernel_size": [2, 2], "use_bias": False, "activation": "tanh"} | SAME, (1, 3, 4, 2)),
    ("DepthwiseConv2D", {"kernel_size": 3, "dilation_rate": 2, "depth_multiplier": 2} | SAME, (1, 5, 4, 2)),
    ("SeparableConv2D", {"filters": 3, "kernel_size": [2, 2], "depth_multiplier": 2}, (1, 3, 4, 2)),
    ("SeparableConv2D", {"filters": 3, "kernel_size": [3, 3], "strides": [2, 2], "depth_multiplier": 2,
                         "activation": "relu"} | SAME, (1, 5, 4, 2)),
    ("SeparableConv2D", {"filters": 2, "kernel_size": [2, 3], "dilation_rate": [2, 1], "use_bias": False},
     (1, 5, 5, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2]}, (1, 2, 3, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [3, 3], "strides": [2, 2]} | SAME, (1, 2, 3, 1)),
    ("Conv2DTranspose", {"filters": 1, "kernel_size": [2, 2], "strides": [3, 3]}, (1, 2, 2, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [4, 3], "strides": [2, 1]} | SAME, (1, 3, 4, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [2, 3], "strides": [3, 2]}, (1, 3, 2, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": [2, 2], "dilation_rate": [2, 2]}, (1, 3, 3, 2)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 2, "use_bias": False, "activation": "relu"} | SAME,
     (1, 3, 3, 2)),
    ("Conv2DTranspose", {"filters": 1, "kernel_size": [5, 2], "strides": [1, 3]}, (1, 3, 2, 1)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 3, "dilation_rate": 2} | SAME, (1, 3, 4, 1)),
    ("MaxPooling2D", {"pool_size": [2, 2]}, (1, 5, 5, 1)),
    ("MaxPooling2D", {"pool_size": [3, 3], "strides": [2, 2]} | SAME, [-numpy.abs(drawn(1, 6, 5, 1)) - 1]),
    ("MaxPooling2D", {"pool_size": [2, 3], "strides": [1, 1]}, (1, 5, 6, 2)),
    ("MaxPooling2D", {"pool_size": 3, "strides": 1} | SAME, (1, 4, 3, 2)),
    ("MaxPooling2D", {}, (2, 4, 5, 1)),
    ("MaxPooling2D", {"pool_size": 2}, [TIED.reshape(1, 4, 4, 1)], "ties"),
    ("AveragePooling2D", {"pool_size": [2, 2]} | SAME, (1, 5, 5, 1)),
    ("AveragePooling2D", {"pool_size": [3, 3], "strides": [1, 1]} | SAME, (1, 4, 4, 2)),
    ("AveragePooling2D", {"pool_size": [3, 3], "strides": [2, 2]} | SAME, (1, 6, 5, 2)),
    ("AveragePooling2D", {"pool_size": [2, 3], "strides": [2, 1]}, (1, 5, 6, 2)),
    ("MaxPooling1D", {"pool_size": 3, "strides": 2} | SAME, (1, 6, 2)),
    ("MaxPooling1D", {"pool_size": 3, "strides": 1}, (2, 6, 2)),
    ("MaxPooling1D", {}, [TIED.reshape(2, 8, 1)], "ties"),
    ("AveragePooling1D", {"pool_size": 2} | SAME, (1, 5, 2)),
    ("AveragePooling1D", {"pool_size": 3, "strides": 2} | SAME, (2, 7, 2)),
    ("AveragePooling1D", {"pool_size": 2, "strides": 3}, (1, 7, 2)),
    ("GlobalAveragePooling2D", {}, (2, 3, 3, 2)),
    ("GlobalAveragePooling2D", {"keepdims": True}, (1, 2, 3, 2)),
    ("GlobalMaxPooling2D", {}, (2, 3, 2, 2)),
    ("GlobalMaxPooling2D", {"keepdims": True}, (2, 3, 2, 2)),
    ("GlobalMaxPooling1D", {}, (2, 3, 2)),
    ("GlobalMaxPooling1D", {"keepdims": True}, (2, 3, 2)),
    ("GlobalMaxPooling1D", {}, [TIED.reshape(2, 4, 2)], "ties"),
    ("GlobalMaxPooling2D", {}, [TIED.reshape(1, 2, 4, 2)], "ties"),
    ("GlobalAveragePooling1D", {}, (2, 3, 2)),
    ("GlobalAveragePooling1D", {"keepdims": True}, (2, 5, 3)),
    ("ZeroPadding2D", {"padding": [[1, 0], [2, 1]]}, (1, 2, 2, 2)),
    ("ZeroPadding2D", {"padding": [2, 1]}, (1, 2, 3, 1)),
    ("ZeroPadding2D", {"padding": [[0, 2], [3, 1]]}, (1, 2, 3, 2)),
    ("ZeroPadding2D", {"padding": 2}, (1, 1, 2, 1)),
    ("ZeroPadding2D", {}, (1, 2, 2, 1)),
    ("UpSampling2D", {"size": [2, 3]}, (1, 2, 2, 2)),
    ("UpSampling2D", {"size": [2, 3], "interpolation": "bilinear"}, (1, 3, 2, 2)),
    ("UpSampling2D", {"size": [3, 2], "interpolation": "bilinear"}, (1, 1, 3, 1)),
    ("UpSampling2D", {"size": [3, 2]}, (1, 2, 3, 2)),
    ("UpSampling2D", {}, (2, 2, 1, 1)),
    ("UpSampling2D", {"size": 2, "interpolation": "bilinear"}, (1, 2, 3, 1)),
    ("Rescaling", {"scale": 0.5, "offset": -1.0}, (2, 3)),
    ("Rescaling", {"scale": 0.25}, [numpy.array([[3, 200, 7]], numpy.int64)]),
    ("Flatten", {}, (1, 2, 2, 2)),
    ("Flatten", {}, (3, 2), "rows"),
    ("Normalization", {"mean": 0.5, "variance": 4.0}, (2, 3)),
    ("Permute", {"dims": [2, 1]}, (1, 2, 3)),
    ("Permute", {"dims": [3, 1, 2]}, (2, 2, 3, 4)),
    ("Reshape", {"target_shape": [-1, 2]}, (2, 3, 4)),
    ("Reshape", {"target_shape": [6]}, (2, 3, 2)),
    ("Reshape", {"target_shape": [2, 1, -1]}, (2, 4)),
    ("RepeatVector", {"n": 2}, (2, 3)),
    ("Softmax", {"axis": 1}, (1, 3, 2)),
    ("Softmax", {"axis": 2}, (1, 2, 3, 2)),
    ("Softmax", {}, (2, 3)),
    ("Softmax", {"axis": -2}, (1, 3, 2)),
    ("ReLU", {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.3}, (2, 6)),
    ("ReLU", {"max_value": 6.0}, (2, 4)),
    ("ReLU", {"threshold": 0.5}, (3, 4)),
    ("ReLU", {}, [BORDERS], "borders"),
    ("ReLU", {"max_value": 3.0, "negative_slope": 0.2, "threshold": 1.0}, [BORDERS], "borders"),
    ("LeakyReLU", {}, (2, 4)),
    ("LeakyReLU", {"negative_slope": 0.1}, (3, 4)),
    ("ELU", {"alpha": 0.5}, (2, 4)),
    ("LeakyReLU", {}, [BORDERS], "borders"),
    ("ELU", {}, [BORDERS], "borders"),
    ("Add", {}, [(2, 3, 1), (2, 1, 2)]),
    ("Subtract", {}, PAIR),
    ("Multiply", {}, [(1, 2, 2, 2), (1, 1, 1, 2), (1, 2, 1, 1)]),
    ("Average", {}, THREE),
    ("Maximum", {}, THREE),
    ("Minimum", {}, PAIR),
    ("Add", {}, THREE, "three"),
    ("Subtract", {}, [(2, 3, 1), (2, 1, 2)], "stretched"),
    ("Multiply", {}, THREE, "three"),
    ("Average", {}, [(2, 3, 1), (2, 1, 2)], "stretched"),
    ("Maximum", {}, [(2, 3, 1), (2, 1, 2)], "stretched"),
    ("Maximum", {}, [TIED, TIED.T.copy()], "ties"),
    ("Minimum", {}, THREE, "three"),
    ("Minimum", {}, [TIED, TIED.T.copy()], "ties"),
    ("Concatenate", {"axis": 1}, [(2, 2, 3), (2, 4, 3)]),
    ("Concatenate", {"axis": -2}, [(2, 2, 3), (2, 1, 3), (2, 3, 3)]),
    ("Concatenate", {}, [(2, 3), (2, 1)]),
    ("LSTM", {"units": 3}, (2, 4, 2)),
    ("LSTM", SEQUENCE | {"go_backwards": True}, (2, 3, 2)),
    ("LSTM", SEQUENCE | {"use_bias": False}, (1, 4, 3)),
    ("LSTM", SEQUENCE | {"unit_forget_bias": False}, (2, 5, 2)),
    ("LSTM", {"units": 2, "dropout": 0.5, "recurrent_dropout": 0.3}, (2, 4, 3)),
    ("LSTM", {"units": 3, "go_backwards": True}, (2, 5, 2)),
    ("LSTM", {"units": 2, "activation": "relu", "recurrent_activation": "hard_sigmoid"}, (1, 3, 2)),
    ("LSTM", SEQUENCE | {"use_bias": False, "go_backwards": True}, (2, 4, 2)),
    ("LSTM", {"units": 1}, (3, 1, 2)),
    ("GRU", {"units": 3}, (2, 4, 2)),
    ("GRU", SEQUENCE | {"go_backwards": True}, (2, 3, 2)),
    ("GRU", {"units": 2, "use_bias": False}, (1, 4, 3)),
    ("GRU", SEQUENCE, (2, 5, 2)),
    ("GRU", {"units": 3, "go_backwards": True}, (2, 5, 2)),
    ("GRU", {"units": 2, "dropout": 0.5, "recurrent_dropout": 0.3}, (2, 4, 3)),
    ("GRU", {"units": 1}, (3, 1, 2)),
    ("GRU", SEQUENCE | {"reset_after": False}, (2, 5, 2)),
    ("GRU", {"units": 2, "reset_after": False, "use_bias": False, "go_backwards": True}, (2, 4, 3)),
    ("LayerNormalization", {}, (2, 4)),
    ("LayerNormalization", {"epsilon": 0.1, "center": False}, (1, 2, 3)),
    ("LayerNormalization", {"scale": False}, [drawn(2, 3) + 5]),
    ("LayerNormalization", {"epsilon": 0.05, "center": False, "scale": False}, (2, 3, 4)),
    ("LayerNormalization", {"axis": 1}, (2, 3, 4)),
    ("LayerNormalization", {"axis": [1, 2]}, (2, 3, 4)),
    ("LayerNormalization", {}, [numpy.ones((2, 3), numpy.float32)], "equal numbers"),
    ("RMSNormalization", {}, (2, 4)),
    ("RMSNormalization", {"epsilon": 0.1}, (1, 2, 3)),
    ("RMSNormalization", {"epsilon": 0.01}, (2, 2, 3, 4)),
    ("BatchNormalization", {"epsilon": 0.01}, (3, 4)),
    ("RMSNormalization", {}, [numpy.zeros((2, 3), numpy.float32)], "zeros"),
    ("BatchNormalization", {}, (2, 3, 2, 2)),
    ("BatchNormalization", {"center": False}, (3, 4)),
    ("BatchNormalization", {"scale": False}, (3, 4)),
    ("BatchNormalization", {"axis": 1}, (2, 3, 4)),
    ("Embedding", {"input_dim": 4, "output_dim": 2}, [numpy.array([[3, 0, 3]])]),
    ("Embedding", {"input_dim": 5, "output_dim": 3}, [numpy.array([[[0, 4], [3, 3]]])]),
]

ACTIVATIONS = ["linear", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "swish", "softplus", "softsign",
               "sigmoid", "tanh", "exponential", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "softmax",
               "log_softmax", "gelu_tanh"]

WRAPPED = [
    ("Bidirectional", {}, ("LSTM", {"units": 2}), (2, 3, 2)),
    ("Bidirectional", {}, ("LSTM", SEQUENCE | {"use_bias": False}), (2, 4, 3)),
    ("Bidirectional", {"merge_mode": "sum"}, ("GRU", SEQUENCE), (1, 3, 2)),
    ("Bidirectional", {"merge_mode": "ave"}, ("LSTM", SEQUENCE), (1, 3, 2)),
    ("Bidirectional", {"merge_mode": "mul"}, ("GRU", {"units": 2}), (1, 3, 2)),
    ("TimeDistributed", {}, ("Dense", {"units": 2, "activation": "tanh"}), (2, 3, 2)),
    ("TimeDistributed", {}, ("Conv2D", {"filters": 2, "kernel_size": [2, 2]}), (1, 2, 3, 3, 1)),
    ("TimeDistributed", {}, ("Conv1D", {"filters": 2, "kernel_size": 3, "padding": "causal"}), (2, 3, 5, 2)),
    ("Bidirectional", {}, ("GRU", SEQUENCE), (2, 3, 2)),
    ("Bidirectional", {"merge_mode": "sum"}, ("LSTM", {"units": 2}), (2, 3, 2)),
    ("Bidirectional", {"merge_mode": "ave"}, ("GRU", {"units": 2, "use_bias": False}), (1, 4, 2)),
    ("Bidirectional", {"merge_mode": "mul"}, ("LSTM", SEQUENCE), (1, 3, 2)),
    ("TimeDistributed", {}, ("LayerNormalization", {}), (2, 3, 4)),
    ("TimeDistributed", {}, ("MaxPooling2D", {"pool_size": [2, 2]}), (1, 2, 4, 3, 2)),
    ("TimeDistributed", {}, ("Flatten", {}), (2, 3, 2, 2)),
]

# Masked steps at the beginning, in between and at the end, and a sequence without any other.
MASK = numpy.array([[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]], bool)
MASKED = [
    ("LSTM", {"units": 2}, None),
    ("LSTM", SEQUENCE, None),
    ("LSTM", SEQUENCE | {"go_backwards": True}, None),
    ("LSTM", {"units": 2, "use_bias": False, "go_backwards": True}, None),
    ("LSTM", {"units": 2, "go_backwards": True}, None),
    ("GRU", {"units": 2}, None),
    ("GRU", {"units": 2, "go_backwards": True}, None),
    ("GRU", SEQUENCE, None),
    ("GRU", SEQUENCE | {"go_backwards": True}, None),
    ("Bidirectional", {}, ("LSTM", {"units": 2})),
    ("Bidirectional", {}, ("LSTM", SEQUENCE)),
    ("Bidirectional", {"merge_mode": "sum"}, ("GRU", SEQUENCE)),
    ("Bidirectional", {"merge_mode": "mul"}, ("GRU", {"units": 2})),
    ("Bidirectional", {"merge_mode": "ave"}, ("LSTM", SEQUENCE)),
    ("Bidirectional", {}, ("GRU", {"units": 2})),
    ("Bidirectional", {}, ("GRU", SEQUENCE)),
    ("Bidirectional", {"merge_mode": "sum"}, ("LSTM", {"units": 2, "use_bias": False})),
    ("GlobalAveragePooling1D", {}, None),
]

X, MEMORY, CAUSAL = (2, 3, 3), (2, 5, 2), {"use_causal_mask": True}
ATTENTION = [
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, [X, X], None),
    ("MultiHeadAttention", {"num_heads": 1, "key_dim": 2, "value_dim": 3, "use_bias": False}, [X, MEMORY], None),
    ("MultiHeadAttention", {"num_heads": 3, "key_dim": 2, "value_dim": 4, "output_shape": 5},
     [(1, 3, 3), (1, 4, 2), (1, 4, 4)], None),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2} | CAUSAL, [X, X], None),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3} | CAUSAL, [X, X], [[1, 1, 0], [1, 0, 0]]),
    ("MultiHeadAttention", {"num_heads": 1, "key_dim": 3}, [X, X], [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]] * 2),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "value_dim": 3}, [X, MEMORY],
     [[[1, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 1, 1, 1, 1]], [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [1, 0, 0, 0, 1]]]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "use_bias": False}, [X, MEMORY],
     [[[[1, 0, 1, 0, 1], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], [[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [1, 0, 0, 1, 1]]]] * 2),
    ("MultiHeadAttention", {"num_heads": 1, "key_dim": 2}, [(1, 2, 3), (1, 3, 3)], [[[0, 0, 0], [1, 0, 1]]]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "output_shape": 4} | CAUSAL, [X, MEMORY], None),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 1}, [X, MEMORY], [[1, 1, 0, 1, 0], [0, 0, 0, 0, 1]]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, [X, MEMORY, (2, 5, 4)], [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2} | CAUSAL, [X, X], [[[1, 1, 1], [1, 0, 1], [0, 1, 1]]] * 2),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "dropout": 0.5}, [X, X], None),
    ("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}, [X, X], None),
    ("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 2, "num_key_value_heads": 1, "use_bias": False} | CAUSAL,
     [X, MEMORY], None),
    ("GroupQueryAttention", {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 1} | CAUSAL, [X, X], None),
    ("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 2, "num_key_value_heads": 2}, [X, MEMORY, MEMORY], None),
    ("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}, [X, MEMORY],
     [[[1, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 1, 1, 1, 1]]] * 2),
]


def gelu_tanh(x):
    return keras.activations.gelu(x, approximate=True)


def layer(kind, options, shapes, mask=None, inner=None):
    """The output, and the gradients of the sum of its squares by inputs with a gradient and by trained weights. A
    causal mask is an option of Keras' call, gelu_tanh an argument of its gelu."""
    attention = kind.endswith("Attention")
    call = {name: value for name, value in options.items() if name == "use_causal_mask"}
    made = {name: gelu_tanh if value == "gelu_tanh" else value for name, value in options.items() if name not in call}
    wrapped = [getattr(keras.layers, inner[0])(**inner[1])] if inner else []
    made = getattr(keras.layers, kind)(*wrapped, **made)
    values = [drawn(*shape) if isinstance(shape, tuple) else shape for shape in
              (shapes if isinstance(shapes, list) else [shapes])]
    given = [tf.constant(value) for value in values]
    if mask is not None:
        mask = numpy.array(mask, bool)
        call["attention_mask" if attention else "mask"] = tf.constant(
            mask[:, None] if attention and mask.ndim == 2 else mask)

    def computed():
        return made(*given, **call) if attention or len(given) == 1 else made(given, **call)

    computed()
    weights = [numpy.round(0.6 * drawn(*weight.shape), 2) for weight in made.get_weights()]
    if kind == "BatchNormalization":
        weights = [numpy.abs(weight) + numpy.float32(0.3) for weight in weights]
    made.set_weights(weights)
    sources = [value for value in given if value.dtype.is_floating]
    with tf.GradientTape() as tape:
        for value in sources:
            tape.watch(value)
        output = computed()
        total = tf.reduce_sum(tf.square(output))
    gradients = tape.gradient(total, sources + [weight.value for weight in made.trainable_weights])
    return {"class": kind, "options": options, "inner": inner and {"class": inner[0], "options": inner[1]},
            "inputs": values + ([] if mask is None else [mask]), "weights": weights, "output": output.numpy(),
            "gradients": [tf.convert_to_tensor(gradient).numpy() for gradient in gradients]}


NORMALIZED = [({}, (4, 3)), ({"momentum": 0.8, "epsilon": 0.01}, (2, 2, 2, 2)), ({"momentum": 0.0}, (4, 2)),
              ({"momentum": 0.9}, (1, 3)), ({"momentum": 0.6}, (3, 4, 2)), ({"epsilon": 0.1}, (2, 3, 2, 4)),
              ({"momentum": 1.0}, (3, 2))]


def training_steps(options, shape):
    """Batch normalization: outputs of three steps, moving averages after them, and inference by these."""
    made = keras.layers.BatchNormalization(**options)
    made.build(shape)
    weights = [numpy.abs(drawn(*weight.shape)) + numpy.float32(0.3) for weight in made.get_weights()]
    made.set_weights(weights)
    inputs = [2 * drawn(*shape) + 1 for _ in range(3)]
    outputs = [made(values, training=True).numpy() for values in inputs]
    return {"options": options, "weights": weights, "inputs": inputs, "outputs": outputs, "after": made.get_weights(),
            "inference": made(inputs[0], training=False).numpy()}


def adapted(data):
    made = keras.layers.Normalization()
    made.adapt(data)
    x = drawn(2, *data.shape[1:])
    return {"class": "Normalization", "data": data, "x": x, "output": made(x).numpy()}


DRAWS = 16384
IMAGE, STEPS = (4, 5, 1), (4, 3)
# Class, options, the example's shape, and the layer that is wrapped.
RANDOM = [
    ("Dropout", {"rate": 0.3}, (3,)),
    ("Dropout", {"rate": 0.8}, (2, 2, 1)),
    ("RandomFlip", {"mode": "horizontal"}, IMAGE),
    ("RandomFlip", {"mode": "vertical"}, IMAGE),
    ("RandomFlip", {}, IMAGE),
    ("RandomRotation", {"factor": 0.1}, IMAGE),
    ("RandomRotation", {"factor": 0.5, "fill_mode": "constant", "fill_value": 0.5, "interpolation": "nearest"}, IMAGE),
    ("RandomRotation", {"factor": 0.2, "fill_mode": "nearest"}, (3, 3, 2)),
    ("RandomTranslation", {"height_factor": 0.3, "width_factor": 0.2}, IMAGE),
    ("RandomTranslation", {"height_factor": 0.5, "width_factor": 0.5, "fill_mode": "wrap"}, IMAGE),
    ("RandomTranslation", {"height_factor": 0.5, "width_factor": 0.5, "fill_mode": "nearest"}, IMAGE),
    ("RandomTranslation", {"height_factor": 0.5, "width_factor": 0.25, "fill_mode": "constant", "fill_value": 0.75,
                           "interpolation": "nearest"}, IMAGE),
    ("RandomZoom", {"height_factor": 0.4}, IMAGE),
    ("RandomZoom", {"height_factor": 0.2, "width_factor": 0.5, "fill_mode": "constant"}, IMAGE),
    ("RandomZoom", {"height_factor": 0.5, "fill_mode": "nearest", "interpolation": "nearest"}, IMAGE),
    ("RandomBrightness", {"factor": 0.5, "value_range": [0, 1]}, IMAGE),
    ("RandomBrightness", {"factor": 0.004}, (2, 3, 3)),
    ("RandomContrast", {"factor": 0.5, "value_range": [0, 1]}, IMAGE),
    ("RandomContrast", {"factor": [0.4, 0.4], "value_range": [0, 1]}, IMAGE),
    ("RandomContrast", {"factor": [0.9, 0.9]}, (2, 3, 3)),
    ("LSTM", {"units": 2, "dropout": 0.4}, STEPS),
    ("LSTM", {"units": 2, "recurrent_dropout": 0.4}, STEPS),
    ("LSTM", SEQUENCE | {"dropout": 0.3, "recurrent_dropout": 0.3}, STEPS),
    ("GRU", {"units": 2, "dropout": 0.3, "recurrent_dropout": 0.3}, STEPS),
    ("GRU", SEQUENCE | {"dropout": 0.4}, STEPS),
    ("GRU", {"units": 2, "recurrent_dropout": 0.4}, STEPS),
    ("GRU", {"units": 2, "recurrent_dropout": 0.4, "reset_after": False}, STEPS),
    ("Bidirectional", {}, STEPS, ("LSTM", {"units": 2, "dropout": 0.3, "recurrent_dropout": 0.2})),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2, "dropout": 0.4}, STEPS),
    ("GroupQueryAttention", {"head_dim": 2, "num_query_heads": 2, "num_key_value_heads": 1, "dropout": 0.3}, STEPS),
]


def moments(kind, options, shape, inner=None):
    """Mean and deviation of each number of the output, over many draws for one example. A pair of Keras' equal factors
    is one number here. Attention attends to its own input."""
    example = numpy.abs(drawn(*shape)) % 1
    made = getattr(keras.layers, kind)(*([getattr(keras.layers, inner[0])(**inner[1])] if inner else []), **options)
    given = [numpy.repeat(example[None], DRAWS, 0)] * (2 if kind.endswith("Attention") else 1)
    made(*given, training=False)
    weights = []
    if made.trainable_weights:
        weights = [drawn(*weight.shape) for weight in made.get_weights()]
        made.set_weights(weights)
    output = numpy.array(made(*given, training=True), float).reshape(DRAWS, -1)
    if isinstance(options.get("factor"), list):
        options = options | {"factor": options["factor"][0]}
    return {"class": kind, "options": options, "inner": inner and {"class": inner[0], "options": inner[1]},
            "example": example, "weights": weights, "draws": DRAWS,
            "mean": output.mean(0), "deviation": output.std(0)}


DENSE, WIDE, CONV = [300, 200], [200, 300], [3, 3, 32, 64]
PLAIN = ("GlorotUniform", "GlorotNormal", "HeUniform", "HeNormal", "Zeros", "Ones")
INITIALIZERS = [(kind, {}, shape) for kind in PLAIN for shape in (DENSE, CONV)] + [
    ("TruncatedNormal", {"mean": 0.1, "stddev": 0.2}, DENSE),
    ("VarianceScaling", {}, DENSE),
    ("VarianceScaling", {"scale": 2.0, "mode": "fan_avg", "distribution": "uniform"}, DENSE),
    ("VarianceScaling", {"scale": 0.5, "mode": "fan_out", "distribution": "untruncated_normal"}, DENSE),
    ("LecunNormal", {}, CONV),
    ("LecunUniform", {}, CONV),
    ("RandomNormal", {"mean": -0.1, "stddev": 0.3}, DENSE),
    ("RandomUniform", {"minval": -0.2, "maxval": 0.4}, DENSE),
    ("Constant", {"value": 0.25}, DENSE),
    ("Orthogonal", {"gain": 1.5}, DENSE),
    ("Orthogonal", {}, WIDE),
    ("Orthogonal", {}, CONV),
    ("Constant", {}, DENSE),
    ("LecunNormal", {}, DENSE),
    ("LecunUniform", {}, DENSE),
    ("RandomNormal", {}, CONV),
    ("RandomUniform", {}, CONV),
    ("TruncatedNormal", {}, CONV),
    ("VarianceScaling", {"mode": "fan_out", "distribution": "uniform"}, CONV),
    ("VarianceScaling", {"scale": 3.0, "mode": "fan_avg"}, CONV),
]


def initializer(kind, options, shape):
    made = getattr(keras.initializers, kind)(**options)
    values = numpy.concatenate([made(shape).numpy().ravel() for _ in range(20)])
    return {"class": kind, "options": options, "shape": shape, "mean": float(numpy.round(values.mean(), 2)),
            "deviation": float(values.std()), "largest": float(numpy.abs(values).max())}


def main():
    activations = [("Activation", {"activation": name}, *given) for name in ACTIVATIONS
                   for given in ([(2, 5)], [[BORDERS], "borders"])]
    for kind, options, shapes, *note in LAYERS + activations:
        case("layers", titled(kind, options, *note), layer, kind, options, shapes)
    for kind, options, inner, shape in WRAPPED:
        case("layers", titled(kind, options, titled(*inner)), layer, kind, options, shape, inner=inner)
    for kind, options, inner in MASKED:
        case("layers", titled(kind, options, titled(*inner) + " masked" if inner else "masked"), layer, kind, options,
             (3, 4, 2), MASK, inner)
    for kind, options, shapes, mask in ATTENTION:
        rank = "" if mask is None else f"mask of rank {numpy.array(mask).ndim}"
        case("layers", titled(kind, options, rank), layer, kind, options, shapes, mask)
    for options, shape in NORMALIZED:
        case("batch_normalization", titled("BatchNormalization", options, "training"), training_steps, options, shape)
    case("adapted", "Normalization of vectors", lambda: adapted(3 * drawn(5, 3) + 2))
    case("adapted", "Normalization of images", lambda: adapted(drawn(4, 2, 3, 2)))
    case("adapted", "Normalization of sequences", lambda: adapted(2 * drawn(3, 4, 2) - 1))
    case("adapted", "Normalization of whole numbers", lambda: adapted(numpy.arange(12).reshape(4, 3) ** 2))
    case("adapted", "Normalization of a constant channel", lambda: adapted(
        numpy.array([[1, 2], [3, 2], [8, 2]], numpy.float32)))
    for kind, options, shape, *inner in RANDOM:
        case("random", titled(kind, options, " ".join([titled(*pair) for pair in inner] + ["random"])), moments, kind,
             options, shape, *inner)
    for kind, options, shape in INITIALIZERS:
        case("initializers", titled(kind, options, f"of rank {len(shape)}"), initializer, kind, options, shape)
    write(__file__)


if __name__ == "__main__":
    main()
