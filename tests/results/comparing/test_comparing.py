"""The command that tries other rules on the answers that are there."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import piecework
from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.domain.ids import WorkerId
from piecework.domain.verdicts import Decision
from piecework.engine.opening import open_to_look
from piecework.store import decisions, reviews
from piecework.store.lock import only_pass
from tests.importing.batches import row, stances, write

DROPS = """
[heuristics.random_sample]
share = 1.0
[[decisions.rule]]
on = "answer"
any_of = ["random_sample"]
then = "drop"
because = "Set aside: {evidence}."
"""
"""Rules that set every answer aside."""


def result_of(*words: object) -> Result:
    """A command's result."""
    return CliRunner().invoke(main, [str(word) for word in words])


def done(*words: object) -> str:
    """What a command prints that succeeds."""
    result = result_of(*words)
    assert result.exit_code == 0, result.output
    return result.output


def digests(folder: Path) -> dict[str, str]:
    """The content of every file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def stance(tmp_path: Path) -> Path:
    """A campaign of three imported assignments about two items each, judged."""
    batch = write(tmp_path / "batch.csv", stances())
    done("data", "import", batch, "--as", tmp_path / "stance.toml")
    done("data", "assess", tmp_path / "stance.toml")
    return tmp_path / "stance.toml"


def compared(campaign: Path, rules: str) -> dict[str, Any]:
    """The JSON document of a comparison with these rules."""
    path = campaign.with_name("new.rules")
    path.write_text(rules, encoding="utf-8")
    document: dict[str, Any] = json.loads(done("compare", campaign, "--rules", path, "--json"))
    return document


def refused(campaign: Path, rules: str | bytes) -> str:
    """What is printed of rules that are refused; no file is changed."""
    path = campaign.with_name("new.rules")
    path.write_bytes(rules if isinstance(rules, bytes) else rules.encode())
    before = digests(campaign.parent)
    result = result_of("compare", campaign, "--rules", path)
    assert digests(campaign.parent) == before
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


def test_own_rules_change_nothing_in_an_import(stance: Path) -> None:
    """The campaign file itself, an empty file and a copy of its rules are its own rules."""
    for rules in (stance.read_text(), "", "[heuristics]\n"):
        document = compared(stance, rules)
        assert not document["differs"]
        assert document["before"] == document["after"]
        assert document["changed_keys"] == []


def test_a_comparison_writes_nothing(stance: Path, tmp_path: Path) -> None:
    """No file is changed or left behind except the page that was asked for."""
    (tmp_path / "new.rules").write_text(DROPS)
    before = digests(tmp_path)
    page = tmp_path / "page.html"
    words = ("compare", stance, "--rules", tmp_path / "new.rules")
    done(*words)
    assert digests(tmp_path) == before
    done(*words, "--html", page)
    after = digests(tmp_path)
    del after["page.html"]
    assert after == before


def test_what_is_counted_is_what_is_listed(stance: Path) -> None:
    """Figures, rows and the frame of the library are about the same answers."""
    document = compared(stance, DROPS)
    assert document["after"]["verdicts"] == {"keep": 0, "drop": 6, "absent": 0}
    assert document["changed_keys"] == ["heuristics.random_sample", "decisions.rule"]
    changed = document["changed_answers"]
    assert len(changed) == len(document["shown"]) == document["before"]["verdicts"]["keep"]
    frame = piecework.compare_rules(stance, stance.with_name("new.rules"))
    assert frame["after"].value_counts().to_dict() == {"drop": 6}
    assert frame.index[frame["is_changed"]].tolist() == [each["answer"] for each in changed]
    for name in ("W1", "W2", "ASSIGNMENT1"):
        assert name not in json.dumps(document)


def test_labels_that_flip_are_listed(tmp_path: Path) -> None:
    """If a worker's answers are set aside, the majority of an item may be another."""
    rows = [
        row(number, f"W{number}", shown={"text1": "Rain"}, sent={"stance1": vote}, seconds=60)
        for number, vote in enumerate(["yes", "yes", "no"], start=1)
    ]
    columns = tmp_path / "columns.toml"
    columns.write_text('[fields.stance1]\nkind = "choice"\n')
    batch = write(tmp_path / "batch.csv", rows)
    done("data", "import", batch, "--as", tmp_path / "rain.toml", "--columns", columns)
    document = compared(tmp_path / "rain.toml", DROPS)
    flips = {(each["label"], each["before"], each["after"]) for each in document["labels"]}
    assert ("stance1", "yes", "") in flips
    assert document["labels_compared"] >= len(flips)


def test_rules_that_cannot_be_tried_are_refused_by_name(stance: Path) -> None:
    """Each with its line, what is wrong, and what the file may hold."""
    text = stance.read_text()
    cases: tuple[tuple[str | bytes, str], ...] = (
        ('task = "pairwise"\nname = "x"', "new.rules:1: task: these rules are of another task"),
        ("[heuristics.too_fats]\n", "new.rules:1: heuristics.too_fats: no such heuristic"),
        ("\n[heuristics.capitals]\nshare = 7\n", "new.rules:3: heuristics.capitals.share"),
        (DROPS.replace('["random_sample"]', '["rushd"]'), "any_of names 'rushd'"),
        (DROPS.replace('"drop"', '"exclude"'), "does not fit on = 'answer'"),
        ('reward = "9.00"\n', "new.rules:1: reward: is not about judging"),
        ("[heuristic]\n", "no such table; did you mean 'heuristics'?"),
        (without_rules(text), "is 'policy', but no [[decisions.rule]]"),
        ('[[aggregates]]\nfield = "x"\nkind = "majority"\n', "there is no field 'x'"),
        ('[[aggregates]]\nfield = "stance"\nkind = "best"\n', "aggregates[1].kind"),
        ("batches = 3\n" + text, "batches: differs"),
        ("<html>", "not valid TOML"),
        ("a = " + "[" * 5000, "not valid TOML"),
        (b"\xff\xfe\x00", "save the file as UTF-8"),
        (b"#" * 10_000_001, "at most 10,000,000 are read"),
    )
    for rules, sentence in cases:
        output = refused(stance, rules)
        assert sentence in output, (sentence, output)


def without_rules(text: str) -> str:
    """The campaign file with a policy that states no rule."""
    before, _, _ = text.partition("[[decisions.rule]]")
    return before.replace('by = "person"', 'by = "policy"')


def test_an_empty_list_of_rules_keeps_every_answer(stance: Path) -> None:
    """Stated, it is tried; its comparison says that the rules differ."""
    document = compared(stance, '[decisions]\nby = "policy"\nrule = []\n')
    assert document["after"]["verdicts"] == {"keep": 6, "drop": 0, "absent": 0}
    assert document["changed_keys"] == ["decisions.rule", "decisions.by"]


def test_what_is_not_there_is_named(stance: Path, tmp_path: Path) -> None:
    """No file of rules, no store, and the store of another campaign."""
    result = result_of("compare", stance, "--rules", tmp_path / "none.toml")
    assert (result.exit_code, "none.toml" in result.output) == (2, True)
    text = stance.read_text()
    other = tmp_path / "other.toml"
    other.write_text(text.replace('name = "stance"', 'name = "other"'))
    result = result_of("compare", other, "--rules", stance)
    assert result.exit_code == 1
    assert "there is no store yet" in " ".join(result.output.split())
    shutil.copytree(tmp_path / "out/stance", tmp_path / "out/other")
    result = result_of("compare", other, "--rules", stance)
    assert result.exit_code == 1
    assert "belongs to the campaign 'stance', not to 'other'" in " ".join(result.output.split())


def test_a_store_in_use_is_read_all_the_same(stance: Path) -> None:
    """While a pass holds the campaign and writes, a comparison reads what is stored."""
    campaign = load_campaign(stance)
    with only_pass(campaign.store), open_to_look(campaign) as opened:
        opened.store.db.execute("BEGIN IMMEDIATE")
        document = compared(stance, DROPS)
        opened.store.db.execute("ROLLBACK")
    assert document["after"]["verdicts"]["drop"] == 6


def test_answers_without_times_are_said_to_have_none(tmp_path: Path) -> None:
    """Heuristics on times stay silent, and in a single batch no worker is excluded early."""
    rows = [{**each, "AcceptTime": "", "SubmitTime": ""} for each in stances()]
    done("data", "import", write(tmp_path / "batch.csv", rows), "--as", tmp_path / "stance.toml")
    notes = " ".join(compared(tmp_path / "stance.toml", DROPS)["notes"])
    assert "The answers have no times" in notes
    assert "All answers are in one batch" in notes


def test_few_and_contradicting_decisions_are_named(stance: Path) -> None:
    """One decision says little; an answer that people decided both ways counts for neither."""
    with open_to_look(load_campaign(stance)) as opened:
        first, second, *_ = opened.answers().index
        made = [
            Decision(
                subject_kind="answer",
                subject_id=name,
                verdict="drop",
                decided_by="ada",
                decided_at=opened.clock.now(),
                because="Not a stance.",
            )
            for name in (first, second)
        ]
        with opened.store.db.atomic():
            decisions.overrule(opened.store, made)
            opinion = replace(made[1], verdict="keep", decided_by="grace")
            reviews.add_second_opinions(opened.store, [opinion])
    document = compared(stance, DROPS)
    notes = " ".join(document["notes"])
    assert "People decided about 1 answer only: too few decisions to say" in notes
    assert "People decided both ways about 1 answer;" in notes
    known = document["after"]["agreements"]["people: answers"]
    assert (known["bad"], known["caught"], known["good"]) == (1, 1, 0)
    assert known["honest_harmed"] == [None, None, None]


def test_what_workers_wrote_stays_text_on_the_page(tmp_path: Path) -> None:
    """Markup and control characters of an answer are shown, and do nothing."""
    hostile = "<script>alert(1)</script>\x1b[31m\u202e"
    rows = [
        row(number, f"W{number}", shown={"text1": hostile}, sent={"note1": f"{hostile} {number}"})
        for number in (1, 2)
    ]
    path = tmp_path / "notes.toml"
    done("data", "import", write(tmp_path / "batch.csv", rows), "--as", path)
    rules, page = tmp_path / "new.rules", tmp_path / "page.html"
    rules.write_text(DROPS)
    printed = done("compare", path, "--rules", rules, "--html", page)
    html = page.read_text(encoding="utf-8")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    for text in (printed, html):
        assert "\x1b[31m" not in text
        assert "\u202e" not in text
    assert WorkerId("W1") not in html


def test_rules_and_suggest_are_not_asked_for_together(stance: Path, tmp_path: Path) -> None:
    """Both are a usage error."""
    result = result_of("compare", stance, "--rules", stance, "--suggest", tmp_path / "new.toml")
    assert result.exit_code == 2
    assert "give either --rules FILE or --suggest FILE" in result.output


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--harmed 2", "--harmed goes with --suggest FILE"),
        ("--rules new.rules --harmed 2", "--harmed goes with --suggest FILE"),
        ("--rehearsal 2", "--rehearsal goes with --rules or --suggest"),
        ("--rules new.rules --seeds 2", "--rehearsals and --seeds compare rehearsals"),
    ],
)
def test_an_option_without_effect_is_refused(stance: Path, words: str, complaint: str) -> None:
    """Before anything is compared."""
    result = result_of("compare", stance, *words.split())
    assert (result.exit_code, complaint in result.output) == (2, True), result.output


def test_too_few_decisions_suggest_nothing_and_write_nothing(stance: Path, tmp_path: Path) -> None:
    """Without any decision, and with one."""
    into = tmp_path / "suggested.toml"
    before = digests(tmp_path)
    printed = " ".join(done("compare", stance, "--suggest", into).split())
    assert "too few decisions to say" in printed
    assert digests(tmp_path) == before
    into.write_text("# mine\n")
    result = result_of("compare", stance, "--suggest", into)
    assert result.exit_code == 2
    assert "exists already" in result.output
    assert into.read_text() == "# mine\n"


def test_a_suggestion_can_be_compared_and_catches_more(tmp_path: Path) -> None:
    """The file that is written is a file of rules, and comparing it agrees with it."""
    rows = []
    for number in range(30):
        is_bad = number < 8
        for item in range(6):
            varied = f"a thing of kind {number * 31 + item * 7} beside number {item}"
            rows.append(
                row(
                    number * 6 + item,
                    f"W{number}",
                    hit=f"HIT{item}",
                    shown={"text1": f"Item {item}"},
                    sent={"note1": f"W{number} sees a nice picture here" if is_bad else varied},
                )
            )
    path, into = tmp_path / "notes.toml", tmp_path / "suggested.toml"
    done("data", "import", write(tmp_path / "batch.csv", rows), "--as", path)
    with open_to_look(load_campaign(path)) as opened:
        table = opened.answers()
        decided = [
            Decision(
                subject_kind="answer",
                subject_id=name,
                verdict="drop" if int(worker.removeprefix("W")) < 8 else "keep",
                decided_by="ada",
                decided_at=opened.clock.now(),
                because="Read by hand.",
            )
            for name, worker in zip(table.index, table["worker_id"], strict=True)
        ]
        with opened.store.db.atomic():
            decisions.overrule(opened.store, decided)
    printed = done("compare", path, "--suggest", into, "--json")
    document = json.loads(printed)
    assert document["toml"] == into.read_text()
    (suggestion,) = [each for each in document["suggestions"] if each["kind"] == "answer"]
    assert suggestion["source"] == "people"
    assert suggestion["held_out"]["caught"] > suggestion["own"]["caught"]
    compared_again = json.loads(done("compare", path, "--rules", into, "--json"))
    known = "people: answers"
    own, new = (compared_again[side]["agreements"][known] for side in ("before", "after"))
    assert new["caught"] > own["caught"]
    assert new["harmed"] == suggestion["fitted"]["harmed"]
