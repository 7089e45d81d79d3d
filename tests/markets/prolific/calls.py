"""Every operation of the client, called once: for laws that hold for all of them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from piecework.foundation.client.calls import Money
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.recruiting import Choice, Combined, Range
from piecework.markets.prolific.resources.studies import (
    CodeAction,
    CompletionCode,
    NewStudy,
    StudyChanges,
)

ID = "60ffe5c8371090c7041d43f8"
PARTICIPANT = "5e9b9c9d8f1b2a0a0a0a0a0a"
FILTERS = (
    Choice(filter_id="participant_group_blocklist", values=[ID]),
    Range(filter_id="approval_rate", lower=95, upper=100),
    Combined(
        by="or",
        filters=[
            Choice(filter_id="current-country-of-residence", values=["0"]),
            Range(filter_id="age", lower=18),
        ],
    ),
)
STUDY = NewStudy(
    name="Describe pictures",
    internal_name="birds/1/0",
    description="<p>Say what you see.</p>",
    url="https://hits.example.org/visit?PROLIFIC_PID={{%PROLIFIC_PID%}}",
    project=ID,
    places=20,
    reward_minor=150,
    minutes=10,
    most_minutes=29,
    codes=[
        CompletionCode(
            code="C1ABCDEF",
            code_type="COMPLETED",
            actions=[
                CodeAction(action="MANUALLY_REVIEW"),
                CodeAction(action="ADD_TO_PARTICIPANT_GROUP", participant_group=ID),
            ],
        ),
        CompletionCode(
            code="C2ABCDEF",
            code_type="OTHER",
            actions=[CodeAction(action="REQUEST_RETURN", return_reason="No work left")],
        ),
    ],
    filters=FILTERS,
    devices=["desktop", "mobile"],
    visits_per_participant=3,
    metadata="run 7",
)
REASON = "The sentences do not describe the pictures shown: " + "they are all the same. " * 3
AT = datetime(2026, 11, 22, 10, tzinfo=UTC)

Call = Callable[[Prolific], object]

READS: Mapping[str, Call] = {
    "me": lambda p: p.account.me(),
    "workspaces": lambda p: list(p.account.workspaces()),
    "workspace": lambda p: p.account.workspace(ID),
    "balance": lambda p: p.account.balance(ID),
    "projects": lambda p: list(p.account.projects(ID)),
    "filter_kinds": lambda p: list(p.recruiting.filter_kinds(ID)),
    "eligible_count": lambda p: p.recruiting.eligible_count(ID, FILTERS),
    "recruitment_time": lambda p: p.recruiting.recruitment_time(
        ID, FILTERS, reward_minor=150, places=20, minutes=10
    ),
    "reward_recommendations": lambda p: p.recruiting.reward_recommendations(ID, "GBP"),
    "study": lambda p: p.studies.get(ID),
    "studies": lambda p: list(p.studies.of_project(ID)),
    "cost": lambda p: p.studies.cost(ID, is_projected=True),
    "calculated_cost": lambda p: p.studies.calculated_cost_minor(reward_minor=150, places=20),
    "submission": lambda p: p.submissions.get(ID),
    "submissions": lambda p: list(p.submissions.of_study(ID)),
    "counts": lambda p: p.submissions.counts(ID),
    "group": lambda p: p.groups.get(ID),
    "groups": lambda p: list(p.groups.of_workspace(ID)),
    "participants": lambda p: list(p.groups.participants(ID)),
    "event_types": lambda p: p.webhooks.event_types(),
    "secrets": lambda p: p.webhooks.secrets(ID),
    "subscriptions": lambda p: p.webhooks.subscriptions(ID),
    "deliveries": lambda p: p.webhooks.deliveries(ID, most=100),
}
"""What only reads."""

REPEATED: Mapping[str, Call] = {
    "approve": lambda p: p.submissions.approve(ID),
    "reject": lambda p: p.submissions.reject(ID, category="LOW_EFFORT", message=REASON),
    "complete": lambda p: p.submissions.transition(ID, "COMPLETE", code="C1ABCDEF"),
}
"""What changes something, and may be made again by Prolific's own word."""

ONCE: Mapping[str, Call] = {
    "create_study": lambda p: p.studies.create(STUDY),
    "create_bonuses": lambda p: p.bonuses.create(ID, {ID: Money(minor=125, currency="GBP")}),
    "pay_bonuses": lambda p: p.bonuses.pay(ID),
    "send": lambda p: p.messages.send(PARTICIPANT, "Thank you.", study_id=ID),
    "send_bulk": lambda p: p.messages.send_bulk([PARTICIPANT], "Thanks.", study_id=ID),
    "create_project": lambda p: p.account.create_project(ID, "birds"),
    "create_test_participant": lambda p: p.testing.create_participant("a@b.example"),
    "create_test_study": lambda p: p.testing.create_study(ID),
    "create_group": lambda p: p.groups.create(ID, "birds-excluded", participant_ids=[PARTICIPANT]),
    "add": lambda p: p.groups.add(ID, [PARTICIPANT]),
    "remove": lambda p: p.groups.remove(ID, [PARTICIPANT]),
    "publish": lambda p: p.studies.transition(ID, "PUBLISH"),
    "schedule": lambda p: p.studies.transition(ID, "SCHEDULE_PUBLISH", at=AT),
    "change_study": lambda p: p.studies.change(
        ID, StudyChanges(places=30, visits_per_participant=4)
    ),
    "change_draft": lambda p: p.studies.change(
        ID,
        StudyChanges(
            internal_name="birds/1/1",
            name="Describe birds",
            description="<p>Say what you see.</p>",
            reward_minor=160,
            filters=FILTERS,
            codes=STUDY.codes,
        ),
    ),
    "delete_study": lambda p: p.studies.delete(ID),
    "request_return": lambda p: p.submissions.request_return(ID, ["No answers came."]),
    "bulk_approve": lambda p: p.submissions.bulk_approve([ID]),
    "create_secret": lambda p: p.webhooks.create_secret(ID),
    "subscribe": lambda p: p.webhooks.subscribe(
        ID, "study.status.change", "https://hits.example.org/visit/events"
    ),
    "unsubscribe": lambda p: p.webhooks.unsubscribe(ID),
}
"""What is made once, whatever becomes of it."""

ALL = {**READS, **REPEATED, **ONCE}
