"""What keys of the campaign file change: each has a value that is not the default.

A group of keys is looked at in one campaign: in the HIT that it posts, in the dataset
that it writes, in its price, in its decisions. `tests/test_promises.py` has the list of
all keys, with the test that sees each.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from piecework.campaign.assembling import load_campaign, read_anywhere
from piecework.campaign.dealing import all_first_rounds
from piecework.campaign.market_shares import hit_cost_cents
from piecework.campaign.opened import CampaignRun
from piecework.campaign.pricing import price
from piecework.campaign.questions import question
from piecework.domain.campaign import Campaign
from piecework.domain.clock import FixedClock
from piecework.domain.verdicts import JOINED
from piecework.engine.run_pass import post, run_pass
from piecework.platforms.client import turk_client
from piecework.postprocess.splits import splits
from piecework.qc.policy import decide
from piecework.results.export import export
from piecework.results.releases import latest_release
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.campaign.test_own_page import written
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import EVENING
from tests.engine.test_qualification import CAMPAIGN as GATED
from tests.engine.test_qualification import TEST
from tests.engine.test_qualification import written as gated
from tests.qc.tables import row, table
from tests.qc.test_policy import AT, finding
from tests.small_campaign import CAMPAIGN, MACHINE, write_campaign

DAY = date(2026, 1, 5)
CAMPAIGNS = Path(__file__).resolve().parents[2] / "config/campaigns"
POSTING = """
lifetime_hours = 36
assignment_minutes = 7
auto_approval_hours = 48
title = "Look at birds"
description = "Say what flies."
keywords = ["bird", "wing"]
"""
REQUIREMENTS = """[requirements]
approved_hits_above = 77
approval_rate_at_least = 91
countries = ["FR", "US-WA"]
qualifications = ["00000000000000000060 EqualTo 1", "00000000000000000040 NotIn 107 109"]
exclusion_name = "not for birds again"
# the end"""

Seen = Mapping[str, tuple[Callable[[], object], object]]
"""By key: what is looked at, and what it should be."""


def check(seen: Seen) -> None:
    """Every key changes what it should."""
    assert {key: look() for key, (look, _) in seen.items()} == {
        key: value for key, (_, value) in seen.items()
    }


def at_evening(run: CampaignRun) -> CampaignRun:
    """The run at a time when the day's work is done."""
    return replace(run, clock=FixedClock(EVENING))


def loaded(folder: Path, *changes: tuple[str, str], pictures: int = 4) -> Campaign:
    """The small campaign with some lines replaced."""
    text = CAMPAIGN
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return load_campaign(write_campaign(folder, text, pictures=pictures))


def required(hit: Mapping[str, Any]) -> list[tuple[str, str, object]]:
    """What a HIT requires of workers: the type, the comparator, the values."""
    return [
        (
            each["QualificationTypeId"],
            each["Comparator"],
            each.get("IntegerValues") or each.get("LocaleValues"),
        )
        for each in hit["QualificationRequirements"]
    ]


def items_shown(question: str) -> list[str]:
    """Return the ids of the items that the page of a HIT asks about."""
    [ids] = re.findall(r'"ids":(\[[^]]*\])', question)
    return list(json.loads(ids))


def test_a_posted_hit_shows_what_the_file_says(at_work: Open) -> None:
    """Its texts, times, pay, slots, page and requirements."""
    text = CAMPAIGN.replace('name = "crash"', 'name = "birds"')
    text = text.replace("answers = 2", "answers = 3")
    text = text.replace("items_per_hit = 2", f"items_per_hit = 1{POSTING}")
    text = text.replace('"0.50"', '"0.33"').replace("batches = 2", "batches = 4")
    with at_work(text.replace("# the end", REQUIREMENTS)) as (run, _):
        post(run)
        client = turk_client(run.endpoint, access_key=None, secret_key=None)
        [hit] = client.list_hits()["HITs"]
        wanted, (excluded, absent, _none) = required(hit)[:-1], required(hit)[-1]
        excluded_type = client.get_qualification_type(QualificationTypeId=excluded)
        lifetime = hit["Expiration"] - hit["CreationTime"]
        check(
            {
                "name": (lambda: "/birds.b0001.r00" in hit["RequesterAnnotation"], True),
                "batches": (lambda: len(client.list_hits()["HITs"]), 1),
                "answers": (lambda: hit["MaxAssignments"], 3),
                "posting.items_per_hit": (
                    lambda: len(items_shown(hit["Question"])),
                    1,
                ),
                "posting.lifetime_hours": (lambda: lifetime, timedelta(hours=36)),
                "posting.assignment_minutes": (lambda: hit["AssignmentDurationInSeconds"], 7 * 60),
                "posting.auto_approval_hours": (
                    lambda: hit["AutoApprovalDelayInSeconds"],
                    48 * 3600,
                ),
                "posting.title": (lambda: hit["Title"], "Look at birds"),
                "posting.description": (lambda: hit["Description"], "Say what flies."),
                "posting.keywords": (
                    lambda: hit["Keywords"].replace(" ", "").split(","),
                    ["bird", "wing"],
                ),
                "reward": (lambda: hit["Reward"], "0.33"),
                "requirements.approved_hits_above": (
                    lambda: wanted[0],
                    ("00000000000000000040", "GreaterThan", [77]),
                ),
                "requirements.approval_rate_at_least": (
                    lambda: wanted[1],
                    ("000000000000000000L0", "GreaterThanOrEqualTo", [91]),
                ),
                "requirements.countries": (
                    lambda: wanted[2][1:],
                    ("In", [{"Country": "FR"}, {"Country": "US", "Subdivision": "WA"}]),
                ),
                "requirements.qualifications": (
                    lambda: wanted[3:],
                    [
                        ("00000000000000000060", "EqualTo", [1]),
                        ("00000000000000000040", "NotIn", [107, 109]),
                    ],
                ),
                "requirements.exclusion_name": (
                    lambda: (absent, excluded_type["QualificationType"]["Name"]),
                    ("DoesNotExist", "not for birds again"),
                ),
            }
        )


def test_a_test_before_the_work_is_posted_as_the_file_says(tmp_path: Path) -> None:
    """Its name, its time, when it may be taken again, and what passes."""
    test = TEST.replace("retry_hours = 1", "retry_hours = 2\ntime_limit_minutes = 25")
    test = test.replace("spelling = 12", "spelling = 9")
    test = test.replace('name = "English"', 'name = "Plain English"')
    with rehearsal_of(prepare(gated(tmp_path, GATED, test))) as (run, _):
        post(run)
        client = run.platform._client
        [hit] = client.list_hits(MaxResults=1)["HITs"]
        [type_id, comparator, least] = required(hit)[0]
        made = client.get_qualification_type(QualificationTypeId=type_id)
        posted = made["QualificationType"]
        check(
            {
                "qualification.task": (lambda: "spelling" in posted["Test"].casefold(), True),
                "qualification.items": (lambda: posted["Test"].count("<Question>") >= 40, True),
                "qualification.name": (lambda: posted["Name"], "Plain English"),
                "qualification.correct_at_least": (
                    lambda: (comparator, least),
                    ("GreaterThanOrEqualTo", [9 + 12 + 8]),
                ),
                "qualification.time_limit_minutes": (
                    lambda: posted["TestDurationInSeconds"],
                    25 * 60,
                ),
                "qualification.retry_hours": (lambda: posted["RetryDelayInSeconds"], 2 * 3600),
            }
        )


STATED = """
[dataset]
splits = [25, 25, 50]
"""
CARD = """
title = "Birds in words"
version = "2.3.4"
licence = "Answers-1"
licence_url = "https://licence.example/answers"
items_licence = "Items-1"
items_licence_url = "https://licence.example/items"
contact = "Ada, ada at birds.example"
citation = "Ada (2026). Birds."
consent = "Stated on page one."
ethics = "Reviewed by board seven."
homepage = "https://birds.example/home"
tags = ["feathers"]
"""


def test_the_dataset_states_what_the_file_says_in_the_folder_that_it_names(
    at_work: Open, tmp_path: Path
) -> None:
    """The card has the requester's sentences; only the formats asked for are there."""
    text = CAMPAIGN.replace('formats = ["csv"]', 'formats = ["vizwiz_json"]')
    text = f'card = "birds.card.toml"\n{text}'
    (tmp_path / "birds.card.toml").write_text(CARD)
    machine = MACHINE + '[output]\nfolder = "elsewhere"'
    with at_work(text + STATED + machine) as (opened, people):
        run = at_evening(opened)
        run_pass(run)
        people.work()
        run_pass(run)
        export(run)
    folder = tmp_path / "elsewhere/crash/dataset"
    card = (folder / "README.md").read_text()
    facts = json.loads((folder / "croissant.json").read_text())
    files = {path.name.partition(".")[2] for path in folder.iterdir()}
    sentences = {
        "description": "Small enough to be killed at every call.",
        "card.title": "# Birds in words",
        "card.licence": "The answers: [Answers-1](https://licence.example/answers)",
        "card.items_licence": "The items: [Items-1](https://licence.example/items)",
        "card.contact": "Contact\n\nAda, ada at birds.example",
        "card.citation": "Citation\n\n    Ada (2026). Birds.",
        "card.consent": "Consent\n\nStated on page one.",
        "card.ethics": "Ethics\n\nReviewed by board seven.",
        "card.homepage": "<https://birds.example/home>",
        "card.tags": "\n- feathers\n",
        "dataset.splits": "25 / 25 / 50 per cent",
    }
    assert [key for key, sentence in sentences.items() if sentence not in card] == []
    check(
        {
            "the machine's output.folder": ((tmp_path / "out").exists, False),
            "formats": (lambda: files, {"md", "json"}),
            "card.version": (lambda: facts["version"], "2.3.4"),
            "card.homepage": (lambda: facts["url"], "https://birds.example/home"),
        }
    )


def parts(folder: Path, dataset: str, items: str = "") -> Mapping[str, str]:
    """The split of each of twelve items of a campaign with this `[dataset]`."""
    path = write_campaign(folder, f"{CAMPAIGN}[dataset]\n{dataset}", pictures=12)
    if items:
        (folder / "items.csv").write_text(items)
    campaign = load_campaign(path)
    return splits(campaign.own_items, campaign.dataset.shares)


def test_items_are_divided_as_the_file_says(tmp_path: Path) -> None:
    """By shares, by a column that groups, by one that fixes."""
    shares = "splits = [25, 50, 25]\n"
    drawn = parts(tmp_path, shares)
    assert pd.Series(drawn).value_counts().to_dict() == {"train": 3, "val": 6, "test": 3}
    rows = [f"p{n},https://a.org/{n}.jpg,g{n % 4},{'test' * (n < 5)}" for n in range(12)]
    items = "\n".join(["image_id,url,group,part", *rows])
    grouped = parts(tmp_path, 'split_by = "group"', items)
    for number in range(4):
        assert len({grouped[f"p{n}"] for n in range(number, 12, 4)}) == 1
    assert len(set(grouped.values())) > 1
    fixed = parts(tmp_path, 'splits = "part"', items)
    assert {fixed[f"p{n}"] for n in range(5)} == {"test"}
    assert set(fixed.values()) > {"test"}


FEES = f"""# the end
{MACHINE}[[fees]]
valid_from = 2026-01-01
percent = 10
extra_percent_from_ten = 5
masters_percent = 7
minimum = "0.04"
source = "our own list of fees"
[[fees]]
valid_from = 2026-06-01
percent = 90
source = "a later list"
"""
MASTERS = """[requirements]
qualifications = ["2F1QJWKUDD8XADTFD2Q0G6UTO95ALH Exists"]
# the end"""


def test_the_price_is_that_of_the_file_s_fees_and_expectations(tmp_path: Path) -> None:
    """Two batches of a HIT, each with two assignments of a dollar, or ten.

    Of a dollar 10 % are 10 cents, 15 % from ten assignments on, 17 % for Masters; the
    least fee is 4 cents. Nine minutes at $6.00 are 90 cents.
    """
    dollar = ('reward = "0.50"', 'reward = "1.00"')
    fees = (
        ('hourly_wage = "5.00"', 'hourly_wage = "6.00"\nminutes = 9'),
        ("# the end", FEES),
    )
    ten = ("answers = 2", "answers = 10")
    single = ("batches = 2", "batches = 1")
    stated = loaded(tmp_path, dollar, *fees)
    assert hit_cost_cents(stated, 2, on=DAY) == 2 * 110
    assert hit_cost_cents(stated, 10, on=DAY) == 10 * 115
    assert hit_cost_cents(stated, 2, on=date(2026, 6, 1)) == 2 * 190
    assert stated.rewards.fees_on(DAY).source == "our own list of fees"
    cheap = loaded(tmp_path, ('reward = "0.50"', 'reward = "0.10"'), *fees)
    assert hit_cost_cents(cheap, 2, on=DAY) == 2 * 14
    masters = loaded(tmp_path, dollar, *fees, ("# the end", MASTERS))
    assert hit_cost_cents(masters, 2, on=DAY) == 2 * 117
    # A dollar for 9 minutes is above the floor; 50 cents lack 40, and 4 are the fee.
    assert not price(stated, on=DAY).bonus_each
    poor = loaded(tmp_path, *fees)
    assert price(poor, on=DAY).bonus_each == 40

    # Half of ten answers is lost in each round; each round asks for them again.
    def lost(percent: int, rounds: int) -> tuple[str, str]:
        keys = f"expected_loss_percent = {percent}\nmax_rounds = {rounds}"
        return ("items_per_hit = 2", f"items_per_hit = 2\n{keys}")

    lossy = loaded(tmp_path, dollar, *fees, ten, single, lost(50, 1), pictures=2)
    sure = loaded(tmp_path, dollar, *fees, ten, single, lost(0, 1), pictures=2)
    assert price(sure, on=DAY).expected == price(sure, on=DAY).plain == 1150
    assert price(lossy, on=DAY).expected > 1150 * 1.4
    more = loaded(tmp_path, dollar, *fees, ten, single, lost(50, 5), pictures=2)
    assert price(more, on=DAY).expected > price(lossy, on=DAY).expected


RULES = """by = "policy"
[[decisions.rule]]
on = "worker"
any_of = ["too_fast", "capitals"]
at_least = 2
share = 0.5
then = "block"
because = "Blocked: {flagged} of {answers} answers."
[[decisions.rule]]
on = "worker"
suspicion_above = 0.95
then = "exclude"
because = "Excluded: {evidence}."
"""


def test_a_rule_of_the_file_decides_as_it_is_written(tmp_path: Path) -> None:
    """Two heuristics on half of the answers block; joined suspicion excludes."""
    head, _, rest = CAMPAIGN.partition('by = "policy"\n')
    text = head + RULES + rest[rest.index("# the end") :]
    text = text.replace("too_fast = false\n", "").replace("joined = false\n", "")
    policy = load_campaign(write_campaign(tmp_path, text)).policy
    answers = table(
        *[row(f"A.{n}", assignment_id="A", worker_id="w", item_id=str(n)) for n in range(4)]
    )

    def decided(*findings: Any) -> dict[str, tuple[str, str]]:  # noqa: ANN401 - of them
        decisions = decide(answers, findings, policy, campaign="birds", at=AT, longest_reason=1024)
        return {
            each.subject_id: (each.verdict, each.because)
            for each in decisions
            if each.subject_kind == "worker"
        }

    both = [finding("too_fast", "A.0"), finding("capitals", "A.1")]
    assert decided(*both) == {"w": ("block", "Blocked: 2 of 4 answers.")}
    # One heuristic is not two, and one answer of four is not half of them.
    assert decided(both[0], finding("too_fast", "A.1")) == {}
    assert decided(both[0], finding("capitals", "A.0")) == {}
    joined = replace(finding(JOINED, "w", "worker"), suspicion=0.95)
    assert decided(joined) == {"w": ("exclude", "Excluded: seen.")}
    assert decided(replace(joined, suspicion=0.94)) == {}


@pytest.mark.parametrize("is_markup", [True, False])
def test_a_column_with_markup_is_inserted_unchanged(tmp_path: Path, *, is_markup: bool) -> None:
    """Other columns are escaped: their text is no part of the page."""
    shown = "{{ task.input.text | skip_autoescape }}" if is_markup else "{{ task.input.text }}"
    path = written(tmp_path, html=f"<div>{shown}</div><input name='a'>")
    (tmp_path / "birds.csv").write_text('text\n"<b>one</b>"\n"<b>two</b>"\n')
    if is_markup:
        path.write_text('hosts = ["pictures.example"]\n' + path.read_text())
    campaign = load_campaign(path)
    hit = all_first_rounds(campaign, on=DAY)[0][0]
    page = question(campaign, hit, {item.item_id: item for item in campaign.items})
    assert ("<b>one</b>" in page or "<b>two</b>" in page) == is_markup
    assert ("&lt;b&gt;" in page) == (not is_markup)
    assert ("pictures.example" in page) == is_markup


FIELDS = """[fields.pressed]
options = ["Yes", "No"]
label = "Is it a bird?"
required = true
[fields.age]
kind = "number"
minimum = 2
maximum = 8
step = 2
"""


def test_the_file_says_what_a_page_does_not_say_of_its_fields(tmp_path: Path) -> None:
    """What a script fills in, the range of a number, and the page's own sentence."""
    html = "<img src='${image_url}'><input type='hidden' name='pressed'><input name='age'>"
    path = written(tmp_path, html=html, rows=2)
    (tmp_path / "page.toml").write_text(FIELDS)
    path.write_text('fields = "page.toml"\n' + path.read_text())
    task = load_campaign(path).task
    by_name = {field.name: field for field in task.fields}
    pressed, age = by_name["pressed"], by_name["age"]
    check(
        {
            "fields.<name>.options": (
                lambda: [option.value for option in pressed.options],
                ["Yes", "No"],
            ),
            "fields.<name>.label": (lambda: str(pressed.label), "Is it a bird?"),
            "fields.<name>.required": (
                lambda: "pressed_required" in {rule.name for rule in task.rules},
                True,
            ),
            "fields.<name>.kind": (lambda: age.kind, "number"),
            "fields.<name>.minimum": (lambda: age.minimum, 2),
            "fields.<name>.maximum": (lambda: age.maximum, 8),
            "fields.<name>.step": (lambda: age.step, 2),
        }
    )
    path = written(tmp_path, html="<textarea name='note'></textarea>", rows=2)
    (tmp_path / "page.toml").write_text('[fields.note]\ncanned = "Nothing can be seen."\n')
    path.write_text('fields = "page.toml"\n' + path.read_text())
    assert load_campaign(path).task.canned_text == "Nothing can be seen."


SINKS = """sink = ["sqlite:///{folder}/lab.db#captions history", "{folder}/copies"]
"""


def test_releases_go_where_the_file_says(at_work: Open, tmp_path: Path) -> None:
    """A table with its history, and a folder; the release is in the campaign's own."""
    text = CAMPAIGN.replace('formats = ["csv"]', 'formats = ["parquet"]')
    text = SINKS.replace("{folder}", str(tmp_path)) + text
    with at_work(text) as (opened, people):
        run = at_evening(opened)
        while not run_pass(run).is_finished:
            people.work()
        write_results(run)
    assert latest_release(tmp_path / "out/crash/releases") == 1
    assert list((tmp_path / "copies").rglob("*.parquet"))
    with closing(sqlite3.connect(tmp_path / "lab.db")) as lab:
        rows = lab.execute("SELECT count(*), max(piecework_is_withdrawn) FROM captions")
        assert rows.fetchone() == (8, 0)


REHEARSED = """[rehearsal]
seed = {seed}
replay = "said.csv"
[rehearsal.crowd]
diligent = 3
shouting = 2
"""


def test_a_rehearsal_has_the_workers_and_the_chance_that_the_file_says(tmp_path: Path) -> None:
    """Three of one trait and two of another; their captions are those of a file."""
    captions = {
        f"p{n}": f"A {what} stands beside the tall green tree in a park"
        for n, what in enumerate(("dog", "cat", "bus", "man"), start=1)
    }
    rows = "".join(f"{name},{text}\n" for name, text in captions.items())
    (tmp_path / "said.csv").write_text(f"image_id,caption\n{rows}")
    seen = []
    for seed in (5, 6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "said.csv").write_text((tmp_path / "said.csv").read_text())
        text = CAMPAIGN + REHEARSED.replace("{seed}", str(seed))
        with rehearsal_of(prepare(write_campaign(folder, text))) as (run, crowd):
            work_through(run, crowd)
            answers = run.answers()
            traits = Counter(crowd.traits_by_worker().values())
        assert traits == {"diligent": 3, "shouting": 2}
        texts = {text.casefold().strip(" .") for text in answers["value.caption"]}
        assert texts & {text.casefold() for text in captions.values()}
        seen.append(answers["worker_id"].tolist())
    assert seen[0] != seen[1]


def test_pages_speak_the_language_of_the_file() -> None:
    """A task's texts and the frame's."""
    pages = {}
    for name in ("severity", "severity_en"):
        campaign = read_anywhere(CAMPAIGNS / f"{name}.toml")
        hit = all_first_rounds(campaign, on=DAY)[0][0]
        items = {item.item_id: item for item in campaign.items}
        pages[campaign.task.language] = question(campaign, hit, items)
    assert set(pages) == {"zh-Hant", "en"}
    for language, page in pages.items():
        assert f'lang="{language}"' in page


ELSEWHERE = """name = "birds"
description = "Collected elsewhere."
budget = "1.00"
hourly_wage = "0"
[imported]
columns = "birds.columns.toml"
"""
MOOD = """item = "text"
answers = { mood = "said" }
[fields.mood]
kind = "text"
scope = "hit"
"""


def test_an_imported_answer_may_be_about_the_whole_hit(tmp_path: Path) -> None:
    """By `scope`, which says that it was asked once for all items of a row."""
    path = tmp_path / "birds.toml"
    columns = tmp_path / "birds.columns.toml"
    for line, scope in (('scope = "hit"', "hit"), ('scope = "item"', "item")):
        path.write_text(ELSEWHERE)
        columns.write_text(MOOD.replace('scope = "hit"', line))
        [mood] = load_campaign(path).task.fields
        assert mood.scope == scope
