"""A campaign: purpose and rules of one collection, as its file states them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from domain.hit import Item, QualificationRequirement
from domain.judgement import PolicyRule
from domain.money import FeeSchedule
from domain.task import Task

OutputFormat = Literal["vizwiz_json", "csv", "parquet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """What the campaign pays and what it may cost, in US cents."""

    reward_cents: int
    budget_cents: int
    wage_floor_cents_per_hour: int
    fees: FeeSchedule = field(default_factory=FeeSchedule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """How HITs are posted.

    Attributes:
        batches: how many batches the items are spread over.
        assignments: accepted answers wanted for each item.
        max_rounds: how often missing answers are posted again, per batch.
    """

    batches: int
    assignments: int
    items_per_hit: int
    lifetime_seconds: int
    assignment_duration_seconds: int
    auto_approval_delay_seconds: int
    max_rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalPlan:
    """Who pretends to work when the campaign is rehearsed.

    Attributes:
        crowd: how many simulated workers have each trait.
        replay: captions that real people wrote, for honest workers to send again.
        scenes: how many pictures the project draws itself; 0 with an items file.
    """

    seed: int
    crowd: Mapping[str, int]
    replay: Path | None = None
    scenes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything that a campaign file says, checked.

    Attributes:
        source_hash: sha256 of the campaign file's bytes.
        pictures: folder of pictures that the marketplace serves, if items name files.
        heuristics: parameters by heuristic name; a heuristic that is absent runs with
            its defaults, `None` switches it off.
        decided_by: `policy` decides by `policy`; `person` waits for people where
            anything is flagged.
    """

    name: str
    path: Path
    source_hash: str
    description: str
    task: Task
    title: str
    hit_description: str
    keywords: tuple[str, ...]
    items: tuple[Item, ...]
    pictures: Path | None
    posting: Posting
    rewards: Rewards
    requirements: tuple[QualificationRequirement, ...]
    exclusion_name: str
    heuristics: Mapping[str, Mapping[str, object] | None]
    decided_by: Literal["policy", "person"]
    policy: tuple[PolicyRule, ...]
    formats: tuple[OutputFormat, ...]
    out: Path
    rehearsal: RehearsalPlan
