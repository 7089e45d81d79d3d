"""Write the lists of rooms in pyproject.toml and the drawing of them, from one list.

`[tool.piecework.floors]` of pyproject.toml has the rooms by floor, the highest first, and
`[tool.piecework.beside]` those that stand beside them. `python -m tools.rooms` fills each
list of import-linter's contracts that says which rooms it has (`# all rooms but cli`, or
`# all floors`), and draws docs/internals/architecture.md. A test compares both.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT, PAGE = ROOT / "pyproject.toml", ROOT / "docs/internals/architecture.md"
_LIST = re.compile(
    r"(?P<opening>\w+ = \[ # all (?:(?P<floors>floors)"
    r"|rooms but (?P<but>[\w, ]+?)(?:; also .*)?)\n)"
    r"(?:    \"piecework\.\w+(?: \| piecework\.\w+)*\",.*\n)*"
)
_DRAWING = re.compile(r"(?<=\n## The rooms\n)(.*?```text\n).*?(```)", re.DOTALL)
_COLUMNS, _JOB_AT = 110, 59


def rooms_by_floor(project: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the jobs of floors and of the rooms beside, by their rooms."""
    stated = tomllib.loads(project)["tool"]["piecework"]
    return stated["floors"], stated["beside"]


def with_contracts(project: str) -> str:
    """Return pyproject.toml with every list of rooms filled."""
    floors, beside = rooms_by_floor(project)
    rooms = sorted([room for floor in floors for room in floor.split(" | ")] + [*beside])

    def filled(marked: re.Match[str]) -> str:
        if marked["floors"]:
            named = [
                " | ".join(f"piecework.{room}" for room in floor.split(" | ")) for floor in floors
            ]
            return marked["opening"] + "".join(f'    "{floor}",\n' for floor in named)
        left_out = marked["but"].split(", ")
        if unknown := {*left_out} - {*rooms}:
            raise ValueError(f"pyproject.toml: {marked['opening'].strip()}: no room {unknown}")
        listed = [f'"piecework.{room}",' for room in rooms if room not in left_out]
        return marked["opening"] + "".join(f"    {line}\n" for line in _lines_of(listed))

    return _LIST.sub(filled, project)


def with_drawing(page: str, project: str) -> str:
    """Return the page on the architecture with the rooms drawn."""
    floors, beside = rooms_by_floor(project)
    drawn = "\n  |\n".join(f" {floor:{_JOB_AT}}{job}" for floor, job in floors.items())
    drawn += "\n\n" + "".join(f" {f'beside:  {r}':{_JOB_AT}}{job}\n" for r, job in beside.items())
    return _DRAWING.sub(lambda around: f"{around[1]}{drawn}{around[2]}", page, count=1)


def _lines_of(words: list[str]) -> Iterator[str]:
    """Yield words in as few lines as fit."""
    line = ""
    for word in words:
        if line and len(line) + len(word) > _COLUMNS:
            yield line
            line = ""
        line += f" {word}" if line else word
    yield line


if __name__ == "__main__":
    contracts = with_contracts(PROJECT.read_text(encoding="utf-8"))
    PROJECT.write_text(contracts, encoding="utf-8")
    drawing = with_drawing(PAGE.read_text(encoding="utf-8"), contracts)
    PAGE.write_text(drawing, encoding="utf-8")
