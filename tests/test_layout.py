"""The rooms stay as drawn: packages under contract, none shadowed, none too large."""

import ast
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from piecework.domain.crowds import MARKETS
from piecework.engine.run_pass import STEPS
from tools import rooms

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGE = ROOT / "src" / "piecework"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
LINKED = ["config", "flows", "hit_templates", "postprocess", "qc"]
"""Rooms that stand at the root; the package has links to them."""
APART = sorted(ROOT.glob("packages/*/src/*"))
"""The packages of the distributions of their own."""

MODULES = sorted(
    path
    for folder in (*(PACKAGE / room for room in ROOMS), *APART)
    for path in folder.rglob("*.py")
)
_THROUGH_ALL_ROOMS = {
    *("bench", "browser", "clients", "crash", "end_to_end", "journeys"),
    *("live", "mutants", "operations", "schedule", "fault_simulation"),
}
"""Folders of tests that no single room holds."""


def _named(names: list[str]) -> list[str]:
    """The rooms that a contract names, without the package."""
    return [name.removeprefix("piecework.") for name in names]


def test_every_room_is_under_contract() -> None:
    """A new room that no import contract names would not be noticed."""
    linter, stated = PROJECT["tool"]["importlinter"], PROJECT["tool"]["piecework"]
    assert linter["root_packages"] == ["piecework", *(path.name for path in APART)]
    assert sorted([*" | ".join(stated["floors"]).split(" | "), *stated["beside"]]) == ROOMS


def test_tests_lie_in_the_room_that_they_test() -> None:
    """A folder of tests bears a room's name, or runs what goes through all rooms.

    Tests of another distribution mirror its package, and know nothing of piecework.
    """
    folders = {path.parent.name for path in ROOT.glob("tests/*/*.py")}
    assert not folders - {*ROOMS, *_THROUGH_ALL_ROOMS}
    for package in APART:
        tests = package.parents[1] / "tests"
        inside = tests / f"{package.name}_tests"
        mirrored = {path.parent.relative_to(inside) for path in tests.rglob("test_*.py")}
        assert mirrored
        assert not [folder for folder in mirrored if not (package / folder).is_dir()]
        ours = re.compile(r"^\s*(?:from|import) piecework\b", re.MULTILINE)
        assert not [path for path in tests.rglob("*.py") if ours.search(path.read_text())]


_BESIDE_THE_CHECKOUT = re.compile(r'parents\[(\d)\] / "((?:\.\./)?)shared\b')


def test_what_lies_beside_the_checkout_is_looked_for_there() -> None:
    """A test that is moved would look elsewhere, and would be skipped from then on."""
    places: dict[str, Path] = {}
    for path in (*ROOT.glob("tests/**/*.py"), *ROOT.glob("packages/*/tests/**/*.py")):
        for above, up in _BESIDE_THE_CHECKOUT.findall(path.read_text(encoding="utf-8")):
            places[str(path.relative_to(ROOT))] = (path.parents[int(above)] / up).resolve()
    assert len(places) > 10
    assert {name: place for name, place in places.items() if place != ROOT.parent} == {}


def test_a_test_runs_no_event_loop_beside_a_browsers() -> None:
    """A browser of the same process has one in the main thread, and a second is refused.

    `tests/marketplace/own_event_loop.py` runs a coroutine in a thread.
    """
    calls = re.compile(r"^[^#\n\"]*asyncio\.run\(", re.MULTILINE)
    tests = [path for path in ROOT.glob("tests/**/test_*.py") if calls.search(path.read_text())]
    assert not tests


def test_the_rooms_at_the_root_are_linked_into_the_package() -> None:
    """Relative links, so that a checkout may lie anywhere; all else lies inside."""
    links = {path.name: path.readlink() for path in PACKAGE.iterdir() if path.is_symlink()}
    assert links == {name: Path("../..", name) for name in LINKED}
    assert all((ROOT / name / "__init__.py").exists() for name in LINKED)


def test_the_package_that_is_imported_is_this_one() -> None:
    """site-packages comes before an editable path, so a namesake there would win."""
    spec = importlib.util.find_spec("piecework")
    assert spec is not None
    assert spec.origin == str(PACKAGE / "__init__.py")


def test_a_module_is_one_idea_and_says_which() -> None:
    """Each opens with why it exists, and none is longer than ten screens."""
    faults = []
    for path in MODULES:
        lines = path.read_text(encoding="utf-8").splitlines()
        if lines[:1] == ["#!python"]:
            del lines[0]  # what is also installed as a script
        if not (lines and lines[0].lstrip("r").startswith('"""')):
            faults.append(f"{path}: does not open with what it is for")
        if len(lines) > 500:
            faults.append(f"{path}: {len(lines)} lines; a module has up to 500")
    assert not faults, "\n".join(faults)


def test_names_of_the_field_are_not_blurred() -> None:
    """No module is called by a word that could mean anything."""
    vague = {"utils", "helpers", "helper", "manager", "misc", "common", "data", "info"}
    assert not {path.stem for path in MODULES} & vague


def _drawings(heading: str) -> list[str]:
    """The text drawings of a section of docs/internals/architecture.md."""
    page = (ROOT / "docs/internals/architecture.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)


def test_contracts_and_drawing_are_written_from_one_list_of_rooms() -> None:
    """A room stands on its floor in pyproject.toml, and no list elsewhere is written by hand.

    `python -m tools.rooms` writes both.
    """
    project, page = (path.read_text(encoding="utf-8") for path in (rooms.PROJECT, rooms.PAGE))
    assert rooms.with_contracts(project) == project
    assert rooms.with_drawing(page, project) == page


def test_a_room_that_is_new_comes_into_every_list() -> None:
    """Lists that keep a room out name it; all others have it as soon as it has a floor."""
    project = rooms.PROJECT.read_text(encoding="utf-8")
    attic = project.replace("\nresults =", '\nattic = "what is kept"\nresults =')
    new = tomllib.loads(rooms.with_contracts(attic))["tool"]["importlinter"]["contracts"]
    lists = [names for contract in new for names in contract.values() if isinstance(names, list)]
    assert sum("piecework.attic" in names for names in lists) == project.count("= [ # all ")
    page = rooms.with_drawing(rooms.PAGE.read_text(encoding="utf-8"), attic)
    assert re.search("^ attic +what is kept$", page, flags=re.MULTILINE)


def test_a_list_that_keeps_out_an_unknown_room_is_refused() -> None:
    """A name that is no room, after a move, would let the moved room into the list."""
    project = rooms.PROJECT.read_text(encoding="utf-8").replace("but cli, flows\n", "but flow\n")
    with pytest.raises(ValueError, match=r"no room \{'flow'\}"):
        rooms.with_contracts(project)


def test_the_folders_of_the_rooms_beside_are_drawn() -> None:
    """A folder of marketplace or markets that is missing in the drawing would be overlooked.

    The page describes the folder of a market, and no market.
    """
    drawn: dict[str, list[str]] = {}
    room = ""
    for line in _drawings("The rooms")[1].splitlines():
        named = re.match(r" (?:(\w+)/)? +(\w+)/ ", line)
        assert named is not None, line
        room = named[1] or room
        drawn.setdefault(room, []).append(named[2])
    assert sorted(drawn) == sorted(PROJECT["tool"]["piecework"]["beside"])
    for package, folders in drawn.items():
        inside = {
            path.name
            for path in (PACKAGE / package).iterdir()
            # git leaves folders that hold only what Python compiled
            if path.name not in {"__pycache__", *MARKETS} and any(path.glob("[!_]*"))
        }
        assert sorted(folders) == sorted(inside)


def test_the_pass_drawn_is_the_pass_that_is_made() -> None:
    """docs/internals/architecture.md draws the steps of a pass, in their order."""
    drawn = re.findall(r"^ (\w+(?: \w+)?) +> ", _drawings("One pass")[0], flags=re.MULTILINE)
    assert drawn == [*(step.name for step in STEPS), "progress"]


def _contract(name: str) -> dict[str, list[str]]:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["name"] == name)


def _modules(room: str) -> set[str]:
    return {
        path.stem
        for path in (PACKAGE / room).iterdir()
        # A folder that was moved away may leave its compiled files behind.
        if path.stem != "__init__" and (path.suffix == ".py" or [*path.glob("*.py")])
    }


def test_all_live_flows_are_under_the_contract_about_pretending() -> None:
    """Every flow but those that may rehearse."""
    contract = _contract("Live code never pretends, not even through others")
    flows = [name for name in _named(contract["source_modules"]) if name.startswith("flows.")]
    assert set(flows) == {f"flows.{name}" for name in _modules("flows") - {"rehearse", "asking"}}


def test_every_module_of_the_engine_has_its_layer() -> None:
    """A module that no layer lists could import anything."""
    contract = _contract("Inside engine: steps know what they use, and nothing knows who calls")
    listed = re.findall(r"\w+", " ".join(contract["layers"]))
    assert sorted(listed) == sorted(_modules("engine"))


def test_flows_is_prefects_code_and_nothing_else() -> None:
    """A module without Prefect belongs into another room."""
    modules = [*(PACKAGE / "flows").rglob("[!_]*.py")]
    assert len(modules) < 10
    for path in modules:
        assert re.search(r"^\s*(from|import) prefect\b", path.read_text(), re.MULTILINE)


_SAME_EVERYWHERE = {
    "qc/heuristics": "score tally usual_of",
    "importing/readers": "read fits",
    "postprocess/rules": "propose",
    "postprocess": "forget_texts",
    "domain/picture_metadata": "stripped exif_of",
    "engine": "due act",
    "": "main",
}
"""Names by which each module of a folder offers the same thing to the same caller."""


def test_a_function_can_be_found_by_its_name() -> None:
    """A public name that many modules define finds none of them: `read_bound`, not `read`.

    Modules of one kind offer one name to their caller, and commands are named as they
    are called.
    """
    modules: dict[str, list[str]] = {}
    for path in (path for path in MODULES if path.is_relative_to(PACKAGE)):
        where = path.relative_to(PACKAGE).as_posix()
        shared = {
            name
            for folder, names in _SAME_EVERYWHERE.items()
            if where.startswith(folder)
            for name in names.split()
        }
        for node in ast.parse(path.read_bytes()).body:
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and not node.name.startswith("_")
                and node.name not in shared
                and not any("command" in ast.unparse(by) for by in node.decorator_list)
            ):
                modules.setdefault(node.name, []).append(where)
    faults = {name: places for name, places in modules.items() if len(places) > 3}
    assert not faults, "\n".join(f"{name}: {', '.join(p)}" for name, p in faults.items())
