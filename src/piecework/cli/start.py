#!python
"""The command `piecework`, as a file of its own beside the environment's Python.

It imports `piecework` only after it has checked that this is the installed package: a
folder in PYTHONPATH may hold another version, or another package of the same name.
"""

import gc
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_USED_WRONGLY = 2
_COLLECTED_AT = (120_000, 50, 100)
"""Imported modules stay: looking through them for garbage took a tenth of a start."""


def main() -> None:
    """Run the installed command, or name the package that hides it."""
    folder = _folder_of_piecework(sys.path)
    installed = _folder_of_piecework(_path_without_pythonpath())
    if folder and installed and folder != installed:
        _end(
            f"PYTHONPATH leads to another piecework, {folder}; this command is "
            f"installed with {installed}",
            f"env -u PYTHONPATH piecework {' '.join(sys.argv[1:])}".rstrip(),
        )
    if folder is None or not (folder / "cli" / "main.py").is_file():
        _end(
            f"{folder} is another package called piecework, not this command's",
            "pip install --force-reinstall piecework, in an environment of its own",
        )
    gc.set_threshold(*_COLLECTED_AT)
    from piecework.cli.main import main as command

    command()


def _folder_of_piecework(path: list[str]) -> Path | None:
    spec = PathFinder.find_spec("piecework", path)
    if spec is None:
        return None
    places = spec.submodule_search_locations or [spec.origin or ""]
    return Path(*list(places)[:1]).resolve()


def _path_without_pythonpath() -> list[str]:
    stated = os.environ.get("PYTHONPATH", "")
    added = {os.path.realpath(name) for name in stated.split(os.pathsep)}
    return [name for name in sys.path if os.path.realpath(name) not in added]


def _end(sentence: str, next_step: str) -> None:
    sys.stderr.write(f"{sentence}\nnext: {next_step}\n")
    sys.exit(_USED_WRONGLY)


if __name__ == "__main__":
    main()
