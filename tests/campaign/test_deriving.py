"""A campaign file of a few lines: what it leaves out is derived and printed."""

import csv
import json
import re
import secrets
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import assemble, load_campaign
from piecework.campaign.binding import digest_of
from piecework.campaign.deriving import complete_text, derived_values
from piecework.campaign.draft import name_to_state
from piecework.cli.main import main
from piecework.config.campaign_file import parse, parse_text
from piecework.config.user_files import legal_name, plain_name
from piecework.domain.campaign import Campaign
from piecework.domain.inputs import Inputs
from piecework.domain.store_address import store_address
from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.render import render_hit
from piecework.results.export import export
from piecework.results.table import answers_table
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store.database import open_store
from tests.trusted import own

SVG = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 6' width='90'/>"
EXAMPLES = sorted(
    path
    for path in Path("config/campaigns").glob("*.toml")
    if not path.name.endswith(".deployment.toml")
)
PHOTOS = """
task = "describe"
items = "photos/"
answers = 5
hourly_wage = "12.00"
"""
PAIRS = """
task = "compare"
question = "Which logo is clearer?"
items = "pairs.csv"
options = ["left", "right", "same"]
answers = { least = 3, most = 7 }
hourly_wage = "12.00"
"""
PAGE = """
task = "hit.html"
items = "words.csv"
answers = 3
reward = "0.10"
minutes = 0.5
"""
NIGHTLY = """
task = "hit.html"
items = "arrivals.csv"
pictures = "photos/"
reward = "0.10"
budget = { total = "600", day = "10" }
sink = "released/"
[grows]
batch = 200
"""
PROLIFIC = """
task = "describe"
items = "photos.csv"
answers = 5
hourly_wage = "£12.00"
[prolific]
first-language = [0]
age = { at_least = 18, at_most = 60 }
"""
CAPTION = """
task = "caption"
items = "photos.csv"
hourly_wage = "9"
"""
BOXES = """
task = "tag"
question = "Draw a box around each bird."
options = ["bird", "nest"]
items = "photos/"
hourly_wage = "12.00"
"""
FIVE = {
    "photos": PHOTOS,
    "pairs": PAIRS,
    "page": PAGE,
    "nightly": NIGHTLY,
    "on-prolific": PROLIFIC,
    "boxes": BOXES,
}
LINES = {"photos": 4, "pairs": 6, "page": 5, "nightly": 8, "on-prolific": 7, "boxes": 5}
COUNT = 12


def _table(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Small inputs for each of the five files."""
    photos = tmp_path / "photos"
    photos.mkdir()
    for n in range(COUNT):
        (photos / f"{n}.svg").write_text(SVG)
    (tmp_path / "hit.html").write_text(
        '<title>A word</title><p>${word}</p><input type="text" name="meaning" required>'
    )
    words = [{"item_id": f"w{n}", "word": f"word {n}"} for n in range(COUNT)]
    _table(tmp_path / "words.csv", words)
    _table(tmp_path / "arrivals.csv", words)
    address = "https://example.org"
    sides = [{"left": f"{address}/{n}a.png", "right": f"{address}/{n}b.png"} for n in range(COUNT)]
    _table(tmp_path / "pairs.csv", sides)
    _table(
        tmp_path / "photos.csv",
        [{"id": f"p{n}", "url": f"{address}/{n}.png"} for n in range(COUNT)],
    )
    return tmp_path


def _written(folder: Path, name: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(FIVE[name].strip() + "\n", encoding="utf-8")
    return own(path)


def _compared(campaign: Campaign) -> str:
    """The campaign without what says only how its file is written; rules have no equality."""
    rewards = replace(campaign.rewards, budget_is_derived=False)
    same = replace(campaign, inputs=Inputs(), rewards=rewards, derived=(), unused_rules=())
    return repr(same)


@pytest.mark.parametrize("name", FIVE)
def test_each_of_five_files_is_rehearsed(folder: Path, name: str) -> None:
    """As many lines as written; each is rehearsed to a dataset and a report."""
    path = _written(folder, name)
    assert len(path.read_text().splitlines()) == LINES[name]
    checked = CliRunner().invoke(main, ["check", str(path)])
    assert checked.exit_code == 0, checked.output
    assert f'derived: name = "{name}"' in checked.output
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
        export(run)
    assert table["item_id"].nunique() == COUNT
    assert (run.campaign.out / "report.html").exists()


@pytest.mark.parametrize("name", FIVE)
def test_the_complete_file_of_five_is_the_same_campaign(folder: Path, name: str) -> None:
    """It leaves nothing out, has the same digest, and is its own complete file."""
    _is_the_same_when_complete(_written(folder, name))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_complete_file_of_an_example_is_the_same_campaign(path: Path) -> None:
    """What states everything has nothing to derive."""
    _is_the_same_when_complete(path)


def _is_the_same_when_complete(path: Path) -> None:
    short = load_campaign(path)
    text = complete_text(short)
    complete = assemble(parse_text(path, text))
    assert _compared(complete) == _compared(short)
    assert digest_of(complete) == digest_of(short)
    assert derived_values(complete) == ()
    assert tomllib.loads(complete_text(complete)) == tomllib.loads(text)


def test_a_line_says_each_derived_value_and_what_it_is_from(folder: Path) -> None:
    """12 pairs are HITs of 4: 9 s and four times 18 s are 1.35 minutes, 27 cents at $12 an hour."""
    path = _written(folder, "pairs")
    lines = CliRunner().invoke(main, ["check", str(path)]).output
    for line in (
        'derived: description = "Which logo is clearer?" (what the task asks)',
        "derived: batches = 1 (12 items: a batch for ten, at most five)",
        "derived: minutes = 1.35 (the pace of compare: 9 s to begin, 18 s for each of 4 items)",
        'derived: reward = "0.27" (hourly_wage by minutes: 1.35 minutes for a HIT of 4 items)',
        'derived: decisions.by = "person" (the default: people decide about what is flagged)',
        "derived: budget = ",
    ):
        assert line in lines
    full = CliRunner().invoke(main, ["check", str(path), "--full"]).output
    assert tomllib.loads(full)["decisions"]["by"] == "person"
    assert tomllib.loads(full)["reward"] == "0.27"
    document = json.loads(CliRunner().invoke(main, ["check", str(path), "--json"]).output)
    assert document["derived"]["minutes"] == 1.35


def test_reward_and_minutes_are_an_hourly_wage(folder: Path) -> None:
    """10 cents for half a minute are $12.00 an hour; a page without minutes has no floor."""
    campaign = load_campaign(_written(folder, "page"))
    assert campaign.rewards.wage_floor_cents_per_hour == 1200
    path = _written(folder, "page")
    path.write_text(path.read_text().replace("minutes = 0.5\n", ""))
    assert load_campaign(path).rewards.wage_floor_cents_per_hour == 0


def test_rules_that_cannot_flag_are_said_and_not_used(folder: Path) -> None:
    """`rule = []` is a policy without rules; stated rules are the only ones."""
    path = folder / "few.toml"
    _table(folder / "pairs.csv", [{"left": "https://e.org/a.png", "right": "https://e.org/b.png"}])
    path.write_text(PAIRS)
    campaign = load_campaign(own(path))
    assert any("needs" in sentence and "you have" in sentence for sentence in campaign.unused_rules)
    shown = CliRunner().invoke(main, ["check", str(path)]).output
    assert "Not used: " in shown
    assert "can never flag" not in shown
    path.write_text(path.read_text() + "[decisions]\nrule = []\n")
    assert load_campaign(path).policy == ()


def test_items_that_grow_have_no_rules_that_cannot_flag(folder: Path) -> None:
    """Later batches bring more items, but never more answers to one of them."""
    path = folder / "nightly.toml"
    (folder / "arrivals.csv").write_text("item_id,word\na,one\nb,two\n")
    named = {}
    for answers in (1, 5):
        path.write_text(
            f'task = "choose"\nquestion = "?"\noptions = ["a", "b"]\nitems = "arrivals.csv"\n'
            f'answers = {answers}\nhourly_wage = "9"\nbudget = "60"\n[grows]\nbatch = 2\n'
        )
        campaign = load_campaign(path)
        named[answers] = {name for rule in campaign.policy for name in rule.any_of}
        output = CliRunner().invoke(main, ["check", str(path)]).output
        assert "can never flag" not in output
        assert ("Not used: " in output) == (answers == 1)
    assert named[5] - named[1] == {"low_agreement"}
    assert "straight_line" in named[1]


def test_a_budget_follows_the_fees_and_is_what_a_person_typed(folder: Path) -> None:
    """An amount that was agreed to is the budget; a later pass does not raise it."""
    rewards = load_campaign(_written(folder, "photos")).rewards
    assert rewards.budget_is_derived
    assert rewards.budget_cents % 100 == 0
    for agreed in (1_500, 90_000):
        assert rewards.as_agreed(agreed).cap_cents == agreed
    stated = replace(rewards, budget_is_derived=False)
    assert stated.as_agreed(90_000).cap_cents == rewards.budget_cents


def test_columns_are_found_as_init_finds_them(folder: Path) -> None:
    """`check` says which they are; those of items that grow are stated."""
    _table(
        folder / "shop.csv", [{"SKU": f"s{n}", "Link": f"https://a.org/{n}.jpg"} for n in range(3)]
    )
    path = folder / "shop.toml"
    path.write_text('task = "caption"\nitems = "shop.csv"\nhourly_wage = "12.00"\n')
    campaign = load_campaign(path)
    assert campaign.items[1].columns == {"image_id": "s1", "url": "https://a.org/1.jpg"}
    shown = CliRunner().invoke(main, ["check", str(path)]).output
    assert 'derived: items.columns = { image_id = "SKU", url = "Link" }' in shown
    path.write_text(path.read_text() + 'budget = "9"\n[grows]\n')
    assert load_campaign(path).items == ()


BAD = {
    "no items": (PHOTOS, 'items = "photos/"\n', "", 'write items = "photos/"'),
    "an empty file of items": (PAIRS, "pairs.csv", "none.csv", "has no items"),
    "a folder without a picture": (PHOTOS, "photos/", "empty/", "has no picture"),
    "an image column that is nowhere": (
        CAPTION, "photos.csv", "words.csv", 'url = "..." }'
    ),
    "two currencies": (PROLIFIC, "answers = 5", 'budget = "$50"', "is in"),
    "a wage below the market's": (PROLIFIC, "£12.00", "£4.00", 'write hourly_wage = "£6.00"'),
    "nothing about pay": (PHOTOS, 'hourly_wage = "12.00"\n', "", 'write hourly_wage = "12.00"'),
    "a page without a time": (
        PAGE, 'reward = "0.10"\nminutes = 0.5', 'hourly_wage = "9"', "write minutes = 2"
    ),
    "items that grow without a budget": (
        NIGHTLY, 'budget = { total = "600", day = "10" }\n', "", "write budget = { total"
    ),
    "an empty option": (PAIRS, '"same"', '""', "options"),
    "an option twice": (PAIRS, '"same"', '"left"', "is there twice"),
    "200 options": (
        PAIRS, '"same"', ", ".join(f'"o{n}"' for n in range(200)), "can offer 50 at most"
    ),
    "a key of another task": (PHOTOS, "answers = 5", "several = true", "several: goes with"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_derives_nothing_is_one_sentence_with_the_line_to_write(
    folder: Path, name: str
) -> None:
    """Exit code 2, one fault, and no traceback."""
    (folder / "empty").mkdir()
    (folder / "none.csv").write_text("left,right\n")
    text, old, new, sentence = BAD[name]
    path = folder / "bad.toml"
    path.write_text(text.replace(old, new, 1).lstrip() if old else text, encoding="utf-8")
    checked = CliRunner().invoke(main, ["check", str(own(path))])
    assert checked.exit_code == 2, checked.output
    assert sentence in checked.output
    assert checked.output.count("bad.toml") <= 3


def test_a_question_with_markup_is_text(folder: Path) -> None:
    """It is shown as it is written."""
    path = _written(folder, "pairs")
    path.write_text(path.read_text().replace("logo", "<b onclick=alert(1)>logo</b>"))
    assert "&lt;b onclick" in _page(path)


def _page(path: Path) -> str:
    campaign = assemble(parse(path))
    return decompress(render_hit(campaign.task, campaign.items[:2]))


def test_pay_that_contradicts_itself_is_said_with_the_reward_to_write(folder: Path) -> None:
    """Half a minute at $60 an hour is 50 cents, not ten."""
    path = _written(folder, "page")
    text = path.read_text()
    for sign in ("$", "£"):
        # Only the reward has a sign, so what takes its place needs one.
        signed = text.replace('reward = "', f'reward = "{sign}')
        path.write_text('hourly_wage = "60"\n' + signed)
        shown = CliRunner().invoke(main, ["check", str(path)]).output
        assert f'write reward = "{sign}0.50", or leave it out' in shown


def test_a_name_is_made_legal_and_stays_the_file_s(folder: Path) -> None:
    """A store of a file without a name is found again; another stem is another campaign."""
    path = folder / "My photos (2).toml"
    path.write_text(PHOTOS)
    assert re.fullmatch("my-photos-2-[0-9a-f]{8}", load_campaign(path).name)
    other = folder / "sub"
    other.mkdir()
    assert parse_text(other / path.name, PHOTOS).tables.name == load_campaign(path).name
    assert parse_text(other / path.name, PHOTOS).out != parse(path).out


def test_files_of_other_names_never_share_results() -> None:
    """A name that is legal stays; what is changed or cut has a digest of the whole."""
    long = "birds-of-the-northern-islands-in-winter-"
    stems = ["鳥", "猫", "birds-2", "Birds (2)", "birds 2", "Birds-2", "campaign", f"{long}a"]
    names = [legal_name(stem) for stem in [*stems, f"{long}b"]]
    assert len({*names}) == len(names)
    assert {"birds-2", "campaign"} <= {*names}
    for name in names:
        parse_text(Path("a.toml"), f'name = "{name}"\n{PHOTOS}')
    assert legal_name("\u00e9t\u00e9") == legal_name("e\u0301te\u0301")


def test_latin_letters_of_a_file_s_name_lose_only_their_marks() -> None:
    """So a person recognises the name that `init` and `check` propose."""
    spelled = {
        "Meine Sätze": "meine-satze",
        "ÉTÉ à Łódź": "ete-a-lodz",
        "Straße GROẞ": "strasse-gross",
        "Ærø Þing": "aero-thing",
        "İzmir \N{LATIN SMALL LETTER DOTLESS I}l": "izmir-il",
        "đường phố": "duong-pho",
        "25 ℃": "25-c",
        "鳥 2": "2",
    }
    for stem, plain in spelled.items():
        for written in (stem, unicodedata.normalize("NFD", stem)):
            assert plain_name(written, "") == plain
    assert plain_name("пойдём हिंदी", "") == ""


def test_a_file_without_a_name_keeps_the_name_of_its_store() -> None:
    """Names that were derived before are those of stores that people have."""
    assert legal_name("Sätze") == "s-tze-a856cf16"


def test_a_name_whose_store_is_in_the_database_of_all_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    """A colleague's; a campaign with results beside its file keeps its own."""
    name = f"birds{secrets.token_hex(4)}"
    address = store_address(tmp_path / name, campaign=name, url=postgres_url)
    with closing(open_store(address, create=True)):
        pass
    path = tmp_path / f"{name}.toml"
    assert name_to_state(path) == ""
    monkeypatch.setenv("PIECEWORK_STORE_URL", "postgresql://127.0.0.1:1/nothing")
    assert name_to_state(path) == ""
    monkeypatch.setenv("PIECEWORK_STORE_URL", postgres_url)
    assert name_to_state(path) == f"{name}-2"
    (tmp_path / "out" / name).mkdir(parents=True)
    assert name_to_state(path) == ""
