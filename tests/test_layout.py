"""The house stays the house: packages under contract, none shadowed, none too large."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = sorted(
    path.parent.name
    for path in ROOT.glob("*/__init__.py")
    if path.parent.name != "tests"
)
MODULES = sorted(
    path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "__pycache__" not in path.parts
)
_BESIDE = ["marketplace", "rehearsal"]


def test_every_root_package_is_under_contract() -> None:
    """A new root package that no import contract names would not be noticed."""
    linter = PROJECT["tool"]["importlinter"]
    assert sorted(linter["root_packages"]) == PACKAGES
    listed = " | ".join(linter["contracts"][0]["layers"]).split(" | ")
    assert sorted([*listed, *_BESIDE]) == PACKAGES


def test_what_is_installed_and_measured_is_the_same_list() -> None:
    """The build, the types and the coverage know every package."""
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert sorted(wheel) == PACKAGES
    assert sorted(PROJECT["tool"]["coverage"]["run"]["source"]) == PACKAGES
    assert sorted(PROJECT["tool"]["mypy"]["files"]) == sorted([*PACKAGES, "tests"])
    assert sorted(PROJECT["tool"]["ruff"]["lint"]["isort"]["known-first-party"]) == (
        PACKAGES
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_root_package_is_not_shadowed(name: str) -> None:
    """site-packages comes before an editable path, so a namesake there would win."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).is_relative_to(ROOT)


def test_flow_modules_do_not_shadow_root_packages() -> None:
    """Prefect puts flows/ itself on sys.path for a file entry point."""
    assert not {path.stem for path in (ROOT / "flows").glob("*.py")} & set(PACKAGES)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_is_one_idea_and_says_which(path: Path) -> None:
    """No module is over 400 lines, and each opens with why it exists."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400
    assert lines, "an empty module says nothing"
    assert lines[0].lstrip("r").startswith('"""')


def test_names_of_the_field_are_not_blurred() -> None:
    """No module is called by a word that could mean anything."""
    vague = {"utils", "helpers", "helper", "manager", "misc", "common", "data", "info"}
    assert not {path.stem for path in MODULES} & vague
