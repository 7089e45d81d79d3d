"""Changes of a campaign file by what its keys mean, and not by how they are written."""

from dataclasses import replace

import pytest

from piecework.config.changed_keys import changed_keys, changes, differences
from piecework.domain.inputs import CAMPAIGN_FILE, Inputs

WHY = "because = 'Much too short.'"
SAME = [
    ('budget = "50.00"', 'budget = { total = "50" }'),
    ('budget = "50.00"', '[budget]\ntotal = "$50.00"'),
    ('reward = "$0.5"', 'reward = "0.50"'),
    ("scale = [1, 5]", 'scale = ["1", "5"]'),
    ('[requirements]\nqualifications = "X  In 1"', 'requirements.qualifications = ["X In 1"]'),
    ('items = "birds.csv"', '[items]\nfile = "birds.csv"'),
    ('items = "photos/"', 'pictures = "photos/"'),
    ('items = "a"\npictures = "b"', 'pictures = "b"\n[items]\nfile = "a"'),
    ('sink = "postgresql://h/d#t"', 'sink = ["postgresql://h/d#t"]'),
    ('markets = ["prolific", "connect"]', "[markets]\nprolific = 50\nconnect = 50"),
    ("[prolific]\nage = [1]", 'markets = ["prolific"]\n[prolific]\nage = [1]'),
    ('options = ["yes", "no"]', 'options = [{ value = "yes" }, { label = "no", value = "no" }]'),
    ('instructions = "Look."', 'instructions = ["Look."]'),
    ('[machine]\nvotes = "a.jsonl"', '[machine]\nvotes = ["a.jsonl"]'),
    ("[posting]\nlifetime_hours = 24", "posting.lifetime_hours = 24.0"),
    ("minutes = 2", "minutes = 2.00"),
    (
        f"[[decisions.rule]]\nthen = 'drop'\n{WHY}\non = 'answer'\nany_of = ['a']",
        f"decisions.rule = [{{ on = 'answer', any_of = ['a'], then = 'drop', {WHY} }}]",
    ),
    ('name = "birds"\nanswers = 3', 'answers = 3 # comment\nname = "birds"'),
]
"""Two ways to write the same."""

OTHER = [
    ('budget = "50.00"', 'budget = { total = "50", day = "5" }', ["budget.day"]),
    ('reward = "$0.50"', 'reward = "£0.50"', ["currency"]),
    ("answers = 3", "answers = { least = 3, most = 5 }", ["answers", "answers.least"]),
    ('items = "birds.csv"', 'items = "birds/"', ["items.file", "pictures"]),
    ("", "[grows]", ["grows"]),
    ("", "[decisions]\nrule = []", ["decisions.rule"]),
    ('qualification = "a.toml"', 'qualification = "b.toml"', ["qualification"]),
    ("[heuristics]\nx = false", "[heuristics]\nx = { a = 1 }", ["heuristics.x"]),
    ("[posting]\nno_such_key = 1", "[posting]\nno_such_key = 2", ["posting.no_such_key"]),
]


@pytest.mark.parametrize(("before", "now"), SAME)
def test_another_form_of_the_same_is_no_change(before: str, now: str) -> None:
    """Of a key, a table, an amount or a list."""
    then, today = Inputs(text=before), Inputs(text=now)
    assert changed_keys(then, today) == changed_keys(today, then) == []


@pytest.mark.parametrize(("before", "now", "keys"), OTHER)
def test_what_means_something_else_is_a_change(before: str, now: str, keys: list[str]) -> None:
    """Also where only the table is new, or a key is unknown."""
    then, today = Inputs(text=before), Inputs(text=now)
    assert changed_keys(then, today)[: len(keys)] == keys
    assert {*changed_keys(then, today)} == {*changed_keys(today, then)}


def test_old_and_new_values_are_shown_as_the_file_states_them() -> None:
    """Amounts as amounts, also in a short form; other texts are a change without a key."""
    before = Inputs(text='budget = "50.00"\nitems = "a.csv"', digests={CAMPAIGN_FILE: "1"})
    text = 'budget = { total = "60.00" }\nitems = "b.csv"'
    now = Inputs(text=text, digests={CAMPAIGN_FILE: "2"})
    assert list(map(str, differences(before, now))) == [
        'budget.total was "50.00" and is "60.00"',
        'items.file was "a.csv" and is "b.csv"',
    ]
    same = Inputs(text='budget = { total = "50" }\nitems = "a.csv"', digests={CAMPAIGN_FILE: "3"})
    assert changes(before, same) == ("how the campaign file is written",)


def test_stating_what_was_derived_is_no_change() -> None:
    """Another value is; of two that are derived, only a reward and rules are named."""
    short, complete = 'task = "caption"', 'task = "caption"\nbatches = 2\nbudget = "9.00"'
    derived = Inputs(text=short, complete=complete)
    assert changed_keys(derived, Inputs(text=complete)) == []
    assert changed_keys(Inputs(text=complete), derived) == []
    other = complete.replace("2", "3").replace("9", "8")
    for before in (derived, Inputs(text=complete)):
        assert changed_keys(before, Inputs(text=other)) == ["batches", "budget.total"]
    assert changed_keys(derived, Inputs(text=short, complete=other)) == []
    paid = [replace(derived, complete=f"reward = '{cents}'\n{complete}") for cents in (1, 2)]
    assert changed_keys(*paid) == ["reward"]
    assert changed_keys(derived, Inputs(text=short)) == []  # what it leaves out is not known


def test_a_changed_rule_is_shown_as_toml_where_it_differs() -> None:
    """A message has the words around the difference, and JSON the whole value."""
    rule = "[[decisions.rule]]\non = 'answer'\nany_of = ['capitals']\nthen = 'drop'\nbecause = {}\n"
    texts = [rule.format(repr(f"{why} was this, we are sorry to say.")) for why in ("Bad", "Odd")]
    before, now = (
        Inputs(text=text, digests={CAMPAIGN_FILE: str(n)}) for n, text in enumerate(texts)
    )
    (difference,) = differences(before, now)
    assert difference.now == (
        '[[decisions.rule]]\non = "answer"\nany_of = ["capitals"]\nthen = "drop"\n'
        'because = "Odd was this, we are sorry to say."'
    )
    assert difference.shown == (
        '… = "drop" because = "Bad was this, we are sorry to say."',
        '… = "drop" because = "Odd was this, we are sorry to say."',
    )
    assert "'" not in str(difference)
