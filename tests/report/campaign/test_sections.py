"""The numbers of every section, against a campaign counted by hand (by_hand)."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId, WorkerId
from piecework.domain.qualifications import (
    SECTION,
    EarnedRule,
    QualificationTest,
    RecordedChange,
    Share,
)
from piecework.domain.verdicts import PolicyRule, ReviewQuality, Upheld
from piecework.report.components import Cell, Section, Table
from piecework.report.facts import ReportFacts
from piecework.report.model import ReportModel, report_model
from piecework.report.page import render_report
from piecework.report.sections import (
    SECTIONS,
    answers_and_agreement,
    comparisons,
    condition_texts,
    conditions,
    experiment,
    flags,
    items,
    known_answers,
    money,
    other_sources,
    outcomes,
    overview,
    provenance,
    summary,
    texts,
    timeline,
    workers,
)
from piecework.report.sections import outcomes as sections_outcomes
from piecework.report.sections.money import MarketFacts, Markets
from piecework.report.sections.other_sources import OtherRules, RulesOutcome
from piecework.report.sections.workers import BeforeWork, Earned, EarnedQualifications
from tests.postprocess.made_tables import caption_task
from tests.report.campaign import by_hand, made_up

_TEST = BeforeWork(
    test=QualificationTest(
        name="English",
        task=caption_task(),
        items=tuple(
            Item(item_id=ItemId(f"q{number}"), columns={SECTION: "spelling"})
            for number in range(15)
        ),
        correct_at_least={"spelling": 12},
        duration_seconds=600,
    ),
    scores=((14, "diligent"), (0, "diligent"), (0, "guesser")),
)
_REVIEWS = ReviewQuality(
    upheld=(Upheld(heuristic="capitals", reviewed=40, upheld=38),),
    sampled=20,
    sampled_bad=1,
    low=0.01,
    high=0.24,
    unflagged=200,
    twice=10,
    agreed=9,
    kappa=0.78,
)
_EARNED = Earned(
    rule=EarnedRule(
        name="good at blur",
        kind="blur",
        agreement=0.9,
        over=50,
        revoke_below=0.8,
        forget_days=180,
        records=Path("earned.db"),
    ),
    holders=1,
    changes=(
        RecordedChange(
            number=1,
            name="good at blur",
            worker_id=WorkerId("1f3a" * 16),
            change="grant",
            decided_by="rule",
            decided_at=datetime(2026, 1, 5, 9, tzinfo=UTC),
            share=Share(
                items=50,
                agreed=46,
                first=datetime(2025, 11, 1, tzinfo=UTC),
                last=datetime(2026, 1, 4, tzinfo=UTC),
            ),
            because="92 % of the latest 50 items agree",
            was_begun=True,
            done_at=None,
            notified_at=None,
        ),
    ),
)
_OTHERS = OtherRules(
    outcomes=(
        RulesOutcome(
            name="No rules",
            page="other-rules/no-rules.html",
            kept=9,
            dropped=0,
            absent=0,
            excluded=0,
            rejected=0,
            paid="$1.20",
            labels=0,
            bad_out="0 of 2",
            good_out="0 of 7",
        ),
    ),
    sentence="The stored answers were judged again.",
)
_MARKETS = Markets(
    rows=(
        MarketFacts(
            market="prolific",
            hits=3,
            assignments=6,
            kept=10,
            decided=12,
            agreed=0,
            compared=0,
            seconds=61.4,
            wage_cents_per_hour=1234.5,
            cost=420,
        ),
    ),
    is_gold=True,
)
Build = Callable[[ReportModel], Section | None]


def _section(build: Build, facts: ReportFacts | None = None) -> Section:
    shown_facts = replace(
        facts or by_hand.small(),
        reviews=_REVIEWS,
        of_sections=(_TEST, EarnedQualifications((_EARNED,)), _MARKETS, _OTHERS),
    )
    section = build(report_model(shown_facts))
    assert section is not None
    return section


def _words(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _table(section: Section, caption: str) -> dict[str, tuple[str, ...]]:
    """The rows of the table with this caption, by their heading."""
    (table,) = (table for table in section.tables if table.caption == caption)
    return {_words(row[0]): tuple(map(_words, row[1:])) for row in table.rows}


def _levels(facts: ReportFacts) -> dict[str, str]:
    """Level by text of what a reader is told first."""
    return {note.text: note.level for note in summary.summary_notes(report_model(facts))}


@pytest.mark.parametrize(("flagged", "is_noted"), [(4, False), (5, True)])
def test_many_flagged_workers_put_the_question_in_doubt(flagged: int, *, is_noted: bool) -> None:
    """More than a third of twelve; the heuristic that flags most of them is named."""
    small = by_hand.small()
    workers = pd.concat([small.workers.add_prefix(f"{part}", axis=0) for part in "abc"])
    findings = pd.DataFrame(
        [
            ("low_agreement", 4, "worker", worker, 0.9, True, "agrees little")
            for worker in workers.index[:flagged]
        ],
        columns=small.findings.columns,
    )
    levels = _levels(replace(small, workers=workers, findings=findings))
    notes = [text for text in levels if "check the question" in text]
    assert bool(notes) is is_noted
    if is_noted:
        assert "5 of 12 workers" in notes[0]
        assert "low_agreement" in notes[0]
        assert levels[notes[0]] == "watch"


def test_reviews_say_how_often_flags_were_right_and_what_they_missed() -> None:
    """38 of 40; one bad of 20 drawn is ten of 200; without reviews, no section."""
    section = _section(flags.reviews_section)
    table = _table(section, "Flags that reviewers upheld")
    assert table["capitals"] == ("40", "38 of 40 (95.0 %)")
    missed, agreed = section.lead
    for fact in ("1 of 20", "10 of all 200 unflagged", "(95 % interval: 2 to 48)"):
        assert fact in missed
    for fact in ("10 answers", "9 of 10 (90.0 %)", "Cohen's kappa 0.78"):
        assert fact in agreed
    assert flags.reviews_section(report_model(by_hand.small())) is None


def test_every_submitted_answer_has_one_fate() -> None:
    """The outcomes add up to what came back, each with how many were flagged."""
    outcomes = _table(
        _section(sections_outcomes.funnel_section), "Outcomes of the submitted answers"
    )

    # Flagged: A2.3 (pasted), and A3.1 to A3.3 (worker and assignment flagged).
    assert {name.partition(":")[0]: row for name, row in outcomes.items()} == {
        "Rejected": ("3", "27.3 %", "3 of 3 (100.0 %)"),  # 3 of 11
        "Dropped": ("1", "9.1 %", "1 of 1 (100.0 %)"),
        "Surplus": ("1", "9.1 %", "0 of 1 (0.0 %)"),
        "Canned": ("2", "18.2 %", "0 of 2 (0.0 %)"),
        "Free text": ("4", "36.4 %", "0 of 4 (0.0 %)"),
        "All submitted": ("11", "100.0 %", "4 of 11 (36.4 %)"),
    }


def test_the_funnel_tells_wanted_submitted_accepted_and_novel() -> None:
    """Three images at two answers make six wanted; six were accepted, four novel."""
    (lead, _) = _section(sections_outcomes.funnel_section).lead

    assert "2 answers about each of 3 images: 6 in all" in lead
    assert "11 answers came back; 6 were accepted, among them 4 free-text captions" in lead


def test_images_without_any_answer_count_as_lacking() -> None:
    """An image that nobody touched has no row, but is not forgotten."""
    facts = replace(by_hand.small(), items=4)
    rows = _table(_section(sections_outcomes.funnel_section, facts), "Accepted answers per image")

    assert rows == {"0 of 2": ("1", "25.0 %"), "1 of 2": ("0", "0.0 %"), "2 of 2": ("3", "75.0 %")}
    assert "Finished, but 1 of 4 images (25.0 %) lack accepted answers." in _levels(facts)


def test_rows_that_a_cap_leaves_out_are_no_fine_end() -> None:
    """They are no items yet, so every item has its answers."""
    facts = replace(by_hand.small(), beyond_cap="answers to 9 rows")
    assert "A cap is reached: answers to 9 rows are missing." in _levels(facts)
    assert not any(text.startswith("Finished, and all") for text in _levels(facts))


def test_difficulty_counts_canned_answers_among_accepted_ones() -> None:
    """Image 2 has two canned answers; the rejected canned one of image 3 is none."""
    section = _section(items.difficulty_section)

    assert _table(section, "Difficulty: canned answers per image") == {
        "0": ("2", "66.7 %"),
        "1": ("0", "0.0 %"),
        "2": ("1", "33.3 %"),
    }
    assert section.lead[0].startswith("1 of 3 images (33.3 %)")


def test_difficulty_stands_beside_the_published_one_where_five_are_wanted() -> None:
    """VizWiz-Captions, section 3.2: 68.5, 16.7, 5.9, 3.6, 3.1 and 2.2 per cent."""
    section = _section(items.difficulty_section, made_up.large(items=40))

    published = [row[2] for row in _table(section, "Difficulty: canned answers per image").values()]
    assert published == ["68.5 %", "16.7 %", "5.9 %", "3.6 %", "3.1 %", "2.2 %"]


def test_caption_lengths_are_words_of_novel_captions() -> None:
    """Four free-text captions of 4, 6, 4 and 10 words: mean 6, median 5."""
    (lead,) = _section(texts.texts_section).lead

    assert "6.0 words on average (median 5, shortest 4, longest 10)" in lead
    # the red bottle stands a dog on blue rug is big lies in sun: 14
    assert "14 different words" in lead
    assert "0 captions repeat" in lead


def test_a_vowel_sign_is_a_part_of_its_word() -> None:
    """Texts of Hindi have as many different words as one reads."""
    facts = by_hand.small()
    facts.answers["clean_text"] = "राम की किताब है, राम का दिल"
    (lead,) = _section(texts.texts_section, facts).lead

    assert "6 different words" in lead


def test_texts_that_were_hardly_typed_are_counted_and_blamed_for_nothing() -> None:
    """Of the texts with known keys, those with fewer than one for five characters."""
    small = by_hand.small()
    answers = small.answers.assign(keystrokes=50.0)
    answers.loc[answers.index[0], "keystrokes"] = 1.0
    written = int(((answers["text"] != "") & ~answers["is_canned"]).sum())
    facts = replace(small, answers=answers)
    (note,) = _section(texts.texts_section, facts).notes
    assert note.text.startswith(f"1 of {written} texts")
    assert "pay must not depend on this alone" in note.text
    unknown = replace(facts, answers=answers.assign(keystrokes=float("nan")))
    assert _section(texts.texts_section, unknown).notes == ()


def test_who_could_say_nothing_is_listed_with_the_reason() -> None:
    """Silence is not read as praise; what flags something is not called silent."""
    silent = {
        "rushed": "no time is known",
        "gold_failed": "no item has one",
        "too_fast": "no time is known",
        "time_in_batch": "no time is known",
    }
    facts = replace(by_hand.small(), silent=silent)
    section = _section(flags.flags_section, facts)
    caption = "Heuristics that could flag nothing here"
    assert _table(section, caption) == {
        "no time is known": ("Rushed assignment and Unusual time for the batch",),
        "no item has one": ("Failed known answers",),
    }


def test_reasons_are_counted_by_the_sentence_of_their_rule() -> None:
    """Drops with other evidence, also accepted ones, are one reason; people's words stay."""
    rule = PolicyRule(
        subject_kind="answer", any_of=("capitals",), then="drop", because="Set aside: {evidence}."
    )
    facts = replace(by_hand.small(), policy=(rule,))
    decisions = pd.DataFrame(
        [
            ("policy:c", "Set aside: 80%.", False),
            ("ann", "Set aside: 90%.", True),
            ("policy:c", "Advertising.", False),
            ("ann", "Set aside: a joke.", False),
        ],
        columns=["decided_by", "because", "is_accepted"],
    ).assign(subject_kind="answer", verdict="drop")
    assert report_model(facts).as_stated(decisions).tolist() == [
        *("Set aside: ….", "Set aside: …."),
        "Advertising.",
        "Set aside: a joke.",
    ]


def test_splits_and_majorities_are_counted_by_image() -> None:
    """Two images in train, one in test; a tie is no majority."""
    section = _section(texts.texts_section)

    assert _table(section, "Splits") == {
        "train": ("2", "2", "50.0 %"),
        "test": ("1", "2", "50.0 %"),
    }
    # Text: image 1 by both; images 2 and 3 by one of two. Flaws: image 2 by both.
    assert _table(section, "What most workers say about the images") == {
        "shows text": ("1 of 3 (33.3 %)",),
        "flaw: blur": ("1 of 3 (33.3 %)",),
        "flaw: dark": ("1 of 3 (33.3 %)",),
        "flaw: none": ("2 of 3 (66.7 %)",),
    }


def test_coverage_counts_subjects_and_the_answers_they_touch() -> None:
    """A flag on an assignment or a worker touches all its answers."""
    caption = "Heuristics, and the strongest evidence of each"
    rows = _table(_section(flags.flags_section), caption)

    assert rows == {
        # cheat gave A3.1 to A3.3, all kept out.
        "canned_share": (
            *("workers: 1 of 4 (25.0 %)", "3", "3 (100.0 %)"),
            "1 of 3 answers is canned",
        ),
        "capitals": ("answers: 0 of 11 (0.0 %)", "0", "0", ""),
        # A2.3, A3.1 and A3.2; of two with suspicion 0.9 the first by id.
        "pasted": (*("answers: 3 of 11 (27.3 %)", "3", "3 (100.0 %)"), "3 pastes, 0 keystrokes"),
        "too_fast": (*("assignments: 1 of 4 (25.0 %)", "3", "3 (100.0 %)"), "2 s an image"),
    }


def test_overlaps_are_drawn_with_their_counts() -> None:
    """canned_share and too_fast share three answers, pasted shares two with each."""
    (figure,) = _section(flags.flags_section).figures

    assert (
        "Impossibly fast and Canned text too often: 3; pasted and Canned text too "
        "often: 2; Impossibly fast and pasted: 2."
    ) in figure.svg
    numbers = re.findall(r">(\d)</text>", figure.svg)
    # Columns 1 to 3, and nine cells: three on the diagonal, and three pairs twice.
    assert sorted(numbers) == sorted(["1", "2", "3", *"333", *"33", *"2222"])


def test_the_last_decision_about_a_subject_holds() -> None:
    """A person overruled the approval of A3: 17 decisions, 16 in force."""
    section = _section(outcomes.decisions_section)

    assert "16 decisions in force: 15 by the policy" in section.lead[0]
    assert "1 by 1 person" in section.lead[0]
    assert "1 earlier decision about the same subjects overruled" in section.lead[0]
    assert _table(section, "Verdicts") == {
        "keep answer": ("7", "0", "7"),
        "drop answer": ("4", "0", "4"),
        "approve assignment": ("3", "0", "3"),
        "reject assignment": ("0", "1", "1"),
        "exclude worker": ("1", "0", "1"),
    }


def test_reasons_are_told_with_who_decided() -> None:
    """The one rejection is a person's, and its reason is on the page."""
    rows = _table(_section(outcomes.decisions_section), "Reasons, the most frequent first")

    assert rows["reject assignment"] == ("advertising", "person", "1")
    assert rows["keep answer"] == ("as stated", "policy", "7")


def test_the_ledger_adds_up() -> None:
    """180 + 30 + 42 = 252 spent, 748 of 1000 left; 252 / 4 = 63 cents a caption."""
    section = _section(money.money_section)
    rows = _table(section, "Ledger (US dollars)")

    assert rows["Spent, all of these"] == ("$2.52", "25.2 %")
    assert rows["Left"] == ("$7.48", "74.8 %")
    assert "$0.63 per free-text caption" in section.lead[0]


def test_wages_are_pay_over_the_time_of_paid_work() -> None:
    """Wages of 720, 750 and 900 cents an hour; the rejected work has none."""
    section = _section(money.money_section)

    assert _table(section, "Hourly wages of the workers") == {
        "Lowest": ("$7.20/h", "-$0.05"),
        # A quarter of two steps from 720: 720 + 0.5 x 30 = 735.
        "Lower quarter": ("$7.35/h", "+$0.10"),
        "Median": ("$7.50/h", "+$0.25"),
        # 1.5 steps: 750 + 0.5 x 150 = 825.
        "Upper quarter": ("$8.25/h", "+$1.00"),
        "Highest": ("$9.00/h", "+$1.75"),
    }
    # 210 cents in 288 + 360 + 300 = 948 s: 797.4 cents an hour.
    assert "the pay was $7.97/h" in section.lead[1]
    assert "leaves out 1 worker not paid (yet)." in section.lead[1]


@pytest.mark.parametrize(
    ("floor", "median", "below"),
    [
        # That the median meets the floor is no comfort where one of four got a cent.
        (735, "fact", "2 of 4 workers (50.0 %) earned less than hourly_wage, $7.35/h;"),
        (736, "problem", "2 of 4 workers (50.0 %) earned less than hourly_wage,"),
        (720, "fact", "1 of 4 workers (25.0 %) earned less than hourly_wage, $7.20/h;"),
    ],
)
def test_a_wage_below_the_floor_is_said_plainly(floor: int, median: str, below: str) -> None:
    """A wage of exactly the floor meets it; a cent more to ask and it is a problem."""
    facts = by_hand.ill_paid()
    assert facts.money is not None
    facts = replace(facts, money=replace(facts.money, wage_floor_cents_per_hour=floor))
    notes = money.wage_notes(report_model(facts))

    assert [note.level for note in notes] == [median, "problem"]
    assert ("BELOW" in notes[0].text) == (median == "problem")
    assert notes[1].text.startswith(below)


@pytest.mark.parametrize(
    ("floor", "level", "more"),
    # The middle of 720, 750 and 900 is 750; 1 % more is 757.5, 12 % more is 840.
    [(751, "watch", "1 %"), (833, "watch", "12 %"), (834, "problem", "12 %")],
)
def test_a_median_just_below_the_floor_is_watched_and_told_what_mends_it(
    floor: int, level: str, more: str
) -> None:
    """A reward that is worth the floor in the middle leaves half of them below it."""
    facts = by_hand.small()
    assert facts.money is not None
    model = report_model(
        replace(
            facts,
            workers=facts.workers.drop("cheat"),
            money=replace(facts.money, wage_floor_cents_per_hour=floor),
        )
    )
    middle, below = money.wage_notes(model)

    assert (middle.level, below.level) == (level, level)
    assert middle.text.endswith(
        f"Rewards {more} higher would meet it; `piecework pay` adds the difference as bonuses."
    )


def test_one_of_two_workers_at_a_dollar_is_a_problem() -> None:
    """The median of $1 and $20 an hour meets the floor; the figure is red."""
    facts = by_hand.small()
    two = facts.workers.loc[["cheat", "ann"]].assign(paid_cents=[10, 200], seconds_paid=360.0)
    model = report_model(replace(facts, workers=two))

    assert [note.level for note in money.wage_notes(model)] == ["fact", "problem"]
    assert summary.key_figures(model)[-1].level == "problem"


def test_few_below_the_floor_are_to_be_watched() -> None:
    """One of ten is told and no problem yet; one of forty leaves the figure fine."""
    facts = by_hand.small()
    levels = []
    for crowd in (10, 40):
        many = facts.workers.loc[["ann"] * crowd].assign(
            paid_cents=[10] + [200] * (crowd - 1), seconds_paid=360.0
        )
        many.index = pd.Index([f"w{n}" for n in range(crowd)])
        model = report_model(replace(facts, workers=many))
        levels.append((money.wage_notes(model)[1].level, summary.key_figures(model)[-1].level))

    assert levels == [("watch", "watch"), ("watch", "fine")]


def test_a_worker_whose_time_is_unknown_has_no_wage() -> None:
    """No time worked is no wage, rather than an endless one."""
    facts = by_hand.small()
    facts = replace(facts, workers=facts.workers.assign(seconds_paid=[0, float("nan"), 0, 0]))
    (note,) = money.wage_notes(report_model(facts))
    assert note.level == "watch"
    assert "no paid work with a time" in note.text
    assert summary.key_figures(report_model(facts))[4].value == "unknown"


def test_cleaning_counts_only_what_is_in_the_dataset() -> None:
    """Three edits changed two of four free-text captions; the rejected caption does not count."""
    section = _section(texts.cleaning_section)

    assert "2 of 4 free-text captions (50.0 %) with 3 edits" in section.lead[0]
    assert _table(section, "Edits by rule") == {
        "spelling": ("3", "3", "2"),
        "whitespace": ("1", "0", "0"),
    }
    assert _table(section, "The most frequent edits") == {
        "teh": ("the", "spelling", "2"),
        "botle": ("bottle", "spelling", "1"),
    }


def test_found_and_wronged_are_counted_apart() -> None:
    """The cheat's work was rejected, so he is found; dan's exclusion is a wrong."""
    section = _section(known_answers.planted_section)

    assert _table(section, "Planted workers by trait") == {
        "advertiser": (*("bad", "1", "0", "1", "1 of 1 found"), *("3 of 3", "0")),
        "careful": (*("honest", "2", "0", "0", "0 of 2 wronged"), *("1 of 6", "3")),
        "slow": (*("honest", "1", "1", "0", "1 of 1 wronged"), *("0 of 2", "1")),
    }
    model = report_model(by_hand.small())
    notes = known_answers.planted_notes(model, known_answers.score_planted(model))
    assert [(note.level, note.text) for note in notes] == [
        ("fine", "1 of 1 planted bad worker (100.0 %) was found."),
        ("problem", "1 of 3 honest workers (33.3 %) was wronged: excluded, or work rejected."),
        ("fine", "0 of 4 free-text captions (0.0 %) were written by planted bad workers."),
    ]


def test_a_real_campaign_has_no_planted_workers() -> None:
    """Without a rehearsal nobody knows who is bad, so nothing is claimed."""
    model = report_model(by_hand.small(is_rehearsal=False))

    assert known_answers.planted_section(model) is None
    assert not any("planted" in note.text for note in summary.summary_notes(model))


def test_each_worker_has_a_row_with_the_wage() -> None:
    """Excluded workers come first; a wage below the floor says so."""
    rows = _table(_section(workers.workers_section), "Workers")

    assert [*rows] == ["dan", "ann", "bob", "cheat"]
    assert rows["dan"] == (
        *("2", "0", "1", "0", "5 min", "$0.60"),
        *("$7.20/h, below", "excluded", "slow"),
    )
    assert rows["bob"][6] == "$9.00/h"


def test_the_busiest_workers_share_is_told() -> None:
    """Ann wrote two of the four free-text captions; a tenth of four workers is one."""
    (lead,) = _section(workers.workers_section).lead

    assert "The busiest wrote 2 of 4 (50.0 %)" in lead
    assert "the busiest tenth (1 worker) wrote 50.0 %" in lead


def test_rounds_are_told_with_their_times() -> None:
    """Nothing is made up for the round that is not settled."""
    section = _section(timeline.timeline_section)
    rows = _table(section, "Batches and rounds")

    assert rows["batch\u00a01,\u00a0round\u00a01"] == (
        *("1", "1 of 1", "2", "0", "1"),
        *("11-02 10:30", "11-02 10:40", "\u2013"),
    )
    # 1038 s are 17.3 min; in 7200 s that is 0.144 at a time.
    assert section.lead[0].endswith(
        "(2.0 h), 4 simulated workers worked 17 min, 0.1 at a time on average."
    )

    beside = _table(_section(workers.workers_section), "Beside the collection of VizWiz-Captions")
    assert beside["workers"] == ("4", "1,623")
    assert beside["person-hours"] == ("0.3", "3,736")
    assert beside["hours from start to end"] == ("2.00", "101.52")
    assert beside["person-hours per hour"] == ("0.1", "37")
    # 1,038 s for eleven captions, whether or not they are decided.
    assert beside["seconds of work per caption"] == ("94", "69")
    small = by_hand.small()
    waiting = replace(small, answers=small.answers.iloc[:8], waiting=small.answers.iloc[8:])
    beside = _table(
        _section(workers.workers_section, waiting), "Beside the collection of VizWiz-Captions"
    )
    assert (beside["captions"][0], beside["seconds of work per caption"][0]) == ("11", "94")


def test_key_figures_are_the_ones_of_the_sections() -> None:
    """Three images, six captions, four workers, $2.52, and $7.50 an hour."""
    figures = summary.key_figures(report_model(by_hand.small()))

    assert [(figure.label, figure.value) for figure in figures] == [
        ("Images", "3"),
        ("Accepted captions", "6"),
        ("Workers", "4"),
        ("Would have cost", "$2.52"),
        ("Median wage", "$7.50/h"),
    ]
    assert figures[0].beside == "3 with all 2 accepted answers"
    assert figures[1].beside == "4 free text, 2 canned; 6 wanted"


def test_books_that_agree_are_no_problem() -> None:
    """Answers, assignments, rejections, pay and budget are told twice, and agree."""
    assert [check.agrees for check in provenance.checks(report_model(by_hand.small()))] == [
        True
    ] * 5
    finished = "Finished, and all 3 images have 2 accepted answers."
    assert _levels(by_hand.small())[finished] == "fine"


def test_every_book_that_differs_is_a_problem_told_first() -> None:
    """A lost row, a lost assignment, lost pay and an overdrawn budget all show."""
    facts = by_hand.small()
    assert facts.money is not None
    facts = replace(
        facts,
        answers=facts.answers.drop(index=["A4.1", "A4.2"]),
        money=replace(
            facts.money, ledger={**facts.money.ledger, "paid_rewards": 179, "budget": 200}
        ),
        decisions=facts.decisions[facts.decisions["verdict"] != "reject"],
    )
    notes = summary.summary_notes(report_model(facts))

    wrong = [note.text for note in notes if note.level == "problem"]
    assert wrong[:5] == [
        "Counts differ. Answers: collected, and counted by worker: 9 and 11.",
        "Counts differ. Assignments: collected, and counted by batch: 3 and 4.",
        ("Counts differ. Rejected assignments: decided, and counted by worker: 0 and 1."),
        "Counts differ. Pay: of all workers, and in the ledger: $2.10 and $2.09.",
        # 179 + 30 + 42 = 251 spent of 200.
        "Counts differ. Spent and held, within the budget: $2.51 and $2.00.",
    ]
    assert notes[0].level == "problem"


def test_provenance_names_every_version() -> None:
    """Campaign file, code, seed, task, heuristics and rules can all be found again."""
    rows = _table(_section(provenance.provenance_section), "Origin")

    assert rows["Task"] == ("caption, version 4",)
    assert rows["Campaign file, sha256"] == ("3f9a" * 16,)
    assert rows["Code, commit"] == ("2891ade0c5d14b7f",)
    assert rows["Seed"] == ("7",)
    assert rows["Heuristics"] == ("canned_share v5, capitals v1, pasted v2 and too_fast v1",)
    assert rows["Cleaning rules"] == ("spelling v3 and whitespace v1",)


def test_nine_of_nine_bad_workers_missed_are_a_problem() -> None:
    """Chance explains four of nine where half are found, but not one of nine.

    Wilson's 95 % interval of 1 of 9 ends at 0.435, that of 4 of 9 at 0.733.
    """
    facts = by_hand.small()
    for excluded, level in ((0, "problem"), (1, "problem"), (4, "watch"), (9, "fine")):
        bad = facts.workers.loc[["ann"] * 9].assign(
            is_planted_bad=True, is_excluded=[n < excluded for n in range(9)]
        )
        bad.index = pd.Index([f"w{n}" for n in range(9)])
        model = report_model(replace(facts, workers=bad))
        note = known_answers.planted_notes(model, known_answers.score_planted(model))[0]
        assert (note.level, note.text[:6]) == (level, f"{excluded} of 9")


def test_a_missed_worker_is_told_with_the_reason() -> None:
    """No rule for a flag, a threshold that was not reached, or no flag: more work tells more."""
    facts = by_hand.small()
    missed = replace(
        facts,
        workers=facts.workers.assign(is_excluded=False, assignments_rejected=0),
        policy=(),
    )
    exclude = PolicyRule(
        subject_kind="worker", any_of=("gold_failed",), then="exclude", because="-"
    )
    of_advert = replace(exclude, any_of=("canned_share", "too_fast"), share=0.9)
    unflagged = replace(missed, findings=missed.findings.iloc[:0])
    reasons = {}
    for name, each in {
        "no rule": missed,
        "a rule about another heuristic": replace(missed, policy=(exclude,)),
        "a rule that only drops": replace(
            missed, policy=(replace(of_advert, subject_kind="answer", then="drop"),)
        ),
        "a rule": replace(missed, policy=(of_advert,)),
        "no flag": unflagged,
    }.items():
        model = report_model(each)
        note = known_answers.planted_notes(model, known_answers.score_planted(model))[0]
        reasons[name] = note.text.partition("found. ")[2]

    no_rule = (
        "1 other was flagged (mostly by “Canned text too often”), but no rule rejects or excludes "
        "for that; `piecework compare` with --suggest proposes rules."
    )
    assert reasons == {
        "no rule": no_rule,
        "a rule about another heuristic": no_rule,
        "a rule that only drops": no_rule,
        "a rule": "1 other was flagged below the thresholds of the rules.",
        "no flag": "More HITs for each worker would tell more about them.",
    }


OF_ANSWERS = {
    answers_and_agreement.fields_section,
    comparisons.order_effects_section,
    comparisons.systems_section,
    conditions.conditions_section,
    condition_texts.corrections_section,
    overview.checks_section,  # without notes there is nothing more to say
    other_sources.imported_section,  # see test_imported
    outcomes.as_needed_section,  # see test_as_needed
    other_sources.machine_section,  # see test_machine
    experiment.experiment_section,  # see test_experiment
    known_answers.gold_section,  # see test_gold
    timeline.growth_section,  # see tests/results/test_report_over_time.py
}
of_captions = pytest.mark.parametrize(
    "build",
    [section for section in SECTIONS if section not in OF_ANSWERS],
    ids=lambda build: build.__name__,
)
"""Datasets of answers have more: see test_judgement_sections and test_conditions."""


@of_captions
def test_every_section_is_built_of_nothing(build: Build) -> None:
    """A campaign without rows has every section, and each table says so."""
    section = _section(build, made_up.empty())

    assert section.title
    tables: tuple[Table, ...] = section.tables
    assert all(table.rows or table.empty for table in tables)
    widths = {len(table.columns) - len(row) for table in tables for row in table.rows}
    assert widths <= {0}


@of_captions
def test_every_row_has_a_cell_for_every_column(build: Build) -> None:
    """No column is without its cell, in a full campaign too."""
    for table in _section(build, made_up.large(items=40)).tables:
        assert {len(row) for row in table.rows} <= {len(table.columns)}


def test_decisions_without_people_say_so() -> None:
    """Where only the policy decided, nobody is counted as a person."""
    facts = by_hand.small()
    by_policy = facts.decisions[facts.decisions["decided_by"] == by_hand.POLICY]
    (lead,) = _section(outcomes.decisions_section, replace(facts, decisions=by_policy)).lead

    assert "16 by the policy in the campaign file, none by a" in lead


def test_the_test_before_the_work_is_counted() -> None:
    """One of three passed; by trait one of two, and none of one."""
    section = _section(workers.before_work_section)
    assert "3 workers took the test, and 1 of 3" in section.lead[0]
    table = _table(section, "Simulated workers at the test")
    assert table["diligent"][:2] == ("2", "1")
    assert table["guesser"][:2] == ("1", "0")


def test_a_dataset_without_a_ledger_has_a_report_without_money() -> None:
    """No budget, no wage and no check of pay is made up; all else is told."""
    facts = replace(by_hand.small(is_rehearsal=False), money=None, seed=None)
    page = render_report(facts)

    assert "$" not in page
    assert "wage" not in page
    assert "Seed" not in page
    assert "Answers: collected, and counted by worker" in page
    assert [figure.label for figure in summary.key_figures(report_model(facts))] == [
        "Images",
        "Accepted captions",
        "Workers",
    ]


def test_sections_follow_from_what_the_task_asks() -> None:
    """Without a canned text there is no difficulty, without ticks no statement."""
    facts = by_hand.small()
    plain = replace(facts.task, canned_text="", text_present_field="", fields=facts.task.fields[:1])
    model = report_model(replace(facts, task=plain))

    assert items.difficulty_section(model) is None
    section = texts.texts_section(model)
    assert section is not None
    assert [table.caption for table in section.tables] == ["Splits"]
    assert "canned" not in model.possible_outcomes
    assert (model.item_noun, model.accepted_noun) == ("image", "accepted caption")
