"""The pipelines that are compared: what each does, the bar, and the sizes that all systems share."""

import dataclasses

BATCH = 32
SHUFFLE_BUFFER = 10000
CSV_ROWS, CSV_COLUMNS = 1_000_000, 10
RECORDS = 200_000
IMAGES, IMAGE_SIDE, TARGET_SIDE, JPEG_QUALITY = 256, 512, 224, 90
# A scale of 1/2 by the DCT is the smallest that stays above the target.
DCT_RATIO = 2


@dataclasses.dataclass(frozen=True)
class Line:
    name: str
    what: str
    bar: float | None  # how many times as fast as tf.data gpubench shall be
    torch: bool  # whether PyTorch's loader has this case


LINES = [
    Line("augment", f"random flip and brightness per 28x28 float image, shuffle {SHUFFLE_BUFFER}, batch {BATCH}", 5.0, True),
    Line("sqrt", f"square root of the 784 inputs of M1, batch {BATCH}", 5.0, True),
    Line("csv", f"CSV file of {CSV_ROWS} rows of {CSV_COLUMNS} numbers, batch 256", 2.0, False),
    Line("tfrecord", f"TFRecord file of {RECORDS} examples (784 bytes and a label), parsed, batch {BATCH}", 2.0, False),
    Line("jpeg", f"JPEG of {IMAGE_SIDE}x{IMAGE_SIDE} decoded at 1/{DCT_RATIO} and resized to {TARGET_SIDE}, batch {BATCH}", 1.3, True),
]


def named(name):
    for line in LINES:
        if line.name == name:
            return line
    raise SystemExit(f"no pipeline '{name}'; there are {', '.join(line.name for line in LINES)}")
