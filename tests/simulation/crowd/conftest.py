"""A real marketplace in rehearsal, and HITs posted to it as a requester posts them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

from piecework.domain.hit import Item
from piecework.domain.task import Task
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.wire import html_question

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient
    from mypy_boto3_mturk.type_defs import AssignmentTypeDef

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
LOCALE = "00000000000000000071"


@dataclass(frozen=True, slots=True)
class Market:
    """A running marketplace and one requester on it."""

    endpoint_url: str
    requester: "MTurkClient"
    task: Task

    def post(
        self,
        item_ids: Sequence[str],
        *,
        assignments: int = 5,
        allowed: timedelta = timedelta(hours=1),
        country: str = "US",
    ) -> str:
        """Post one HIT that shows these items; its id."""
        items = [
            Item(
                item_id=item_id,  # type: ignore[arg-type] # a plain text will do
                columns={"image_id": item_id, "url": f"/pictures/{item_id}.svg"},
            )
            for item_id in item_ids
        ]
        made = self.requester.create_hit(
            Title="Describe pictures",
            Description="One sentence each",
            Reward="0.50",
            MaxAssignments=assignments,
            LifetimeInSeconds=7 * 24 * 3600,
            AssignmentDurationInSeconds=int(allowed.total_seconds()),
            Question=html_question(render_hit(self.task, items)),
            QualificationRequirements=[
                {
                    "QualificationTypeId": LOCALE,
                    "Comparator": "EqualTo",
                    "LocaleValues": [{"Country": country}],
                }
            ],
        )
        return made["HIT"]["HITId"]

    def post_scenes(self, hits: int, *, assignments: int = 5) -> list[str]:
        """Post HITs of five drawn scenes each; their ids."""
        return [
            self.post(
                [f"scene_{number:04d}" for number in range(first, first + 5)],
                assignments=assignments,
            )
            for first in range(1, 5 * hits + 1, 5)
        ]

    def status(self, hit_id: str) -> str:
        """The HIT's status."""
        return self.requester.get_hit(HITId=hit_id)["HIT"]["HITStatus"]

    def assignments(self, hit_id: str) -> "list[AssignmentTypeDef]":
        """What was submitted for a HIT."""
        listed = self.requester.list_assignments_for_hit(HITId=hit_id, MaxResults=100)
        return listed["Assignments"]


Open = Callable[[], AbstractContextManager[Market]]


@pytest.fixture(scope="session")
def caption() -> Task:
    """The caption task, read from its folder."""
    return load_task("caption")


@pytest.fixture
def open_market(tmp_path: Path, caption: Task) -> Open:
    """Opens a marketplace with a fresh database, as often as it is called."""
    count = 0

    @contextmanager
    def market() -> Iterator[Market]:
        nonlocal count
        count += 1
        database = tmp_path / f"market-{count}.db"
        with serve(Marketplace(database, rehearsal=True, seed=1, start=START)) as running:
            requester = boto3.Session().client(
                "mturk",
                endpoint_url=running.endpoint_url,
                region_name="us-east-1",
                aws_access_key_id="REHEARSAL",
                aws_secret_access_key="rehearsal",  # noqa: S106 - opens nothing
            )
            yield Market(running.endpoint_url, requester, caption)
            requester.close()

    return market


@pytest.fixture
def market(open_market: Open) -> Iterator[Market]:
    """One open marketplace."""
    with open_market() as opened:
        yield opened
