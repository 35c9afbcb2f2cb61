"""Calls a function once a module of a framework has been imported. `find_spec` is also called by mere probes
(`importlib.util.find_spec("keras")`), so a name is used up only when the module's code has run."""
import sys

from . import facts, guard


class Finder:
    """First on sys.meta_path; it asks the other finders and wraps the loader's `exec_module`."""

    def __init__(self):
        self.waiting = {}  # module's name: functions

    def after(self, name, attach):
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            self.run(name, attach, module)
        else:
            self.waiting.setdefault(name, []).append(attach)

    @guard.hide
    def run(self, name, attach, module):
        try:
            attach(module)
        except Exception as error:
            facts.fault("import " + name, error)

    @guard.hide
    def find_spec(self, name, path=None, target=None):
        if name not in self.waiting:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                try:
                    self.wrap(name, spec.loader)
                except Exception as error:
                    facts.fault("import " + name, error)
                return spec
        return None

    def wrap(self, name, loader):
        original = getattr(loader, "exec_module", None)
        if original is None or not hasattr(loader, "__dict__") or "exec_module" in vars(loader):
            return  # a namespace package, a frozen program, or wrapped already

        def exec_module(module):
            original(module)
            try:
                del loader.exec_module
            except AttributeError:
                pass
            for attach in self.waiting.pop(name, ()):
                self.run(name, attach, module)

        loader.exec_module = guard.hide(exec_module)


finder = Finder()


def after(name, attach):
    """attach(module) runs when NAME has been imported; at once if it has been already."""
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
    finder.after(name, attach)
