"""What a release says of itself: version, licence, and what it depends on."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from typing import Any

import yaml
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tests.for_each import for_each

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_APART = [
    tomllib.loads(path.read_text())["project"] for path in ROOT.glob("packages/*/pyproject.toml")
]
_LOCK = ROOT / "requirements.lock"
_REQUIRED = [
    Requirement(line)
    for lines in [_PROJECT["dependencies"], *_PROJECT["optional-dependencies"].values()]
    for line in lines
]
_DIRECT = [each for each in _REQUIRED if each.name not in {apart["name"] for apart in _APART}]


def _licences() -> dict[str, str]:
    """The table of docs/internals/decisions/dependencies.md: a licence by dependency."""
    page = (ROOT / "docs/internals/decisions/dependencies.md").read_text(encoding="utf-8")
    table = page.split("\n## Licences\n")[1]
    rows = re.findall(r"^\| ([\w.-]+) \| ([^|]+) \|$", table, flags=re.MULTILINE)
    return dict(rows[1:])


def test_each_dependency_has_a_licence_on_the_page() -> None:
    """A new dependency fails here until somebody has read its licence."""
    assert sorted(_licences(), key=str.casefold) == sorted(
        {requirement.name for requirement in _DIRECT}, key=str.casefold
    )


@for_each("name", [requirement.name for requirement in _DIRECT])
def test_a_licence_on_the_page_is_what_the_package_declares(name: str) -> None:
    """As an SPDX expression, in its own words, or as a classifier."""
    assert _licences()[name] in _declared(name)


def test_nothing_in_the_tree_is_under_the_gpl_alone() -> None:
    """A licence that would bind who installs piecework must not come along unseen.

    text-unidecode leaves the choice between the GPL and the Artistic License.
    """
    bound = {
        name
        for name in _tree()
        for licence in _declared(name)
        if re.search(r"\bA?GPL|General Public License", licence) and "Lesser" not in licence
    }
    assert bound == {"text-unidecode"}


def _declared(name: str) -> list[str]:
    """The licences that an installed package declares, each in one line."""
    metadata = distribution(name).metadata
    return [
        *metadata.get_all("License-Expression", []),
        *(text.partition("\n")[0] for text in metadata.get_all("License", [])),
        *(
            value.rpartition(" :: ")[2]
            for value in metadata.get_all("Classifier", [])
            if value.startswith("License ::")
        ),
    ]


def _tree() -> set[str]:
    """Names of all installed packages that piecework brings, without its extras."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(line) for line in _PROJECT["dependencies"]]
    while waiting:
        requirement = waiting.pop()
        key = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if key not in seen:
            seen.add(key)
            waiting += _needed_by(requirement)
    return {name for name, _ in seen}


def _needed_by(requirement: Requirement) -> Iterator[Requirement]:
    for line in distribution(requirement.name).requires or ():
        needed = Requirement(line)
        extras = ["", *requirement.extras]
        if needed.marker is None or any(
            needed.marker.evaluate({"extra": extra}) for extra in extras
        ):
            yield needed


@for_each("apart", _APART)
def test_a_distribution_of_its_own_fits_this_one(apart: dict[str, Any]) -> None:
    """Of the same version, an extra of this one, and it works with the locked versions."""
    for key in ("version", "license", "authors", "requires-python", "classifiers"):
        assert apart[key] == _PROJECT[key], key
    assert _PROJECT["optional-dependencies"][apart["name"]] == [
        f"{apart['name']}=={apart['version']}"
    ]
    locked = dict(re.findall(r"^([\w.-]+)(?:\[.*\])?==(\S+)", _LOCK.read_text(), re.MULTILINE))
    for needed in map(Requirement, apart["dependencies"]):
        assert needed.name in {requirement.name for requirement in _DIRECT}
        assert needed.specifier.contains(locked[needed.name]), needed
    folder = ROOT / "packages" / apart["name"]
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_no_results_of_examples_come_into_a_wheel() -> None:
    """Who installs a clone in which they were rehearsed installs no store with it."""
    config = WheelBuilder(str(ROOT)).config
    campaigns = "src/piecework/config/campaigns"
    assert config.include_path(f"{campaigns}/demo.toml")
    assert not config.include_path(f"{campaigns}/out/demo/rehearsals/1/piecework.db")


def test_the_citation_names_this_version_and_licence() -> None:
    """pyproject.toml holds the version; CITATION.cff repeats it for tools."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == _PROJECT["version"]
    assert citation["license"] == _PROJECT["license"]
    assert citation["title"] == _PROJECT["name"]
    assert citation["authors"] == _PROJECT["authors"]


def test_the_changelog_has_the_version_or_says_that_it_is_unreleased() -> None:
    """As https://keepachangelog.com has it: `## [0.1.0] - 2026-12-01`."""
    first = re.findall(r"^## \[([^]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert first in {"Unreleased", _PROJECT["version"]}


def test_the_locks_agree() -> None:
    """What `make demo` installs is what the tests run with."""
    pins = {
        name: {*re.findall(r"^\S+==\S+", (ROOT / name).read_text(), re.MULTILINE)}
        for name in ("requirements.lock", "requirements-dev.lock")
    }
    assert pins["requirements.lock"] < pins["requirements-dev.lock"]
    locked = {pin.partition("==")[0].partition("[")[0] for pin in pins["requirements.lock"]}
    wanted = {canonicalize_name(Requirement(line).name) for line in _PROJECT["dependencies"]}
    assert wanted <= locked
