"""Why a compiled function is compiled anew: what differs between what it was given."""
import sys
import unittest

from job import AGENT

sys.path.insert(0, AGENT)
from gpubench_agent import signature  # noqa: E402


class Array:
    """Stands for an array of a framework."""
    def __init__(self, *shape, dtype="float32"):
        self.shape, self.dtype = shape, dtype


Array.__module__ = "numpy"


class Users:
    """An object of the job, whose attributes are not read."""
    @property
    def shape(self):
        raise AssertionError("the agent reads an attribute of the job's own object")


class Difference(unittest.TestCase):
    def difference(self, before, after, **keywords):
        found = signature.difference(signature.of(before, {}), signature.of(after, keywords))
        return tuple(found.get(name) for name in ("argument", "before", "after", "array"))

    def test_shapes_and_types_of_arrays(self):
        self.assertEqual(("argument 2", "float32 (8, 97)", "float32 (8, 120)", True),
                         self.difference((Array(3), Array(8, 97)), (Array(3), Array(8, 120))))
        self.assertEqual(("argument 1", "float32 (3,)", "int8 (3,)", True),
                         self.difference((Array(3),), (Array(3, dtype="int8"),)))

    def test_arrays_within_containers(self):
        self.assertEqual(("argument 1['w'][1]", "float32 (2,)", "float32 (5,)", True),
                         self.difference(({"w": [Array(1), Array(2)]},), ({"w": [Array(1), Array(5)]},)))

    def test_arrays_come_before_values(self):
        self.assertEqual("argument 2", self.difference((0.5, Array(1)), (0.4, Array(2)))[0])

    def test_values_of_python(self):
        self.assertEqual(("argument 2", "0.95", "0.941", False),
                         self.difference((Array(1), 0.95), (Array(1), 0.941)))
        self.assertEqual(("argument 1", "'mean'", "None", False), self.difference(("mean",), (None,)))

    def test_what_is_new_or_the_same_is_no_reason(self):
        self.assertIsNone(self.difference((Array(1), 2), (Array(1), 2), training=True)[0])
        self.assertEqual({}, signature.difference({}, signature.of((Array(1),), {})))

    def test_objects_of_the_job_are_left_alone(self):
        self.assertEqual({}, signature.of((Users(), len, {Users()}), {}))

    def test_large_trees_are_cut(self):
        self.assertEqual(signature.MOST_LEAVES, len(signature.of(([1] * 10000,), {"x": [2] * 10})))


if __name__ == "__main__":
    unittest.main()
