"""Makes one function of the agent fail, for faults.py: found before the agent's own `sitecustomize`, it compiles the
agent's modules with a call at the beginning of every function, nested ones too, which raises in the one that is asked
for. What frameworks and jobs call is the replacement that guard.hide has marked: it cannot fail by itself and is left
alone; what it calls is not.

GPUBENCH_TEST_FAULT: `NAME` or `NAME CALL`, as `recorder.Job.mark 5`; with `list FOLDER`, the names that each process
has called are written there, a file a process, with the number of calls."""
import ast
import atexit
import builtins
import os
import sys
from importlib.machinery import PathFinder

_wanted, _, _detail = os.environ.get("GPUBENCH_TEST_FAULT", "").partition(" ")
_calls = {}


def _entered(name):
    if "importlib._bootstrap" in sys._getframe(1).f_code.co_filename:
        return
    _calls[name] = _calls.get(name, 0) + 1
    if name == _wanted and _calls[name] == int(_detail or 1):
        raise RuntimeError("injected")


class _Entries(ast.NodeTransformer):
    def __init__(self, module):
        self.names = [module]

    def visit_ClassDef(self, node):
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()
        return node

    def visit_FunctionDef(self, node):
        self.names.append(node.name)
        self.generic_visit(node)
        call = ast.parse("__entered__(%r)" % ".".join(self.names)).body[0]
        node.body.insert(0, ast.fix_missing_locations(ast.copy_location(call, node.body[0])))
        self.names.pop()
        return node


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] != "gpubench_agent":
            return None
        spec = PathFinder.find_spec(name, path, target)
        get_code = spec.loader.get_code

        def changed(fullname):
            tree = ast.parse(spec.loader.get_data(spec.origin), spec.origin)
            module = fullname.partition(".")[2] or "agent"
            return compile(ast.fix_missing_locations(_Entries(module).visit(tree)), spec.origin, "exec")

        spec.loader.get_code = changed if get_code is not None else None
        return spec


def _write_list():
    with open(os.path.join(_detail, str(os.getpid())), "w") as file:
        for name, calls in _calls.items():
            file.write("%s %d\n" % (name, calls))


builtins.__entered__ = _entered
sys.meta_path.insert(0, _Finder)
if _wanted == "list":
    atexit.register(_write_list)
sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
del sys.modules["sitecustomize"]
import sitecustomize  # noqa: E402, F401
