"""Whose code is it? The user's is what lies outside of the standard library, of installed packages and of the
agent."""
import os
import sys
import sysconfig

from .guard import AGENT_FILE

USER, FRAMEWORK, LIBRARY, AGENT = "user", "framework", "library", "agent"
FRAMEWORKS = ("torch", "tensorflow", "keras", "jax", "jaxlib", "lightning", "lightning_fabric", "pytorch_lightning",
              "transformers", "accelerate", "flax", "optax", "functorch", "_pytorch", "tf_keras")

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD = tuple({os.path.realpath(sysconfig.get_paths()[name]) + os.sep for name in ("stdlib", "platstdlib")} |
                  {os.path.dirname(os.path.realpath(os.__file__)) + os.sep})
owners = {}  # file name of a code object: its owner
_roots = {}  # folder of sys.path: whether packages were installed there


def _holds_packages(folder):
    """True for a folder that pip has installed packages into, as `pip install --target` does."""
    if folder not in _roots:
        try:
            _roots[folder] = any(name.endswith(".dist-info") for name in os.listdir(folder))
        except OSError:
            _roots[folder] = False
    return _roots[folder]


def _package_of(path):
    """The installed package that a file belongs to, or None."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            return path.split(mark)[-1].split("/")[0]
    for folder in sys.path:
        folder = os.path.abspath(folder or ".")
        if path.startswith(folder + os.sep) and _holds_packages(folder):
            return path[len(folder) + 1:].split("/")[0]
    return None


def _owner(file):
    if file == AGENT_FILE or file.startswith(_HERE):
        return AGENT
    if file.startswith("<"):
        return LIBRARY
    path = os.path.abspath(file)
    if "torchinductor" in path:
        return FRAMEWORK  # code that torch.compile has written
    package = _package_of(path)
    if package is not None:
        return FRAMEWORK if package.split(".")[0] in FRAMEWORKS else LIBRARY
    if path.startswith(_STANDARD) or os.path.realpath(path).startswith(_STANDARD):
        return LIBRARY
    return USER


def owner(file):
    """USER, FRAMEWORK, LIBRARY or AGENT, of the file name of a code object."""
    found = owners.get(file)
    if found is None:
        found = owners[file] = _owner(file)
    return found


def user_frame(frame, depth=60):
    """The innermost frame of the user's code, from `frame` outward, or None."""
    while frame is not None and depth:
        if owner(frame.f_code.co_filename) is USER:
            return frame
        frame = frame.f_back
        depth -= 1
    return None


def caller():
    """(file, line) of the user's code that called, or (None, None)."""
    frame = user_frame(sys._getframe(1))
    return (os.path.abspath(frame.f_code.co_filename), frame.f_lineno) if frame is not None else (None, None)


def name_of(code):
    """`Digits.__getitem__`; before Python 3.11 a code object knows its bare name only."""
    return getattr(code, "co_qualname", code.co_name)


def code_of(function):
    """The code object of a function, method, partial or object with `__call__`, or None."""
    for _ in range(8):
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None) or \
            getattr(function, "__func__", function)
        if hasattr(function, "__code__"):
            break
    if not hasattr(function, "__code__"):
        function = getattr(type(function), "__call__", None)
    return getattr(function, "__code__", None)


def is_plain(value):
    """An object of a class of the user's, with attributes that can be read without running code."""
    module = sys.modules.get(type(value).__module__)
    return module is not None and owner(getattr(module, "__file__", None) or "<none>") is USER and \
        isinstance(getattr(value, "__dict__", None), dict)


def is_users(function):
    code = code_of(function)
    return code is not None and owner(code.co_filename) is USER
