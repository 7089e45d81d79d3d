"""`make near` begins with the tests that a change is most likely to break."""

import pytest

from tools.near import ROOT, SOURCES, imported_by, near_tests


@pytest.mark.parametrize(
    ("changed", "nearest"),
    [
        ("tests/store/test_ledger.py", "tests/store/test_ledger.py"),
        ("src/piecework/store/ledger.py", "tests/store/test_ledger.py"),
        # Its tests use HTTP and import no module of it.
        (
            "src/piecework/marketplace/requester/assignments.py",
            "tests/marketplace/test_assignments.py",
        ),
        # The command imports it when it is called.
        ("src/piecework/cli/store.py", "tests/cli/test_store.py"),
        (
            "packages/offline-markets/src/offline_markets/prolific/bonuses.py",
            "packages/offline-markets/tests/offline_markets_tests/prolific/test_bonuses.py",
        ),
        ("docs/how-to/live.md", "tests/test_docs.py"),
    ],
)
def test_the_nearest_tests_come_first(changed: str, nearest: str) -> None:
    """A test of the module's name, and one that imports it, come before the others."""
    assert nearest in near_tests([changed])[:3]


def test_a_file_without_code_is_near_to_the_modules_of_its_folder() -> None:
    """The tables of the store are not a module, and its tests read them."""
    tests = near_tests(["src/piecework/store/schema/m001_tables.sql"])
    assert "tests/store/test_opening.py" in tests


def test_no_module_is_far_from_all_tests() -> None:
    """A change of a module without any test near it would be noticed late."""
    ours = ("piecework.", "offline_markets.")
    modules = [name for name in imported_by() if name.startswith(ours)]
    far = [name for name in modules if not near_tests([_file(name)])]
    assert far == []


def _file(module: str) -> str:
    package, *_ = module.split(".")
    path = next(root for root in SOURCES if (root / package).is_dir()) / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return str(file.relative_to(ROOT))
