"""Read lists of concepts: plain text, one name per line."""

from collections.abc import Sequence
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.reading_faults import UnreadableError, as_config_error, decoded

_MOST_NAMES = 50_000
_LONGEST_NAME = 200
_LARGEST_BYTES = 16 * 2**20


def read_concept_lists(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Return the names of each list, by the file's name without its ending.

    Raises:
        ConfigError: a file cannot be read, is empty, or is no list of names.
    """
    lists: dict[str, list[str]] = {}
    for path in paths:
        with as_config_error(path):
            if path.stem in lists:
                raise UnreadableError(
                    f"a list named {path.stem!r} was read already; give the files different names"
                )
            lists[path.stem] = _names(path)
    return lists


def _names(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UnreadableError(f"at most {_LARGEST_BYTES:,} bytes are read")
        content = path.read_bytes()
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    lines = decoded(content).splitlines()
    names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise UnreadableError("the file holds no names; write one on each line")
    if len(names) > _MOST_NAMES:
        raise UnreadableError(f"{len(names):,} names; at most {_MOST_NAMES:,} are read")
    for number, name in enumerate(lines, start=1):
        if len(name.strip()) > _LONGEST_NAME:
            raise UnreadableError(
                f"line {number}: {len(name):,} characters; a name has at most {_LONGEST_NAME}"
            )
    return names
