import json
import shutil
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.toml_text import line_of
from piecework.hit_templates.tasks import load_task
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.trusted import own

CAMPAIGNS = Path(__file__).resolve().parents[2] / "config" / "campaigns"

GOOD = """
name = "birds"
description = "Captions of birds."
task = "caption"
reward = "0.55"
budget = "20"
hourly_wage = "9.50"
[items]
file = "items.csv"
[requirements]
approved_hits_above = 500
approval_rate_at_least = 95
countries = ["us", "CA-ON"]
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["capitals"]
then = "drop"
because = "Shouting is no description."
"""


def read(
    folder: Path, text: str, items: str | bytes | None = None, *, machine: str = ""
) -> Campaign:
    """Write a campaign file, its items and the machine's file, and read them."""
    path = folder / "birds.toml"
    path.write_text(text, encoding="utf-8")
    if items is None:
        items = "image_id,url\na,https://example.org/a.jpg\n"
    content = items.encode() if isinstance(items, str) else items
    (folder / "items.csv").write_bytes(content)
    if machine:
        (folder / "piecework.toml").write_text(machine, encoding="utf-8")
    return load_campaign(path)


def faults_of(
    folder: Path, text: str, items: str | bytes | None = None, *, machine: str = ""
) -> list[str]:
    """The faults that reading ends in."""
    with pytest.raises(ConfigError) as error:
        read(folder, text, items, machine=machine)
    return error.value.faults


def test_a_good_file_becomes_a_campaign(tmp_path: Path) -> None:
    """Money is cents, requirements are MTurk's, paths are absolute."""
    campaign = read(tmp_path, GOOD)
    assert campaign.rewards.reward_cents == 55
    assert campaign.rewards.budget_cents == 2000
    assert campaign.rewards.wage_floor_cents_per_hour == 950
    assert [requirement.comparator for requirement in campaign.requirements] == [
        "GreaterThan",
        "GreaterThanOrEqualTo",
        "In",
    ]
    assert campaign.requirements[2].locales == ("US", "CA-ON")
    assert campaign.out == tmp_path / "out" / "birds"
    assert [item.item_id for item in campaign.items] == ["a"]


def test_all_faults_are_told_at_once_with_key_and_line(tmp_path: Path) -> None:
    """Four faults of the schema, each with the line an editor shows."""
    text = GOOD.replace('reward = "0.55"', "reward = 0.55")
    text = text.replace('budget = "20"', "budget = 20")
    text = text.replace('by = "policy"', 'by = "nobody"')
    text += "colour = 1\n"
    faults = faults_of(tmp_path, text)
    assert len(faults) == 4
    text_of_faults = "\n".join(faults)
    for words in (
        "birds.toml:5: reward: write an amount as text",
        "birds.toml:6: budget: write an amount as text",
        "birds.toml:15: decisions.by: ",
        "decisions.rule[1].colour: no such key",
    ):
        assert words in text_of_faults


def test_faults_of_heuristics_items_and_task_come_together(tmp_path: Path) -> None:
    """What is found after the schema is collected as well."""
    text = GOOD + "[heuristics.astrology]\nstars = 3\n"
    faults = faults_of(tmp_path, text, "image_id,url\n")
    assert any("heuristics.astrology" in fault for fault in faults)
    assert any("has no items" in fault for fault in faults)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("", "has no items"),
        ("image_id,url\na,\n", "line 2: url is missing or empty; leave the row out, or fill it in"),
        ("url\nhttps://e.org/a\n", "no column image_id; the columns are url"),
        ("image_id|url\na|https://e.org/a\n", "the columns are image_id|url"),
        ("image_id,url,url\na,b,c\n", "column 'url' occurs twice"),
        ("image_id,url\n a,https://e.org/a\n", "has a space around it"),
        (
            "image_id,url\ne\u0301,https://e.org/1\n\u00e9,https://e.org/2\n",
            "is used in line 2 already",
        ),
        (
            "image_id,url\na,https://e.org/1\na,https://e.org/2\n",
            "line 3: image_id 'a' is used in line 2 already",
        ),
        ("image_id,url\na,javascript:alert(1)\n", "pictures names no folder"),
        ("image_id,url\na,https://\n", "is not a valid address"),
        ("image_id,url\na,https://e.org/a b\n", "has a space in it; write it as %20"),
        ("image_id,url\na\x07,https://e.org/a\n", "control character"),
        ("image_id,url\na,https://e.org/a,extra\n", "more cells than the header"),
        (b"image_id,url\n\xff\xfe,https://e.org/a\n", "line 2: is not UTF-8; as Latin-1 it reads"),
    ],
)
def test_bad_items_are_named_by_file_and_line(
    tmp_path: Path, items: str | bytes, words: str
) -> None:
    """Each kind of bad row has a sentence that says where and what."""
    faults = faults_of(tmp_path, GOOD, items)
    assert any(words in fault and "items.csv" in fault for fault in faults), faults


def test_many_bad_rows_are_counted_and_not_all_printed(tmp_path: Path) -> None:
    """Of a thousand faults, twenty are shown and the rest is a number."""
    rows = "".join(f"i{number},\n" for number in range(1000))
    faults = faults_of(tmp_path, GOOD, "image_id,url\n" + rows)
    assert len(faults) == 21
    assert faults[-1] == "and 980 more like these"


def test_json_lines_are_read_and_checked(tmp_path: Path) -> None:
    """A flat object a line is an item; anything else names its line."""
    text = GOOD.replace("items.csv", "items.jsonl")
    row = {"image_id": "a", "url": "https://example.org/a", "year": 2019}
    (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n\n")
    assert read(tmp_path, text).items[0].columns["year"] == "2019"
    rows = ['{"image_id": "a"', '["a"]', '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": {"b": 1}}']
    (tmp_path / "items.jsonl").write_text("\n".join(rows))
    faults = faults_of(tmp_path, text)
    for number, words in enumerate(
        ("not valid JSON", "one object of plain values", "occurs twice", "NaN is", "'a' is a list"),
        start=1,
    ):
        assert f"line {number}: " in faults[number - 1]
        assert words in faults[number - 1]


def test_pictures_must_lie_inside_their_folder(tmp_path: Path) -> None:
    """A relative url is a file of the pictures folder, and none outside it."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("x")
    text = 'pictures="pictures"\n' + GOOD
    assert read(tmp_path, text, "image_id,url\na,a.svg\n").pictures is not None
    for url in ("../secret.txt", "missing.svg", "/etc/passwd"):
        faults = faults_of(tmp_path, text, f"image_id,url\na,{url}\n")
        assert "is not a file in" in faults[0]


def test_a_wrong_folder_of_pictures_is_one_sentence_with_a_count(tmp_path: Path) -> None:
    """Not a sentence for each row; other faults stay beside it."""
    text = 'pictures="photos"\n' + GOOD
    rows = "".join(f"p{number},{number}.jpg\n" for number in range(1, 300))
    faults = faults_of(tmp_path, text, f"image_id,url\n{rows},0.jpg\n")
    assert len(faults) == 2
    assert f"300 pictures are not in {tmp_path / 'photos'}" in faults[0]
    assert "which is not a folder; the first: line 2: url '1.jpg'" in faults[0]
    assert "image_id is missing" in faults[1]
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "7.jpg").write_bytes(b"\xff\xd8\xff")
    faults = faults_of(tmp_path, text, f"image_id,url\n{rows}")
    assert len(faults) == 1
    assert "298 pictures are not in" in faults[0]
    assert "is not a folder" not in faults[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name = ", "not valid TOML"),
        ("budget = " + "1" * 5_000, "not valid TOML"),
        ("budget = " + "[" * 100_000, "not valid TOML"),
        ("", "items: is missing; write"),
        ("", 'set task = "..."'),
        (GOOD.replace('"caption"', '"origami"'), "There is no task 'origami'"),
        (GOOD.replace('by = "policy"', 'by = "policy"\nmaybe = 1'), "no such key"),
        (GOOD.split("[[decisions", maxsplit=1)[0] + "rule = []", "no [[decisions.rule]]"),
        (GOOD.replace('"drop"', '"reject"'), "does not fit on = 'answer'"),
        (GOOD.replace('"20"', '"-1"'), "zero or more"),
        (GOOD.replace('"0.55"', '"0.00"'), "reward"),
        (GOOD.replace('"us"', '"éé"'), "write a country as"),
        ("batches = 2\n" + GOOD, "batches: is 2, but there are only 1"),
        (GOOD + "[posting]\nitems_per_hit = 6\n", "shows 1 to 5 items"),
        (GOOD + "[posting]\nlifetime_hours = 0.001\n", "posting.lifetime_hours"),
        (
            GOOD.replace("countries", "qualifications = ['X In']\ncountries"),
            "comparator In takes 1 to 15 values, not 0",
        ),
        (GOOD.replace('"20"', '"1e99999999"'), "budget"),
        (GOOD.replace('"20"', '"0.005"'), "two decimals"),
        (GOOD.replace('"us"', '"USA"'), "write a country as"),
    ],
)
def test_bad_files_end_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    """Every bad value is refused in words, before anything is written."""
    assert any(words in fault for fault in faults_of(tmp_path, text))


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    """The path is named and the next step is a file that exists."""
    with pytest.raises(ConfigError, match=r"none\.toml: no such campaign file"):
        load_campaign(tmp_path / "none.toml")


def test_lines_of_arrays_of_tables_are_counted() -> None:
    """The second [[rule]] is the second, wherever it stands; a space in a text ends no line."""
    text = '[[rule]]\na = "1\u2028"\n[[rule]]\na = 2\n[other]\nb = 3\n'
    assert line_of(text, ["rule", 1, "a"]) == 4
    assert line_of(text, ["other", "b"]) == 6
    assert line_of(text, ["nowhere"]) is None


def test_a_heuristic_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    """Where it has a table of its own, and where a rule names it."""
    text = GOOD.replace('any_of = ["capitals"]', 'any_of = ["capitols"]')
    text += "[heuristics]\ncapitals = { stars = 3 }\n[heuristics.astrology]\nstars = 3\n"
    faults = faults_of(tmp_path, text)
    lines = text.splitlines()
    by_place = {
        "heuristics.astrology: no such": lines.index("[heuristics.astrology]"),
        "heuristics.capitals.stars: ": lines.index("capitals = { stars = 3 }"),
        "policy rule 1: any_of names 'capitols'": lines.index("[[decisions.rule]]"),
    }
    for words, line in by_place.items():
        assert any(f"birds.toml:{line + 1}: {words}" in fault for fault in faults), faults


def test_keywords_are_the_task_s_unless_the_file_has_its_own(tmp_path: Path) -> None:
    """MTurk joins them with commas, so none may hold one."""
    own = GOOD + '[posting]\nkeywords = ["bird", "wire"]\n'
    assert read(tmp_path, own).keywords == ("bird", "wire")
    assert read(tmp_path, GOOD).keywords == load_task("caption").keywords != ()
    (fault,) = faults_of(tmp_path, own.replace('"bird"', '"bird, wing"'))
    assert "posting.keywords" in fault


def test_what_simulated_people_say_of_themselves_has_to_be_asked(tmp_path: Path) -> None:
    """A choice that the task asks once per HIT, with options that it has."""
    start = (CAMPAIGNS / "severity_en.toml").read_text()
    start, _, _ = start.partition("[rehearsal.people]")
    shutil.copy(CAMPAIGNS / "severity_en.csv", tmp_path)
    shutil.copytree(CAMPAIGNS / "severity_pictures", tmp_path / "severity_pictures")

    def fault_of(line: str) -> str:
        path = tmp_path / "study.toml"
        path.write_text(f"{start}[rehearsal.people]\n{line}\n")
        with pytest.raises(ConfigError) as caught:
            load_campaign(own(path))
        return "\n".join(caught.value.faults)

    assert "did you mean 'woman'" in fault_of("gender = { womn = 1, man = 1 }")
    assert "did you mean 'gender'" in fault_of("gendr = { woman = 1 }")
    assert "above 0" in fault_of("gender = { woman = 0, man = 0 }")
    assert "rehearsal.people.quality" in fault_of("quality = { good = 1 }")


def test_votes_are_compared_only_about_a_choice_of_each_item(tmp_path: Path) -> None:
    """Not about ticks, a text, what is asked once per HIT, or what is not asked."""
    for field in ("flaws", "caption", "comment", "has_txt"):
        text = CAMPAIGN.replace(
            "text_disagreement = false\n", f'text_disagreement.field = "{field}"\n'
        )
        with pytest.raises(ConfigError) as caught:
            load_campaign(write_campaign(tmp_path, text))
        (fault,) = caught.value.faults
        assert f"text_disagreement.field: caption asks no choice {field!r} about each item" in fault
        assert "has_text" in fault
