"""What the demo's report says first, and its bonuses, reckoned again from the store.

From rows of SQLite and what workers sent, by plain Python; the report's own facts and
tables are not used.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import median

import pytest

from piecework.engine.payments.due_bonuses import top_ups
from piecework.results.whole_pass import write_results
from tests.end_to_end.evidence.rehearsed import Listened, listened
from tests.end_to_end.evidence.world import is_near, is_share

DEMO = Path(__file__).resolve().parents[2] / "config/campaigns/demo.toml"
FLOOR_CENTS, REWARD_CENTS, FEE_CENTS = 1000, 100, 20
HIGHER_FLOOR_CENTS = 2000


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Listened, str]]:
    """The rehearsal, and its report's words."""
    with listened(DEMO, tmp_path_factory.mktemp("demo") / "out") as heard:
        write_results(heard.run)
        yield heard, (heard.campaign.out / "report.md").read_text(encoding="utf-8")


def _match_in(pattern: str, report: str) -> re.Match[str]:
    match = re.search(pattern, report)
    assert match, pattern
    return match


def _verdicts(heard: Listened, kind: str) -> dict[str, str]:
    rows = heard.connection.execute(
        "SELECT subject_id, verdict FROM decisions WHERE subject_kind = ? ORDER BY decision_id",
        [kind],
    )
    return dict(rows.fetchall())


def test_answers_are_counted_as_they_came(demo: tuple[Listened, str]) -> None:
    """Images, accepted captions, what was dropped and what is left."""
    heard, report = demo
    answers, verdicts = heard.answers, _verdicts(heard, "answer")
    kept = [answer for answer in answers if verdicts[answer.answer_id] == "keep"]
    per_item = Counter(answer.item_id for answer in kept)
    canned = heard.campaign.task.canned_text
    novel = [answer for answer in kept if answer.sent["caption"].strip() != canned]
    match = _match_in(r"\| Images \| (\d+) \| (\d+) with all 5 accepted answers \|", report)
    assert (int(match[1]), int(match[2])) == (
        len(heard.campaign.items),
        sum(number >= 5 for number in per_item.values()),
    )
    match = _match_in(
        r"\| Accepted captions \| (\d+) \| (\d+) free text, (\d+) canned; (\d+) wanted \|", report
    )
    assert [*map(int, match.groups())] == [
        len(kept),
        len(novel),
        len(kept) - len(novel),
        5 * len(heard.campaign.items),
    ]
    match = _match_in(
        r"(\d+) of (\d+) answers \((\S+ %)\) were dropped or rejected; (\S+ %) became", report
    )
    lost = len(answers) - len(kept)
    assert (int(match[1]), int(match[2])) == (lost, len(answers))
    assert is_share(match[3], lost, len(answers))
    assert is_share(match[4], len(novel), len(answers))


def test_money_and_time_are_what_was_paid_and_worked(demo: tuple[Listened, str]) -> None:
    """Rewards with fees, hours, the median wage, and who earned less than the floor."""
    heard, report = demo
    approved = Counter(_verdicts(heard, "assignment").values())["approve"]
    match = _match_in(r"\| Would have cost \| \$(\S+) \| of a budget of \$130.00", report)
    assert float(match[1]) * 100 == approved * (REWARD_CENTS + FEE_CENTS)
    pay, seconds = Counter[str](), defaultdict[str, float](float)
    seconds_paid = defaultdict[str, float](float)
    for worker, accepted, submitted, verdict in heard.connection.execute(
        "SELECT worker_id, accepted_at, submitted_at, verdict FROM assignments"
    ):
        worked = datetime.fromisoformat(submitted) - datetime.fromisoformat(accepted)
        seconds[worker] += worked.total_seconds()
        if verdict == "approve":
            pay[worker] += REWARD_CENTS
            seconds_paid[worker] += worked.total_seconds()
    wages = sorted(pay[name] * 3600 / worked for name, worked in seconds_paid.items())
    match = _match_in(r"\| Workers \| (\d+) \| (\S+) h of work; (\d+) excluded \|", report)
    excluded = Counter(_verdicts(heard, "worker").values())["exclude"]
    assert (int(match[1]), int(match[3])) == (len(seconds), excluded)
    assert is_near(match[2], sum(seconds.values()) / 3600)
    match = _match_in(r"\| Median wage \| \$(\S+)/h \| .*hourly\\_wage, \$10.00/h", report)
    assert match[1] == f"{math.floor(median(wages)) / 100:.2f}"
    match = _match_in(
        r"(\d+) of (\d+) (?:paid )?workers \((\S+ %)\) earned less than "
        r"hourly\\_wage, \$10.00/h; the least was \$(\S+)/h",
        report,
    )
    below = sum(wage < FLOOR_CENTS for wage in wages)
    assert (int(match[1]), int(match[2])) == (below, len(wages))
    assert is_share(match[3], below, len(wages))
    assert match[4] == f"{math.floor(wages[0]) / 100:.2f}"


def test_rejections_and_days_are_as_they_were(demo: tuple[Listened, str]) -> None:
    """How many are without pay, by whom; from when to when, in UTC."""
    heard, report = demo
    rejected = Counter(_verdicts(heard, "assignment").values())["reject"]
    match = _match_in(
        r"(\d+) assignments? rejected without pay: (\d+) by the stated policy", report
    )
    assert int(match[1]) == int(match[2]) == rejected
    moments = heard.connection.execute(
        "SELECT min(posted_at), max(submitted_at) FROM hits LEFT JOIN assignments USING (hit_id)"
    ).fetchone()
    begun, last = (moment[:16].replace("T", " ") for moment in moments)
    match = _match_in(
        r"finished: (\d{4}-\d\d-\d\d \d\d:\d\d) to (\d{4}-\d\d-\d\d \d\d:\d\d) UTC", report
    )
    assert match[1] == begun
    assert last <= match[2]


@pytest.mark.full
def test_a_bonus_says_the_time_that_it_is_for(demo: tuple[Listened, str]) -> None:
    """With a floor that the demo does not meet: median, amount, and to the cent."""
    heard, _ = demo
    rewards = replace(heard.campaign.rewards, wage_floor_cents_per_hour=HIGHER_FLOOR_CENTS)
    campaign = replace(heard.campaign, rewards=rewards)
    plan = top_ups(replace(heard.run, campaign=campaign))
    kind_of, seconds = {}, defaultdict[tuple[str, int], list[float]](list)
    for name, kind, items, accepted, submitted in heard.connection.execute(
        "SELECT assignment_id, hit_type_id, item_ids, accepted_at, submitted_at FROM "
        "assignments JOIN hits USING (hit_id) WHERE verdict = 'approve'"
    ):
        kind_of[name] = kind, items.count('"') // 2
        worked = datetime.fromisoformat(submitted) - datetime.fromisoformat(accepted)
        seconds[kind_of[name]].append(worked.total_seconds())
    due = {payment.bonus.assignment_id: payment.bonus for payment in plan.due}
    for name, kind in kind_of.items():
        usual = median(seconds[kind])
        lacking = math.ceil(HIGHER_FLOOR_CENTS * usual / 3600) - REWARD_CENTS
        assert (due[name].cents if name in due else 0) == max(lacking, 0)
        if lacking > 0:
            match = re.fullmatch(
                r"Top-up: the median time of a HIT like this was (\S+) minutes, and it "
                r"shall not pay less than \$20.00 an hour\.",
                due[name].reason,
            )
            assert match
            assert is_near(match[1], usual / 60)
    assert due
