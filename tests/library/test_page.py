"""docs/library.md is true: its examples run, and it names all that there is."""

import doctest
import re
from pathlib import Path

import pytest

import piecework
from tests.conftest import ROOT

_PAGE = (ROOT / "docs/library.md").read_text(encoding="utf-8")
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_examples_of_the_page_are_true(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All blocks in their order, in one namespace, where the examples were copied."""
    monkeypatch.chdir(examples)
    blocks = re.findall(r"^```python\n(.*?)^```", _PAGE, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {}, "library.md", None, 0
    )
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=_OPTIONS)
    results = runner.run(test, out=told.append)
    assert results.attempted > len(blocks)
    assert not results.failed, "".join(told)


@pytest.mark.parametrize("name", piecework.__all__)
def test_every_name_of_the_library_is_on_the_page(name: str) -> None:
    """As code, so that a reader finds it."""
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", _PAGE)
