"""What `check` says of a dataset that is to be published."""

import json
import re
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from piecework.cli import logs
from piecework.cli.main import main
from tests.small_campaign import CAMPAIGN, write_campaign, write_received
from tests.trusted import own

_CARD = """
licence = "CC0-1.0"
items_licence = "CC-BY-4.0"
contact = "ada@example.org"
citation = "Ada (2026)"
consent = "Stated on the page."
ethics = "Reviewed."
"""


def _checked(folder: Path, text: str, *options: str, pictures: int = 4) -> str:
    path = write_campaign(folder, text, pictures=pictures)
    done = CliRunner().invoke(main, ["check", str(path), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_what_is_missing_for_publishing_is_named(tmp_path: Path) -> None:
    """For people and programs; CSV alone tells the hub no splits."""
    output = " ".join(_checked(tmp_path, CAMPAIGN).split())
    assert "6 of 6" in output
    assert "no Parquet" in output
    plain = json.loads(_checked(tmp_path, CAMPAIGN, "--json"))
    assert plain["missing_for_publishing"][:2] == ["licence", "items_licence"]


def test_nothing_is_missing_where_all_is_stated(tmp_path: Path) -> None:
    """The same campaign with a card that has every key."""
    (tmp_path / "birds.card.toml").write_text(_CARD)
    stated = f'card = "birds.card.toml"\n{CAMPAIGN}'
    output = _checked(tmp_path, stated)
    assert "nothing" in output.split("missing")[1]
    plain = json.loads(_checked(tmp_path, stated, "--json"))
    assert plain["missing_for_publishing"] == []


def test_items_without_pictures_are_divided_as_items(tmp_path: Path) -> None:
    """Nothing is said of pictures that there are none of."""
    (tmp_path / "hit.html").write_text("<p>${text}</p><input name=word>")
    own = CAMPAIGN.replace('task = "caption"', 'task = "hit.html"')
    path = write_campaign(tmp_path, own.replace("items_per_hit = 2", ""))
    (tmp_path / "items.csv").write_text("text\nIt was\nthe best\nof\ntimes\n")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0, done.output
    assert "train / val / test, by item" in done.output
    assert "pictures" not in done.output
    assert "by picture" in _checked(tmp_path, CAMPAIGN)


def test_a_name_in_brackets_is_shown_as_it_is(tmp_path: Path) -> None:
    """A terminal's styles begin with a bracket, too."""
    path = write_campaign(tmp_path, f'{CAMPAIGN}[dataset]\nsplits = "[/split]"\n')
    rows = "".join(f"{n},https://a.org/{n}.jpg,train\n" for n in range(4))
    (tmp_path / "items.csv").write_text(f"image_id,url,[/split]\n{rows}")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0, done.output
    assert "[/split]" in done.output


def test_people_who_are_counted_get_equal_shares(tmp_path: Path) -> None:
    """Two batches of three pictures, two to a HIT: 4 HITs of 2 answers for 5 people."""
    crowd = CAMPAIGN + "[requirements]\nworkers = 5\n"
    output = " ".join(_checked(tmp_path, crowd, pictures=6).replace("│", " ").split())
    assert "HITs 4 of 1 to 2 items, all for the same reward" in output
    assert "for 2 answers to each item: 1.6 HITs each; per_worker = 2 shares them" in output
    few = json.loads(_checked(tmp_path, f"per_worker = 1\n{crowd}", "--json", pictures=6))
    wanted = "per_worker: 5 workers with at most 1 HIT each do 5, but the campaign needs 8; allow 2"
    assert wanted in few["warnings"]


def test_a_reward_of_nothing_is_refused_with_what_gives_credit(tmp_path: Path) -> None:
    """Course credit counts HITs, which pay a cent."""
    path = write_campaign(tmp_path, CAMPAIGN.replace('reward = "0.50"', 'reward = "0.00"'))
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 2
    assert 'for course credit, write reward = "0.01" and hourly_wage = "0"' in done.output
    credit = CAMPAIGN.replace('reward = "0.50"', 'reward = "0.01"').replace('"5.00"', '"0"')
    assert "$0.01" in _checked(tmp_path, credit)


def test_fees_and_sinks_are_said_before_anything_is_reached(tmp_path: Path) -> None:
    """Who takes the fee, and where each release goes, without the password of a database."""
    sink = 'sink = "postgresql+psycopg://ann:pea@db.example.org/shop#birds"\n'
    output = " ".join(
        _checked(tmp_path, sink + CAMPAIGN.replace('["csv"]', '["parquet"]'))
        .replace("│", " ")
        .split()
    )
    assert "Your own people cost you no fees, unless [[fees]] state some" in output
    assert "sink: postgresql+psycopg://ann:***@db.example.org/shop#birds" in output


_STATED = "postgresql://ann:hush-1@127.0.0.1:9/shop?application_name=a"
_MASKED = _STATED.replace("hush-1", "***")


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (["check"], 0, f"sink: {_MASKED}#birds"),
        (["check", "--json"], 0, ""),
        (["status"], 1, "no store yet"),
    ],
    ids=str,
)
def test_no_secret_of_an_address_is_printed(
    tmp_path: Path, options: list[str], code: int, shown: str
) -> None:
    """Tables, documents and refusals go into tickets."""
    path = write_campaign(tmp_path, _with_sink(f"{_STATED}#birds"))
    command, *more = options
    done = CliRunner().invoke(main, [command, str(path), *more])
    assert done.exit_code == code, done.output
    assert shown in _in_one_line(done.output)
    assert "hush" not in done.output


def test_a_file_that_names_an_address_is_refused_without_its_secret(tmp_path: Path) -> None:
    """The refusal lists what the file names; so does the trust in it."""
    path = write_received(tmp_path, _with_sink(f"{_STATED}#birds"))
    for command, code in (["status"], 3), (["check", "--trust"], 0):
        done = CliRunner().invoke(main, [command[0], str(path), *command[1:]])
        assert done.exit_code == code, done.output
        assert _MASKED in _in_one_line(done.output)
        assert "hush" not in done.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_log_file_that_cannot_be_written_is_named_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No trace of Python's; programs still read a document on each line."""
    logs.begin_logging()
    logs.say_as_json()
    logs._log_file(click.Context(main), click.Option(["--log-file"]), Path("/dev/full"))
    logs.LOGGER.warning("the first")
    logs.LOGGER.warning("the second")
    logs.begin_logging()
    lines = [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()]
    full = "log lines cannot be written to /dev/full: No space left on device"
    assert sorted(lines) == sorted(["the first", full, "the second"])


def test_log_lines_and_their_facts_have_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal, and as documents, also deep inside."""
    facts = {"to": [_STATED, {"path": Path("a"), "count": 1}], "is_new": True}
    logs.begin_logging()
    logs.LOGGER.error("cannot reach %s", _STATED)
    logs.say_as_json()
    fault = OSError(_STATED)
    logs.LOGGER.error("cannot reach %s", _STATED, exc_info=fault, extra={"facts": facts})
    plain, document = capsys.readouterr().err.splitlines()
    assert plain.endswith(f"cannot reach {_MASKED}")
    read = json.loads(document)
    assert read["message"] == f"cannot reach {_MASKED}"
    assert (read["to"], read["is_new"]) == ([_MASKED, {"path": "a", "count": 1}], True)
    assert f"OSError: {_MASKED}" in read["trace"]
    assert "hush" not in document


def test_a_variable_stands_for_a_secret_in_the_complete_file(tmp_path: Path) -> None:
    """What is saved is a file that can be run; words for workers and plain options stay."""
    words = "See https://a.org/?key=abc or https://ann:b@a.org: ${SECRET_1}?"
    first = f"{_STATED}&max_tokens=3#birds history"
    sinks = [first, "s3://${KEY}:${HUSH}@b/c", "s3://AK:hush-2@b/c"]
    text = _with_sink(*sinks).replace("Small enough to be killed at every call.", words)
    path = write_campaign(tmp_path, text)
    done = CliRunner().invoke(main, ["check", str(path), "--full"])
    assert done.exit_code == 0, done.output
    document = tomllib.loads(done.stdout)
    assert document["description"] == words
    assert document["sink"] == [
        first.replace("hush-1", "${SECRET_2}"),
        *(sinks[1], "s3://AK:${SECRET_3}@b/c"),
    ]
    named = [line.rpartition(" ")[2] for line in done.stderr.splitlines() if "secret" in line]
    assert named == ["SECRET_2", "SECRET_3"]
    assert "sink[3] states a secret" in done.stderr
    path.write_text(done.stdout)
    own(path)
    again = CliRunner().invoke(main, ["check", str(path), "--full"])
    assert (again.exit_code, again.stdout, again.stderr) == (0, done.stdout, "")


def _with_sink(*addresses: str) -> str:
    with_releases = CAMPAIGN.replace('["csv"]', '["parquet"]')
    return f"sink = {json.dumps(addresses)}\n{with_releases}"


def _in_one_line(output: str) -> str:
    return " ".join(output.replace("│", " ").split())


def test_hosts_and_gaps_of_a_page_are_listed(tmp_path: Path) -> None:
    """A gap with the first cell, and a host as untried: only a worker's browser loads from it."""
    page = '<p>${text}</p><i>${more}</i><input name=word><script src="https://a.example/x.js">'
    (tmp_path / "hit.html").write_text(f"{page}</script>")
    own = CAMPAIGN.replace('task = "caption"', 'task = "hit.html"')
    own = own.replace("items_per_hit = 2", "")
    path = write_campaign(tmp_path, f'hosts = ["a.example"]\n{own}')
    (tmp_path / "items.csv").write_text("text,more\nIt was,of times\nthe best,of all\n")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0, done.output
    assert re.search(r"host +[│|] +a\.example +[│|] each worker", done.output)
    assert re.search(r"fills the page +[│|] +text +[│|] the first is It was", done.output)
    assert re.search(r"fills the page +[│|] +more +[│|] the first is of times", done.output)
    assert "host" not in _checked(tmp_path, CAMPAIGN)
