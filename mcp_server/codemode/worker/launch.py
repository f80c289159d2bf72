"""Start the worker: run by path with `python -I -S`, so that no package's `__init__` and no site-packages are read."""

import sys
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).resolve().parent


def _stand_in(name: str, folders: list[str]) -> None:
    """Let the worker's modules import each other by their full names, and nothing else of ours."""
    module = ModuleType(name)
    module.__path__ = folders
    sys.modules[name] = module


if __name__ == "__main__":
    for _name in ("mcp_server", "mcp_server.codemode"):
        _stand_in(_name, [])
    _stand_in("mcp_server.codemode.worker", [str(_HERE)])
    from mcp_server.codemode.worker.main import main

    main(sys.argv[1])
