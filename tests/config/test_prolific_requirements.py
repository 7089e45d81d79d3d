"""`[prolific]`: filters of Prolific's, as requirements of MTurk's wire."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PROLIFIC
from piecework.platforms.wire import recruiting_to_wire
from tests.small_campaign import CAMPAIGN, write_campaign

TABLE = """
[prolific]
first-language = [0, 1]
age = { at_least = 18, at_most = 60 }
"""


def asked(folder: Path, text: str) -> list[tuple[str, str, tuple[int, ...]]]:
    """Requirements on filters: id, comparator and values."""
    campaign = load_campaign(write_campaign(folder, CAMPAIGN + text))
    return [
        (each.qualification_type_id, each.comparator, each.integer_values)
        for each in campaign.requirements
        if each.qualification_type_id.startswith(PROLIFIC)
    ]


def test_choices_are_one_requirement_and_a_range_is_two(tmp_path: Path) -> None:
    """With the ids that other programs write."""
    assert asked(tmp_path, TABLE) == [
        ("PROLIFICFIRSTLANGUAGE", "In", (0, 1)),
        ("PROLIFICAGE", "GreaterThanOrEqualTo", (18,)),
        ("PROLIFICAGE", "LessThanOrEqualTo", (60,)),
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("first-language = []", "first-language"),
        ("first-language = ['English']", "first-language: write numbers of choices, such as"),
        ("first-language = 3", "first-language: write numbers of choices"),
        ("First-Language = [1]", "First-Language"),
        ("age = {}", "state at_least, at_most or both"),
        ("age = { at_least = 40, at_most = 20 }", "at_least is above at_most"),
        ("age = { least = 40 }", "least"),
        ("a = [" + ", ".join(map(str, range(16))) + "]", "at most 15"),
        ("\n".join(f"f{n} = [1]" for n in range(7)), "at most 6"),
        ("sex = { choices = [0, 1], percent = [50, 40] }", "adds up to 90, not to 100"),
        ("sex = { choices = [0, 1], percent = [100] }", "percent"),
        ("sex = { choices = [0, 1], percent = [99] }", "2 choices and 1 numbers"),
        ("sex = { choices = ['A', 'B'], percent = [50, 50] }", "choices: write numbers of choices"),
        ("sex = { choices = [0, 0], percent = [50, 50] }", "names a choice twice"),
        ("sex = { choices = [0, 1], percent = [0, 100] }", "percent"),
        ("sex = { file = 'ids.txt' }", "sex takes no file"),
        ("custom_allowlist = [1]", "custom_allowlist takes { file = ... }"),
        ("custom_allowlist = { file = 'none.txt' }", "no such file: none.txt"),
        ("custom_allowlist = { file = 'bad.txt' }", "bad.txt:2: 'ada' is not the id"),
        ("custom_blocklist = { file = 'empty.txt' }", "empty.txt has no id"),
        (
            "custom_allowlist.file = 'ids.txt'\ncustom_blocklist.file = 'ids.txt'",
            "is in custom_allowlist too",
        ),
    ],
)
def test_what_is_no_filter_is_named(tmp_path: Path, line: str, words: str) -> None:
    """With its line in the file."""
    (tmp_path / "ids.txt").write_text(f"{'a' * 24}\n")
    (tmp_path / "bad.txt").write_text(f"{'a' * 24}  # ann\nada\n")
    (tmp_path / "empty.txt").write_text("# no id\n")
    with pytest.raises(ConfigError) as refused:
        asked(tmp_path, f"[prolific]\n{line}\n")
    assert words in str(refused.value)
    assert "crash.toml:" in str(refused.value)
    # No sentence is about a form that the line does not have.
    assert str(refused.value).count("crash.toml:") == 1 + line.count("percent = [0, 100]")
    assert "branch" not in str(refused.value)


def test_more_requirements_than_mturk_allows_are_counted(tmp_path: Path) -> None:
    """Six ranges are twelve."""
    ranges = "\n".join(f"f{n} = {{ at_least = 1, at_most = 2 }}" for n in range(6))
    with pytest.raises(ConfigError, match="there are 12, and piecework adds up to 4"):
        asked(tmp_path, f"[prolific]\n{ranges}\n")


def test_lists_and_shares_are_stated_beside_the_requirements(tmp_path: Path) -> None:
    """A share asks for its choices too; each id counts once."""
    ann, bob = "a" * 24, "b" * 24
    (tmp_path / "ids.txt").write_text(f"# ours\n{ann}\n\n{bob} # bob\n{ann}\n")
    text = (
        "[prolific]\n"
        "first-language = { choices = [0, 1], percent = [70, 30] }\n"
        "custom_allowlist = { file = 'ids.txt' }\n"
    )
    assert asked(tmp_path, text) == [("PROLIFICFIRSTLANGUAGE", "In", (0, 1))]
    recruiting = load_campaign(tmp_path / "crash.toml").recruiting
    assert recruiting is not None
    assert recruiting_to_wire(recruiting) == {
        "Only": [ann, bob],
        "Not": [],
        "Shares": {"PROLIFICFIRSTLANGUAGE": {"0": 70, "1": 30}},
    }
    assert load_campaign(write_campaign(tmp_path, CAMPAIGN)).recruiting is None
