"""Short forms of keys, and the tables that they stand for; former keys, refused."""

from pathlib import Path

import pytest

from piecework.config.campaign_file import CampaignFile, crowds, parse_text, sinks
from piecework.domain.dataset import Sink
from piecework.domain.errors import ConfigError

REST = """
name = "birds"
description = "Birds."
task = "caption"
reward = "0.10"
hourly_wage = "9.00"
budget = "20.00"
"""


def file_of(text: str) -> CampaignFile:
    """The campaign file with these lines beside the usual ones."""
    items = "" if any(word in text for word in ("items", "pictures")) else 'items = "a.csv"\n'
    return parse_text(Path("birds.toml"), f"{items}{REST.lstrip()}{text}")


def fault_of(text: str) -> str:
    """The only fault of a file with these lines."""
    with pytest.raises(ConfigError) as refused:
        file_of(text)
    (fault,) = refused.value.faults
    return fault


@pytest.mark.parametrize(
    ("short", "table"),
    [
        ('items = "a.csv"', '[items]\nfile = "a.csv"'),
        ('items = "A.JSONL"', '[items]\nfile = "A.JSONL"'),
        ('items = "photos/"', 'pictures = "photos/"'),
        ('items = "a.csv"\npictures = "p"', 'pictures = "p"\n[items]\nfile = "a.csv"'),
        (
            'items = "s3://b/rows"\npictures = "s3://b"\n[grows]',
            'pictures = "s3://b"\n[items]\nfile = "s3://b/rows"\n[grows]',
        ),
        ('items = "s3://b/p"\n[grows]', 'pictures = "s3://b/p"\n[grows]'),
    ],
)
def test_items_are_a_file_a_folder_or_a_table(short: str, table: str) -> None:
    """A text that ends as a table is one; a folder alone is one of pictures."""
    stated, full = file_of(short).tables, file_of(table).tables
    assert (stated.items, stated.pictures) == (full.items, full.pictures)


def test_a_number_stands_for_its_table() -> None:
    """Of money."""
    caps = REST.replace('"20.00"', '{ total = "20.00" }')
    whole = parse_text(Path("birds.toml"), f'items = "a.csv"\n{caps}')
    assert whole.tables == file_of("").tables


def test_markets_are_a_list_or_a_table_and_prolific_alone_is_prolific() -> None:
    """Equal shares, the first with what is left over."""

    def shares(text: str) -> tuple[tuple[str, int], ...]:
        named = crowds(file_of(text).tables)
        return () if named is None else named.percent

    assert shares('markets = ["prolific"]') == (("prolific", 100),)
    assert dict(shares('markets = ["connect", "prolific", "panel"]')) == {
        "connect": 34,
        "prolific": 33,
        "panel": 33,
    }
    assert shares("[prolific]") == (("prolific", 100),)
    assert shares("[prolific]\nfirst-language = [0]\n[markets]\npanel = 100") == (("panel", 100),)
    assert shares("") == ()


def test_a_sink_is_an_address_and_perhaps_a_format() -> None:
    """After the last `#` stands the table of a database; there may be several."""
    stated = ["postgresql://h/d#lab.words history", "s3://b/out manifest", "my files#1", "a b"]
    assert sinks(file_of(f"sink = {stated}").tables) == (
        Sink(to="postgresql://h/d", table="lab.words", has_history=True),
        Sink(to="s3://b/out", is_manifest=True),
        Sink(to="my files#1"),
        Sink(to="a b"),
    )
    (latest,) = sinks(file_of('sink = "postgresql://h/d#words latest"').tables)
    assert (latest.table, latest.has_history) == ("words", False)


def test_a_scale_is_both_its_ends_with_their_words() -> None:
    """Numbers alone, or each with words."""
    assert file_of("scale = [-2, 2]").tables.scale == ("-2", "2")
    assert file_of('scale = ["1  not clear", 5]').tables.scale == ("1 not clear", "5")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("items = 7", "birds.toml:7: items: name the file or the folder of pictures"),
        ('[items]\npictures = "q"', "birds.toml:8: items.pictures: is pictures now, at the top"),
        ('items = "s3://b/p"', "birds.toml: the file: pictures at an address are listed"),
        ("sink = [[['a']]]", "birds.toml:8: sink[1]: write an address as text"),
        ('items = { query = "SELECT 1" }', "items: query is for a database; write its URL, file"),
        ('items = "a.parquet"', "add [grows]"),
        ("per_worker = 0", "birds.toml:8: per_worker: Input should be greater than or equal to 1"),
        ("per_worker = { hits = 1 }", "birds.toml:8: per_worker: Input should be a valid integer"),
        ('markets = ["mturk"]', "birds.toml:8: markets: piecework knows no such market"),
        ("markets = []", "birds.toml:8: markets: name at least one market"),
        ('markets = ["panel", "panel"]', "names a market twice"),
        ("sink = 7", "birds.toml:8: sink: write an address as text"),
        ('sink = "hf://datasets/x"', "birds.toml:8: sink: this is no dataset"),
        ('sink = "hf://datasets/a/b manifest"', "leave out 'manifest'"),
        ('sink = ["a", "sqlite:///b#c d"]', "birds.toml:8: sink[2]: after the last # stands a"),
        ('sink = "a history"', "'history' is for a table; name it after the database: #table"),
        ('sink = "sqlite:///b#c manifest"', "a table has 'latest' or 'history'"),
        ("scale = [1]", "birds.toml:8: scale: write both ends, scale = [1, 5]"),
        ('scale = ["one", "five"]', "each end begins with a whole number"),
        ("scale = [1, 2000]", "an end is at most 1,000 away from 0"),
        ('requirements.qualifications = ["X Equals 1"]', '[1]: write "ID COMPARATOR VALUES"'),
        ('requirements.qualifications = "X In"', "comparator In takes 1 to 15 values, not 0"),
        ('requirements.qualifications = "X EqualTo y"', "'y' is not a value: those are whole"),
        ("batches = 2\n[grows]", "batches is for items that do not grow; set grows.batch"),
        ("[rehearsal]\nrows_a_day = 5", "is for items that grow; add [grows]"),
        ("[posting]\nanswers = 3", "answers stands at the top of the file, before the first"),
    ],
)
def test_what_a_short_form_cannot_be_is_refused_with_its_line(text: str, words: str) -> None:
    """In one sentence, about the key as it is written."""
    assert words in fault_of(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[rewards]\nreward = "1"', "birds.toml:9: rewards.reward: is reward now, at the top"),
        ('[rewards]\nday_budget = "1"', "rewards.day_budget: is budget = { day = ... } now"),
        ("[posting]\nassignments = 3", "birds.toml:9: posting.assignments: is answers now"),
        ("[posting]\nbatch_size = 3", "posting.batch_size: is batch in [grows] now"),
        ('[items]\nfile = "a.csv"\ngrows = true', "items.grows: is [grows] now"),
        ("[requirements]\nmax_hits_per_worker = 2", "is per_worker now, at the top of the file"),
        ("[requirements.prolific]\nage = [1]", "requirements.prolific: is [prolific] now"),
        ("[crowds]\npanel = 100", "birds.toml:8: crowds: is [markets] now"),
        ('[[sinks]]\nto = "a"', "birds.toml:8: sinks: is sink now, at the top of the file"),
        ("[page]\nhosts = []", "birds.toml:9: page.hosts: is hosts now, at the top of the file"),
        ("[advanced]\nexclusion_name = 'a'", "is exclusion_name in [requirements] now"),
        ("[[requirements.qualification]]\nid = 'X'", "requirements.qualification: is qualifi"),
        ('[output]\nfolder = "a"', "birds.toml:8: output: is [output] of the machine's file now"),
        ('[store]\nurl = ""', "birds.toml:8: store: is [store] of the machine's file now"),
        ("[[fees]]\npercent = 9", "fees: is [[fees]] of the machine's file now: the one that"),
        ('[[output.sinks]]\nto = "a"', "output.sinks: is sink now, at the top of"),
    ],
)
def test_a_former_key_is_refused_with_its_new_name(text: str, words: str) -> None:
    """And its line; a key that is missing only for that reason is no second fault."""
    assert words in fault_of(text)
