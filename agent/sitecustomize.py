"""Starts the agent in a Python process below `gpubench watch` or `gpubench tune`, then runs the `sitecustomize` that
Python would have found without it: Debian ships one, and a user may have another. Nothing here may fail."""


def _start():
    import os
    if os.environ.get("GPUBENCH_AGENT"):
        import gpubench_agent
        gpubench_agent.start()


def _chain():
    """Runs the next `sitecustomize` on sys.path under its own name, as `site` would have done."""
    import os
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    here = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    agent = sys.modules.get("gpubench_agent")
    if agent is not None:
        try:
            agent.chained(spec.origin)
        except Exception:  # a fact that is missing
            pass
    spec.loader.exec_module(module)  # its exceptions belong to the job: `site` reports them as it would have


try:
    _start()
except Exception:  # the agent has reported what it could
    pass
finally:
    _chain()
