"""What a dataset says about its own making, beside the answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.task import Aggregate, Conditions, DatasetKind, Field
from postprocess.registry import RULES
from postprocess.splits import Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFacts:
    """How one dataset was made; nothing in it may identify a worker.

    Attributes:
        source_hash: sha256 of the campaign file.
        code_commit: the version of piecework, "" if unknown.
        is_rehearsal: workers were simulated; every file says so.
        unfinished: what is still to come, in a sentence; every file says that too.
        wanted_per_item: accepted answers wanted for each item.
        rules: version by name of every cleaning rule that ran.
        dataset: captions, or answers: then `fields`, `aggregates`, `ordered` (names of
            what the page shuffled) and `main_text` say what the columns are, and
            `conditions` which conditions have a table of their own.
    """

    campaign: str
    purpose: str
    task: str
    task_version: int
    source_hash: str
    code_commit: str
    is_rehearsal: bool
    wanted_per_item: int
    canned_text: str = ""
    shares: Shares = field(default_factory=Shares)
    rules: Mapping[str, int] = field(
        default_factory=lambda: {rule.NAME: rule.VERSION for rule in RULES},
    )
    dataset: DatasetKind = "captions"
    fields: tuple[Field, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    conditions: tuple[Conditions, ...] = ()
    ordered: tuple[str, ...] = ()
    main_text: str = ""
    unfinished: str = ""

    @property
    def open_fields(self) -> tuple[Field, ...]:
        """The fields of which a dataset has each answer: all but the personal ones."""
        return tuple(field for field in self.fields if not field.is_personal)

    @property
    def warning(self) -> str:
        """What nobody may overlook, or "" where there is nothing of the kind."""
        rehearsed = (
            "REHEARSAL: all answers come from simulated workers. "
            "No person wrote, saw or judged anything here."
        )
        said = [rehearsed] if self.is_rehearsal else []
        return " ".join([*said, *filter(None, [self.unfinished])])
