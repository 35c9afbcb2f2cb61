"""Layers that make numbers of texts, tokens, categories and ranges."""

import numpy

from values import case, keras, titled, tf, write

TEXTS = ["The cat, the dog!", "a CAT sat", "no dog", "the  sat\tsat mat -- (mat)", ""]
WORDS = [["a", "b", "c"], ["b", "z", "b"], ["c", "b", "y"]]
NUMBERS = [[5, -3, 12], [12, 7, 12], [5, 12, 100]]
LONG = ["", "a", "abc", "abcd", "seven b", "eight by", "0123456789abcdef", "0123456789abcdefg", "x" * 32, "y" * 33,
        "z" * 64, "w" * 65, "The quick brown fox jumps over the lazy dog. " * 4, "-1", "12345678901234567890"]

# Class, options, what adapt is given (none: the options have the vocabulary), the input.
LOOKUPS = [
    ("TextVectorization", {}, TEXTS, TEXTS),
    ("TextVectorization", {"output_sequence_length": 3}, TEXTS, TEXTS),
    ("TextVectorization", {"max_tokens": 5, "output_sequence_length": 6}, TEXTS, TEXTS),
    ("TextVectorization", {"standardize": "lower"}, TEXTS, TEXTS),
    ("TextVectorization", {"standardize": "strip_punctuation"}, TEXTS, TEXTS),
    ("TextVectorization", {"split": "character", "output_sequence_length": 20}, TEXTS, TEXTS),
    ("TextVectorization", {"ngrams": 2, "output_sequence_length": 12}, TEXTS, TEXTS),
    ("TextVectorization", {"output_mode": "multi_hot"}, TEXTS, TEXTS),
    ("TextVectorization", {"output_mode": "count", "max_tokens": 12, "pad_to_max_tokens": True}, TEXTS, TEXTS),
    ("TextVectorization", {"output_mode": "tf_idf"}, TEXTS, TEXTS),
    ("TextVectorization", {"vocabulary": ["dog", "cat"]}, None, TEXTS),
    ("StringLookup", {}, WORDS, WORDS),
    ("StringLookup", {"vocabulary": ["a", "b"], "mask_token": "c"}, None, WORDS),
    ("StringLookup", {"vocabulary": ["a", "b"], "num_oov_indices": 3}, None, WORDS),
    ("StringLookup", {"vocabulary": ["a", "b"], "output_mode": "multi_hot"}, None, WORDS),
    ("StringLookup", {"vocabulary": ["a", "b"], "output_mode": "count"}, None, WORDS),
    ("StringLookup", {"vocabulary": ["a", "b"], "output_mode": "one_hot"}, None, ["a", "q", "b"]),
    ("StringLookup", {"output_mode": "tf_idf"}, WORDS, WORDS),
    ("IntegerLookup", {}, NUMBERS, NUMBERS),
    ("IntegerLookup", {"vocabulary": [5, 12], "num_oov_indices": 2}, None, NUMBERS),
    ("IntegerLookup", {"vocabulary": [5, 12], "mask_token": 7}, None, NUMBERS),
    ("IntegerLookup", {"vocabulary": [5, 12], "output_mode": "count"}, None, NUMBERS),
    ("Hashing", {"num_bins": 1000}, None, LONG),
    ("Hashing", {"num_bins": 7}, None, WORDS),
    ("Hashing", {"num_bins": 5, "mask_value": "b"}, None, WORDS),
    ("Hashing", {"num_bins": 11}, None, NUMBERS),
    ("Hashing", {"num_bins": 4, "output_mode": "multi_hot"}, None, WORDS),
    ("CategoryEncoding", {"num_tokens": 4}, None, [[0, 2, 2], [3, 1, 0]]),
    ("CategoryEncoding", {"num_tokens": 4, "output_mode": "count"}, None, [[0, 2, 2], [3, 1, 0]]),
    ("CategoryEncoding", {"num_tokens": 4, "output_mode": "one_hot"}, None, [[0, 2], [3, 1]]),
    ("CategoryEncoding", {"num_tokens": 4, "output_mode": "one_hot"}, None, [[0], [3]]),
    ("Discretization", {"bin_boundaries": [0.0, 1.0, 2.5]}, None, [[-1.5, 0.0, 1.0], [2.4, 2.5, 7.0]]),
    ("Discretization", {"bin_boundaries": [0.5], "output_mode": "one_hot"}, None, [[-1.5], [0.5]]),
]


def looked_up(kind, options, data, x):
    made = getattr(keras.layers, kind)(**options)
    if data is not None:
        made.adapt(tf.constant(data) if isinstance(data[0], list) else data)
    strings = isinstance(numpy.array(x).ravel()[0], str)
    output = numpy.array(made(tf.constant(x)))
    fields = {"class": kind, "options": options, "data": data, "x": x if strings else numpy.array(x),
              "output": output.astype(float) if output.dtype.kind == "f" else output}
    if hasattr(made, "get_vocabulary"):
        fields["vocabulary"] = [str(token) for token in made.get_vocabulary()]
    return fields


def main():
    for number, (kind, options, data, x) in enumerate(LOOKUPS):
        case("lookups", titled(kind, options, f"number {number}"), looked_up, kind, options, data, x)
    write(__file__)


if __name__ == "__main__":
    main()
