"""What a compiled function is given, as far as it decides whether the function is compiled anew: shapes and types of
arrays, and values of everything else that a compiler takes as a constant."""

ARRAYS = {"numpy", "jax", "jaxlib", "tensorflow", "torch", "keras"}
MOST_LEAVES, MOST_TEXT = 200, 40


def of(arguments, keywords):
    """Of each leaf: its text, and whether it is an array. Reads no attribute of the user's own objects."""
    found = {}
    for number, value in enumerate(arguments, 1):
        add(found, "argument %d" % number, value)
    for name, value in keywords.items():
        add(found, "argument %s" % name, value)
    return found


def add(found, name, value):
    if len(found) >= MOST_LEAVES:
        return
    if type(value) is dict:
        for key, item in value.items():
            add(found, "%s[%.20r]" % (name, key), item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            add(found, "%s[%d]" % (name, index), item)
    elif type(value).__module__.partition(".")[0] in ARRAYS and hasattr(value, "shape") and hasattr(value, "dtype"):
        found[name] = "%s %s" % (getattr(value.dtype, "name", value.dtype), value.shape), True
    elif value is None or type(value) in (bool, int, float, str):
        found[name] = repr(value)[:MOST_TEXT], False


def difference(before, after):
    """{"argument", "before", "after", "array"} of the first array that is another one, else of the first other value;
    {} if nothing differs."""
    for array in (True, False):
        for name, (text, is_array) in after.items():
            if is_array is array and name in before and before[name][0] != text:
                return {"argument": name, "before": before[name][0], "after": text, "array": array}
    return {}
