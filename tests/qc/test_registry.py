"""Laws of running all heuristics."""

import ast
import inspect
import re
from types import ModuleType

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import JOINED, Finding
from piecework.qc.registry import (
    BY_NAME,
    HEURISTICS,
    OFF_BY_DEFAULT,
    TITLES,
    assess,
    check_settings,
    columns,
    columns_if_there,
    describe_heuristics,
    scores,
)
from tests.qc.rated import choice, task_of
from tests.qc.tables import row, table

SHOUT = "A RED BIRD SITS ON A WIRE"
OF_PICTURES = re.compile(r"\b(image|picture|photo|caption)", re.IGNORECASE)


def test_everything_runs_unless_it_is_switched_off() -> None:
    """Absent is "with defaults", but for what is worth nothing; `None` is off."""
    every = [heuristic.NAME for heuristic in HEURISTICS]
    names = [name for name in every if name not in OFF_BY_DEFAULT]
    answers = table(row("a"))
    assert list(scores(answers, {}, seed=1)) == names
    named: dict[str, dict[str, object]] = {name: {} for name in OFF_BY_DEFAULT}
    assert list(scores(answers, named, seed=1)) == every
    without = scores(answers, {"capitals": None, "not_typed": {}}, seed=1)
    assert list(without) == [name for name in names if name != "capitals"]


def test_settings_reach_their_heuristic() -> None:
    """A parameter from the campaign file changes what is flagged."""
    answers = table(row("a", text="A red bird", problems=("x",)))
    settings = {"capitals": {"more_than_share": 0}, "random_sample": None}
    names = [each.heuristic for each in assess(answers, settings, seed=1)]
    assert names == ["capitals", "rule_violation"]


def test_a_finding_says_who_found_what_about_whom() -> None:
    """All of a heuristic's words arrive in the finding."""
    answers = table(row("a", problems=("too_short",)))
    assert assess(answers, {"random_sample": None}, seed=1) == [
        Finding(
            heuristic="rule_violation",
            version=2,
            subject_kind="answer",
            subject_id="a",
            suspicion=1.0,
            flag=True,
            evidence="breaks a rule of the task: too_short",
        )
    ]


def test_what_nobody_suspects_makes_no_finding() -> None:
    """Silence is the common case and is not stored."""
    assert assess(table(row("a")), {"random_sample": None}, seed=1) == []


def test_all_faults_of_all_tables_are_raised_at_once() -> None:
    """Unknown heuristic, unknown parameter, wrong value: three sentences, one error."""
    settings = {
        "capitalls": {},
        "capitals": {"share": 0.5, "more_than_share": 2},
        "not_typed": None,
    }
    with pytest.raises(ConfigError) as caught:
        assess(table(), settings, seed=1)
    assert caught.value.faults == check_settings(settings)
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "heuristics.capitalls",
        "heuristics.capitals.share",
        "heuristics.capitals.more_than_share",
    ]


@pytest.mark.full
def test_the_campaigns_seed_draws_the_sample_unless_it_has_its_own() -> None:
    """A seed in the table stands above the campaign's."""
    answers = table(*[row(f"{place}") for place in range(200)])

    def drawn(settings: dict[str, object], seed: int) -> list[bool]:
        by_heuristic = scores(answers, {"random_sample": {"share": 0.5, **settings}}, seed=seed)
        return by_heuristic["random_sample"]["flag"].tolist()

    assert drawn({}, 1) != drawn({}, 2)
    assert drawn({"seed": 3}, 1) == drawn({"seed": 3}, 2) == drawn({}, 3)


def test_an_empty_table_has_nothing_to_say() -> None:
    """Before the first answer comes, assessing is no error."""
    assert assess(table(), {}, seed=1) == []


def test_every_default_is_allowed_and_explained() -> None:
    """Defaults obey the ranges they stand beside, and every parameter has a meaning."""
    for each in describe_heuristics():
        defaults = {p.name: p.default for p in each.parameters}
        assert check_settings({each.name: defaults}) == []
        assert all(p.meaning for p in each.parameters), each.name


def test_every_heuristic_has_a_title_of_its_own() -> None:
    """People read titles; a campaign file and a table name identifiers."""
    titles = [TITLES[name] for name in (*BY_NAME, JOINED)]
    assert len(set(titles)) == len(titles)
    for title in titles:
        assert re.fullmatch(r"[A-Z][\w' ,]{5,40}", title), title


def test_nothing_that_is_told_supposes_pictures() -> None:
    """Neither an idea nor evidence; items may be headlines, sentences, anything."""
    for heuristic, described in zip(HEURISTICS, describe_heuristics(), strict=True):
        assert isinstance(heuristic, ModuleType)
        sentences = [
            described.title,
            described.idea,
            *_strings_of_functions(inspect.getsource(heuristic)),
        ]
        assert not [words for words in sentences if OF_PICTURES.search(words)]


def _strings_of_functions(source: str) -> list[str]:
    """All text in the functions of a module, but for their docstrings."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    documented = {ast.get_docstring(function, clean=False) for function in functions}
    return [
        node.value
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value not in documented
    ]


def test_a_table_may_lack_the_records_of_typing() -> None:
    """Tables of earlier versions have none; with them, `not_typed` reads them."""
    task = task_of(choice("fit", "yes", "no"))
    assert "typing" in columns({}, task)
    assert "typing" in columns_if_there({}, task)
    off = {"not_typed": None, "like_samples": None}
    assert "typing" not in columns(off, task)
