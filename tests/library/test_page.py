"""docs/reference/library.md names all that there is."""

import re

import piecework
from tests.conftest import ROOT
from tests.for_each import for_each

_PAGE = (ROOT / "docs/reference/library.md").read_text(encoding="utf-8")


@for_each("name", piecework.__all__)
def test_every_name_of_the_library_is_on_the_page(name: str) -> None:
    """As code, so that a reader finds it."""
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", _PAGE)
