"""The list of rules, their files and the docs agree."""

from pathlib import Path

import pytest

from piecework.postprocess.apply import RULES, Rule

ROOT = Path(__file__).resolve().parents[2]


def test_registry_and_files_agree() -> None:
    """A rule that is not in the list would never run."""
    files = {path.stem for path in (ROOT / "postprocess/rules").glob("[!_]*.py")}
    assert files == {rule.NAME for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_every_rule_is_explained(rule: Rule) -> None:
    """docs/explanation/cleaning.md has a section for each, and each has a version."""
    text = (ROOT / "docs/explanation/cleaning.md").read_text(encoding="utf-8")
    assert f"## {rule.NAME.replace('_', ' ').capitalize()}" in text
    assert rule.VERSION >= 1
