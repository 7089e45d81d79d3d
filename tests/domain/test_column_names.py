"""Every column has a name of its own, whatever pages and other tools call answers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain import column_names as names
from piecework.domain.column_names import ColumnNames, column_word
from piecework.domain.field import StatedField
from piecework.hit_templates.own_html.fields_of_controls import fields_and_rules

ALIKE = ("mood", "Mood", "mood_share", "mood-share", "mood_votes_a", "width", "WIDTH")
NAMES = st.one_of(
    st.sampled_from((*ALIKE, *names.OF_DATASETS, *names.ON_THE_PAGE, "色", "形", "?")),
    st.text(max_size=60),
)
FIELDS = st.dictionaries(
    NAMES,
    st.sampled_from(
        [
            StatedField(kind="text"),
            StatedField(kind="number"),
            StatedField(kind="choice", options=("a", "b", "share")),
            StatedField(kind="choices", options=("a", "x_y")),
        ]
    ),
    max_size=12,
)


@given(FIELDS)
def test_no_two_columns_share_a_name(stated: dict[str, StatedField]) -> None:
    """Nor does a column made from a field have the name of another, or a fixed one."""
    fields, _, faults = fields_and_rules({}, stated)
    assert not faults
    assert [field.sent_as for field in fields] == list(stated)
    kinds = {"choice": ["majority"], "choices": ["shares"], "number": ["mean"], "text": []}
    clauses = names.faults_of_names(
        fields,
        {field.name: kinds[field.kind] for field in fields},  # type: ignore[misc]
        main_text="",
        columns=(),
    )
    assert clauses == []


def test_a_name_is_recognised_in_its_own_script() -> None:
    """Letters, marks and digits of any script stay; all else is an underscore."""
    words = {
        "色": "色",
        "हिन्दी शब्द": "हिन्दी_शब्द",
        "größe": "größe",
        "q1.a": "q1_a",
        "\u200bnote\u200b": "note",
        "x" * 100_000: "x" * 48,
    }
    assert {name: column_word(name) for name in words} == words


def test_two_hundred_names_alike_are_two_hundred_columns() -> None:
    """They are numbered in their order."""
    given_out = ColumnNames()
    columns = [given_out.take("q" + "." * n) for n in range(200)]
    assert columns == ["q", *(f"q_{n}" for n in range(2, 201))]


@pytest.mark.parametrize("name", [*names.IN_SINKS, names.RELEASE.upper()])
def test_a_sink_tables_own_columns_are_no_names_of_fields(name: str) -> None:
    """An own page's field is renamed, and a task's author is told."""
    fields, _, _ = fields_and_rules({}, {name: StatedField(kind="text")})
    assert [field.name for field in fields] == [f"{name.lower()}_answer"]
    own = [replace(fields[0], name=name)]
    clauses = names.faults_of_names(own, {}, main_text="", columns=())
    assert clauses == [f"{name}: its column {name!r} is a column of the dataset"]


def test_words_of_studies_are_names_of_fields_and_conditions() -> None:
    """Nobody's `release` or `is_withdrawn` is in the way of a sink that they do not have."""
    stated = {name: StatedField(kind="text") for name in ("release", "is_withdrawn")}
    fields, _, _ = fields_and_rules({}, stated)
    assert [field.name for field in fields] == [*stated]
    assert names.faults_of_names((), {}, main_text="", columns=stated) == []


def test_what_pages_of_sounds_measure_takes_no_plain_word() -> None:
    """A column about games that were played keeps its name; the measure's own is taken."""
    taken = names.ColumnNames()
    assert taken.take("played") == "played"
    assert taken.take(names.PLAYED) != names.PLAYED
