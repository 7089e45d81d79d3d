"""`import piecework` is a list of names; each loads what it needs."""

import importlib
import subprocess
import sys

import pytest

import piecework
from tests.for_each import for_each


def test_the_import_loads_nothing_but_the_list() -> None:
    """Neither pandas nor any room, so that it costs next to nothing."""
    program = (
        "import sys; before = {*sys.modules}; import piecework; "
        "print(*sorted({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    # All that is part of Python; in a bare interpreter typing is not loaded yet.
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded - sys.stdlib_module_names == {"piecework"}
    assert "piecework.library" not in done.stdout


def test_labels_load_no_marketplace_and_no_store() -> None:
    """Who wants labels from votes pays for pandas and scipy alone."""
    program = (
        "import sys, piecework; piecework.majority; "
        "print(*sorted(name for name in sys.modules if name.startswith('piecework.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    rooms = {name.split(".")[1] for name in done.stdout.split()}
    assert rooms <= {"analyses", "domain", "hit_templates", "library"}


@for_each("name", piecework.__all__)
def test_every_name_leads_to_what_bears_it(name: str) -> None:
    """It is listed, loaded from one place, and explained."""
    value = getattr(piecework, name)
    assert value.__name__ == name
    assert value.__doc__
    assert name in dir(piecework)


def test_what_is_not_listed_is_an_attribute_error() -> None:
    """As of any module; rooms can still be imported by name."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        piecework.nothing  # noqa: B018 - the look-up is what is tested
    assert importlib.import_module("piecework.domain").__doc__
    assert sorted(piecework.__all__) == [*piecework.__all__]
    assert {*piecework.__all__} == {*piecework._MODULE_OF}
