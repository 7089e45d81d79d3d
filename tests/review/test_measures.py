"""What reviews say of heuristics, of what is missed, of people and of the time left."""

import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from piecework.cli.output import progress_rows
from piecework.domain.ids import WorkerId
from piecework.domain.verdicts import JOINED, REJECTED_WITH, Decision, Finding, Verdict
from piecework.engine.progress import read_progress
from piecework.report.model import report_model
from piecework.report.sections.overview import questions
from piecework.results.answers_shown import Work, joined_suspicion
from piecework.results.report_facts import report_facts
from piecework.results.review_quality import overruled_most, review_quality
from piecework.review.desk import Manner
from piecework.review.model.reviewing import carry_out, group_of, state_of
from piecework.review.model.waiting import Waiting
from piecework.store import decisions, findings, reviews
from tests.review import stores
from tests.review.conftest import Served, served
from tests.review.test_wire import form_of
from tests.small_campaign import CAMPAIGN

MONDAY = datetime(2026, 1, 5, 12, tzinfo=UTC)


def _decided(answer_id: str, verdict: Verdict, by: str, *, seconds: int = 0) -> Decision:
    return Decision(
        subject_kind="answer",
        subject_id=answer_id,
        verdict=verdict,
        decided_by=by,
        decided_at=MONDAY + timedelta(seconds=seconds),
        because="so",
    )


def _drawn(answer_id: str) -> Finding:
    return Finding(
        heuristic="random_sample",
        version=1,
        subject_kind="answer",
        subject_id=answer_id,
        suspicion=0,
        flag=True,
        evidence="drawn by chance for review",
    )


def test_flags_are_upheld_by_people_alone(tmp_path: Path) -> None:
    """Of three flagged answers that people saw two were dropped; policy counts not."""
    with stores.opened(tmp_path) as run:
        with run.store.db.atomic():
            decisions.overrule(
                run.store,
                [
                    _decided("A0000-k1.1", "drop", "ada"),
                    _decided("A0001-k1.1", "drop", "grace"),
                    _decided("A0002-k1.1", "keep", "ada"),
                    _decided("A0003-k1.1", "drop", "policy:crash"),
                    _decided("A0000-k1.2", "drop", "ada"),
                ],
            )
        (capitals,) = review_quality(run).upheld
        assert str(capitals) == "of 3 flagged by capitals 2 upheld"


def test_a_decided_card_shows_how_often_its_flags_were_upheld(tmp_path: Path) -> None:
    """Beside the decision, for the heuristics of the card; not before, and never blind."""
    for is_blind in (False, True):
        folder = tmp_path / str(is_blind)
        folder.mkdir()
        with (
            stores.opened(folder) as run,
            served(run, manner=Manner(is_blind=is_blind)) as page,
        ):
            keys = [f"A000{n}-k1.1" for n in range(3)]
            _decide(page, "ada", keys, ["drop", "keep", "drop"])
            with page.client("ada") as ada:
                card = ada.get("/card", params={"view": "answer", "key": keys[0]}).text
                waits = ada.get("/card", params={"view": "answer", "key": "A0003-k1.1"}).text
            assert ("people upheld 2 of 3 flags of “Mostly capitals”" in card) == (not is_blind)
            assert "people upheld" not in waits


def test_after_fifty_decisions_the_rule_that_is_overruled_most_is_shown(tmp_path: Path) -> None:
    """Not after 49, not without any overruling, and with its counts."""
    with stores.opened(tmp_path, workers=52, items=2) as run:
        keys = [f"A{n:04}-k1.1" for n in range(50)]
        for place, key in enumerate(keys):
            assert overruled_most(run) is None
            verdict: Verdict = "keep" if place < 7 else "drop"
            with run.store.db.atomic():
                reviews.add_reviews(run.store, [_decided(key, verdict, "ada")], along=[])
        overruled = overruled_most(run)
        assert overruled is not None
        assert (overruled.overruled, overruled.proposals, overruled.decisions) == (7, 50, 50)
        assert overruled.rule.any_of[0] == "capitals"
        with served(run) as page, page.client("ada") as ada:
            for path in ("/", "/quality"):
                text = ada.get(path).text
                assert "They overruled 7 of its 50 proposals." in text
                assert "Mostly capitals" in text


def test_the_sample_says_what_nothing_flagged(tmp_path: Path) -> None:
    """One of four drawn answers is bad: 4 of 16 unflagged ones, with Wilson's ends."""
    with stores.opened(tmp_path, workers=4, items=8) as run:
        drawn = [f"A000{n}-k1.2" for n in range(4)]
        flagged_too = "A0000-k1.1"
        for name in (*drawn, flagged_too):
            with run.store.db.atomic():
                run.store.db.execute(
                    "INSERT INTO findings VALUES ('answer', ?, 'random_sample', 1, 0, 1, 'drawn')",
                    [name],
                )
        with run.store.db.atomic():
            decisions.overrule(
                run.store,
                [
                    _decided(drawn[0], "drop", "ada"),
                    *(_decided(name, "keep", "ada") for name in drawn[1:]),
                    _decided(flagged_too, "drop", "ada"),
                ],
            )
        quality = review_quality(run)
        assert (quality.sampled, quality.sampled_bad, quality.unflagged) == (4, 1, 16)
        # Wilson for 1 of 4: (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n).
        z2, n, p = 1.959964**2, 4, 0.25
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = math.sqrt(z2) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        assert quality.low == pytest.approx(middle - half / (1 + z2 / n), abs=1e-4)
        assert quality.high == pytest.approx(middle + half / (1 + z2 / n), abs=1e-4)
        assert quality.missed[0] == 4


def test_what_is_drawn_by_chance_is_not_told_by_its_words_or_place(tmp_path: Path) -> None:
    """It has no evidence, and stands among the flagged with others that are not."""
    with stores.opened(tmp_path, workers=30, items=8) as run:
        drawn = [f"A{n:04}-k1.2" for n in range(6)]
        findings.replace(
            run.store,
            [*map(_drawn, drawn), *findings.load_findings(run.store)],
            subjects={"answer": list(run.answers().index)},
        )
        waiting = Waiting(run)
        waiting.read_on(Work(run))
        assert waiting.suspicion("answer", drawn[0]) == 0
        keys = waiting.keys("answer")
        last = max(n for n, key in enumerate(keys) if key.endswith(".1"))
        among = [key for key in keys[:last] if key.endswith(".2")]
        assert set(drawn) <= set(among)
        assert len(among) > len(drawn)
        # 120 flagged ones, and few others: what is worst comes first all the same.
        assert len(among) < 40
        again = Waiting(run)
        again.read_on(Work(run))
        assert keys == again.keys("answer")
        blind = Waiting(run, is_blind=True)
        blind.read_on(Work(run))
        flagged = [n for n, key in enumerate(blind.keys("answer")) if key[-1] == "1"]
        assert 100 < sum(flagged) / len(flagged) < 140  # of 240, in the middle


def test_a_second_opinion_is_asked_for_unnoticed_and_decides_nothing(tmp_path: Path) -> None:
    """Grace is shown ada's card as if it waited; what she says is compared alone."""
    with (
        stores.opened(tmp_path, workers=2, items=4) as run,
        served(run, manner=Manner(twice=1.0)) as page,
    ):
        keys = [f"A0000-k{n}.{m}" for n in (1, 3) for m in (1, 2)]
        _decide(page, "ada", keys, ["drop", "keep", "drop", "keep"])
        with page.client("grace") as grace:
            text = grace.get("/card", params={"view": "answer", "key": keys[0]}).text
            assert "Drop" in text
            # A random token may contain the letters.
            assert re.search(r"\bada\b", text) is None
            assert "set aside" not in text.partition("What others")[0]
        _decide(page, "grace", keys, ["drop", "keep", "keep", "drop"])
        in_force = {
            decision.subject_id: decision
            for decision in decisions.load_decisions(run.store, "answer")
        }
        assert [in_force[key].decided_by for key in keys] == ["ada"] * 4
        quality = review_quality(run)
        # Two of four alike, and two by chance: no better than that.
        assert (quality.twice, quality.agreed, quality.kappa) == (4, 2, 0.0)
        with page.client("grace") as grace:
            measures = grace.get("/quality").text
            assert "Cohen&#39;s kappa 0.00" in measures
            # The two about which they differ are listed, and each leads to its card.
            assert [key for key, _ in quality.differing] == keys[2:]
            assert quality.differing[0][1] == (("ada", "drop"), ("grace", "keep"))
            links = re.findall(r'href="(/card\?view=answer[^"]+)"', measures)
            assert len(links) == 2
            card = grace.get(unescape(links[0]))
            assert card.status_code == 200
            assert keys[2] in str(card.url)


def test_a_blind_review_shows_the_answer_and_what_others_say_alone(tmp_path: Path) -> None:
    """No evidence, no proposal, no history; the money is told."""
    with (
        stores.opened(tmp_path, workers=2) as run,
        served(run, manner=Manner(is_blind=True)) as page,
        page.client() as ada,
    ):
        card = {"view": "answer", "key": "A0000-k1.1"}
        text = ada.get("/card", params=card).text
        assert "capitals" not in text
        assert "Not what the page asks for" not in text
        assert "proposed" not in text
        assert "Other answers of the worker" not in text
        assert "$0.50 not paid." in text


def test_a_blind_review_tells_no_proposal_by_what_it_accepts(tmp_path: Path) -> None:
    """No reason stands for a missing one, and a worker may be kept, proposed or not."""
    with (
        stores.opened(tmp_path, workers=2) as run,
        served(run, manner=Manner(is_blind=True)) as page,
        page.client() as ada,
    ):
        # It is proposed to drop the first answer, to reject it, and to exclude its worker.
        for act, key in (
            ("drop", "A0000-k1.1"),
            ("drop", "A0000-k1.2"),
            ("reject", "A0000-k1.1"),
            ("exclude", "A0000-k1.1"),
        ):
            card = {"view": "answer", "key": key}
            reply = ada.post("/decide", data={**card, **form_of(ada, card), "act": act})
            assert (reply.status_code, "needs a reason" in reply.text) == (422, True), act
        card = {"view": "answer", "key": "A0000-k1.1"}
        for is_proposed in (True, False):
            assert 'value="stay"' in ada.get("/card", params=card).text
            form = {**card, **form_of(ada, card), "act": "stay"}
            assert ada.post("/decide", data=form).status_code == 303
            made = [d for d in decisions.load_decisions(run.store) if d.subject_kind == "worker"]
            assert len(made) == 1, is_proposed


def test_undoing_a_blind_keep_takes_back_that_alone(tmp_path: Path) -> None:
    """Whether an exclusion was proposed, or nothing; and both say the same."""
    replies = []
    for is_proposed in (True, False):
        folder = tmp_path / str(is_proposed)
        folder.mkdir()
        with (
            stores.opened(folder, workers=2) as run,
            served(run, manner=Manner(is_blind=True)) as page,
            page.client() as ada,
        ):
            first, second = ({"view": "answer", "key": f"A0000-k1.{n}"} for n in (1, 2))
            acts = [(first, "stay")] * (not is_proposed) + [(second, "keep"), (first, "stay")]
            form: dict[str, str] = {}
            for card, act in acts:
                form = {**card, **form_of(ada, card), "act": act}
                assert ada.post("/decide", data=form).status_code == 303
            before = [d for d in decisions.load_decisions(run.store) if d.subject_kind == "answer"]
            undone = ada.post("/undo", data=form, follow_redirects=True)
            left = decisions.load_decisions(run.store)
            assert [d for d in left if d.subject_kind == "answer"] == before
            assert len([d for d in left if d.subject_kind == "worker"]) == (not is_proposed)
            replies.append(re.findall(r'class="notice.*', undone.text)[-1])
            ada.post("/undo", data=form)
            assert len(decisions.load_decisions(run.store)) == len(left) - len(before)
    assert replies == ['class="notice done" role="status">Undone.</p>'] * 2


def test_a_preview_refuses_what_deciding_refuses(tmp_path: Path) -> None:
    """A reason of spaces is none, and a blind page lends nobody the proposed one."""
    for is_blind, shown in ((True, "to be written"), (False, "Not what the page asks for.")):
        folder = tmp_path / str(is_blind)
        folder.mkdir()
        with (
            stores.opened(folder, workers=2) as run,
            served(run, manner=Manner(is_blind=is_blind)) as page,
            page.client() as ada,
        ):
            card = {"view": "worker", "key": run.pseudonym(WorkerId("WORKER0000"))}
            form = {**card, **form_of(ada, card)}
            reply = ada.post("/preview", data={**form, "act": "reject", "because": " \n "})
            assert (reply.status_code, shown in reply.text) == (200, not is_blind)
            long = ada.post("/preview", data={**form, "act": "reject", "because": "x" * 5_000})
            assert (long.status_code, "5000 characters" in long.text) == (422, True)
            # What nothing proposes any more is no fault of the page.
            for _ in range(2):
                stay = {**form, **form_of(ada, card), "act": "stay"}
                previewed = ada.post("/preview", data=stay)
                assert previewed.status_code < 500
                ada.post("/decide", data=stay)


def test_a_blind_review_measures_reviewers_alone(tmp_path: Path) -> None:
    """Neither which rules the policy has, nor how often people upheld their flags."""
    for is_blind in (False, True):
        folder = tmp_path / str(is_blind)
        folder.mkdir()
        with stores.opened(folder, workers=52, items=2) as run:
            made = [
                _decided(f"A{n:04}-k1.1", "keep" if n < 7 else "drop", "ada") for n in range(50)
            ]
            for decision in made:
                with run.store.db.atomic():
                    reviews.add_reviews(run.store, [decision], along=[])
            with served(run, manner=Manner(is_blind=is_blind)) as page, page.client() as ada:
                text = ada.get("/quality").text
        shown = (
            "Mostly capitals",
            "overruled",
            "Not what the page asks for",
            "… of … answers repeat",
        )
        for words in shown:
            assert (words in text) == (not is_blind), words


def test_a_second_opinion_needs_a_reason_as_the_first_does(tmp_path: Path) -> None:
    """And undoing it does not say that its answer waits."""
    with (
        stores.opened(tmp_path) as run,
        served(run, manner=Manner(twice=1.0)) as page,
        page.client("grace") as grace,
    ):
        card = {"view": "answer", "key": "A0000-k1.1"}
        _decide(page, "ada", [card["key"]], ["keep"])
        form = {**card, **form_of(grace, card), "act": "drop"}
        refused = grace.post("/decide", data=form)
        assert (refused.status_code, "needs a reason" in refused.text) == (422, True)
        assert grace.post("/decide", data={**form, "because": "so"}).status_code == 303
        assert review_quality(run).twice == 1
        undone = grace.post("/undo", data=form, follow_redirects=True)
        assert "Undone." in undone.text
        assert "It waits again" not in undone.text
        assert review_quality(run).twice == 0


def test_the_status_says_how_long_it_takes_and_when_it_is_too_late(tmp_path: Path) -> None:
    """Twenty seconds an act, by the median; 30 days after the first submission."""
    with stores.opened(tmp_path) as run:
        before = read_progress(run)
        assert before.review_seconds == 0
        # The first of all was sent at 9 o'clock; MTurk's delay is the file's default.
        delay = run.campaign.posting.auto_approval_delay_seconds
        first = stores.MONDAY + timedelta(seconds=delay)
        assert before.pays_itself_at == first.isoformat()
        shown = dict(progress_rows(before))
        at = f"{first:%Y-%m-%d %H:%M} UTC"
        assert shown["  the marketplace pays automatically at"] == at
        for place, seconds in enumerate((0, 20, 40, 1000, 1020)):
            with run.store.db.atomic():
                reviews.add_reviews(
                    run.store,
                    [_decided(f"A000{place % 4}-k1.1", "keep", "ada", seconds=seconds)],
                    along=[],
                )
        after = read_progress(run)
        # 16 answers but four, and four workers; 20 s each.
        assert after.review_seconds == 20 * (16 - 4 + 4)


def _decide(page: Served, by: str, keys: list[str], acts: list[str]) -> None:
    with page.client(by) as client:
        for key, act in zip(keys, acts, strict=True):
            card = {"view": "answer", "key": key}
            text = client.get("/card", params=card).text
            token = text.partition('name="form_token" value="')[2].partition('"')[0]
            form = {**card, "form_token": token, "act": act, "because": "so"}
            assert client.post("/decide", data=form).status_code == 303


def test_the_joined_suspicion_stands_for_all_where_there_is_one() -> None:
    """Else the strongest of any flag; without flags there is none."""
    flag = _drawn("A")
    strong = replace(flag, heuristic="capitals", suspicion=0.99)
    joined = replace(flag, heuristic=JOINED, suspicion=0.93)
    assert joined_suspicion([strong, joined]) == 0.93
    assert joined_suspicion([strong, flag]) == 0.99
    assert joined_suspicion([]) == 0.0


def test_reasons_that_people_accept_are_counted_by_their_rule(tmp_path: Path) -> None:
    """Also those of answers that go with a rejection; what people write stays as it is."""
    because = "Set aside: {evidence}."
    campaign = CAMPAIGN.replace("Not what the page asks for.", because).replace(
        "{flagged} of {answers} answers repeat: {evidence}.", "Repeated: {evidence}."
    )
    with stores.opened(tmp_path, workers=4, campaign=campaign) as run:
        with run.store.db.atomic():
            run.store.db.execute(
                "UPDATE proposals SET because = 'Set aside: ' || subject_id || '.' "
                "WHERE subject_kind = 'answer'"
            )
            run.store.db.execute(
                "UPDATE proposals SET because = 'Repeated: ' || subject_id || '.' "
                "WHERE subject_kind = 'assignment'"
            )
        work = Work(run)
        for act, key, reason in (
            ("drop", "A0000-k3.1", ""),
            ("drop", "A0001-k3.1", ""),
            ("drop", "A0002-k3.1", "Set aside: a joke."),
            ("reject", "A0000-k1", ""),
            ("reject", "A0001-k1", "Repeated: the same joke."),
        ):
            group = group_of(work, "answer" if act == "drop" else "assignment", key)
            assert group is not None
            carry_out(group, act, because=reason, by="ada", seen=state_of(group))  # type: ignore[arg-type]
        model = report_model(report_facts(run))
        reasons = model.as_stated(model.verdicts)[model.verdicts["verdict"] != "approve"]
        assert reasons.value_counts().to_dict() == {
            "Set aside: ….": 2,
            "Set aside: a joke.": 1,
            "Repeated: ….": 1,
            f"{REJECTED_WITH}Repeated: ….": 2,
            "Repeated: the same joke.": 1,
            f"{REJECTED_WITH}Repeated: the same joke.": 2,
        }
        (question,) = [q for q in questions(model) if q.name == "What does not count"]
        assert question.points[0].startswith("2 answers: Set aside")
