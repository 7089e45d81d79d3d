"""Short forms of keys, and the tables that they stand for; former keys, refused."""

from pathlib import Path

import pytest

from piecework.config.campaign_file import CampaignFile, parse_text
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
        ('items = "photos/"', '[items]\npictures = "photos/"'),
        ('pictures = "photos"', '[items]\npictures = "photos"'),
        ('items = "a.csv"\npictures = "p"', '[items]\nfile = "a.csv"\npictures = "p"'),
        (
            'items = "s3://b/rows"\npictures = "s3://b"\n[grows]',
            '[items]\nfile = "s3://b/rows"\npictures = "s3://b"\n[grows]',
        ),
        ('items = "s3://b/p"\n[grows]', '[items]\npictures = "s3://b/p"\n[grows]'),
        (
            'pictures = "p"\n[items]\nfile = "a.csv"\ncolumns = { url = "x" }',
            '[items]\nfile = "a.csv"\npictures = "p"\ncolumns = { url = "x" }',
        ),
    ],
)
def test_items_are_a_file_a_folder_or_a_table(short: str, table: str) -> None:
    """A text that ends as a table is one; a folder alone is one of pictures."""
    assert file_of(short).tables.items == file_of(table).tables.items


def test_a_number_stands_for_its_table() -> None:
    """Of answers, of HITs per worker, and of money."""
    assert file_of("per_worker = 20").tables == file_of("per_worker = { hits = 20 }").tables
    both = file_of("per_worker = { hits = 20, hits_per_batch = 5 }").tables.per_worker
    assert (both.hits, both.hits_per_batch) == (20, 5)
    caps = REST.replace('"20.00"', '{ total = "20.00" }')
    whole = parse_text(Path("birds.toml"), f'items = "a.csv"\n{caps}')
    assert whole.tables == file_of("").tables


def test_markets_are_a_list_or_a_table_and_prolific_alone_is_prolific() -> None:
    """Equal shares, the first with what is left over."""

    def shares(text: str) -> tuple[tuple[str, int], ...]:
        markets = file_of(text).tables.markets
        return () if markets is None else markets.crowds().percent

    assert shares('markets = ["prolific"]') == (("prolific", 100),)
    assert dict(shares('markets = ["connect", "prolific", "panel"]')) == {
        "connect": 34,
        "prolific": 33,
        "panel": 33,
    }
    assert shares("[prolific]") == (("prolific", 100),)
    assert shares("[prolific]\nfirst-language = [0]\n[markets]\npanel = 100") == (("panel", 100),)
    assert shares("") == ()


def test_a_sink_is_an_address_or_a_table() -> None:
    """After the last `#` stands the table of a database."""
    table = '[[sinks]]\nto = "postgresql://h/d"\ntable = "lab.words"'
    assert (
        file_of('sink = "postgresql://h/d#lab.words"').tables.sinks == file_of(table).tables.sinks
    )
    assert file_of('sink = "s3://b/out"').tables.sinks[0].to == "s3://b/out"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("items = 7", "birds.toml:7: items: name the file or the folder of pictures"),
        ('pictures = "p"\n[items]\npictures = "q"', "pictures is stated twice"),
        ('items = "s3://b/p"', "birds.toml: the file: items: pictures at an address are listed"),
        ('items = "a.parquet"', "add [grows]"),
        ("per_worker = 0", "birds.toml:8: per_worker: Input should be greater than or equal to 1"),
        ("per_worker = { hit = 1 }", "per_worker.hit: no such key; did you mean 'hits'?"),
        ('markets = ["mturk"]', "birds.toml:8: markets: piecework knows no such market"),
        ("markets = []", "birds.toml:8: markets: name at least one market"),
        ('markets = ["panel", "panel"]', "and none twice"),
        ("sink = 7", "sink is an address as text"),
        ('sink = "hf://datasets/x"', "birds.toml:8: sink: to is no dataset"),
        ('sink = "s3://a"\n[[sinks]]\nto = "s3://b"', "state either sink or [[sinks]]"),
        ("batches = 2\n[grows]", "batches is for items that do not grow; set grows.batch"),
        ("[advanced]\nmost_removed_percent = 5", "is for items that grow; add [grows]"),
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
        ("[output]\nreleases = true", "output.releases: is releases in [advanced] now"),
        ('[output]\nfolder = "a"', "birds.toml:8: output: is [output] of the machine's file now"),
        ('[store]\nurl = ""', "birds.toml:8: store: is [store] of the machine's file now"),
        ("[[fees]]\npercent = 9", "fees: is [[fees]] of the machine's file now: the one that"),
        ('[[output.sinks]]\nto = "a"', "output.sinks: is [[sinks]] now, or sink = ..."),
    ],
)
def test_a_former_key_is_refused_with_its_new_name(text: str, words: str) -> None:
    """And its line; a key that is missing only for that reason is no second fault."""
    assert words in fault_of(text)
