"""The information about how a dataset was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from piecework.domain.campaign import MachineVote
from piecework.domain.dataset import Publication, Shares
from piecework.domain.field import Field
from piecework.domain.task import Task
from piecework.postprocess.apply import RULES
from piecework.postprocess.datasets.pictures import Size


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFacts:
    """How a dataset was made; nothing in it may identify a worker.

    Attributes:
        source_hash: the sha256 of the campaign file.
        code_commit: the version of piecework, "" if unknown.
        is_rehearsal: whether workers were simulated; every file says so.
        is_imported: whether another tool collected the answers.
        has_markets: whether the table states the market of each answer.
        is_drawn: whether the answers are random and not about the items; every file
            says so.
        unfinished: a sentence about what is still missing; every file contains it.
        wanted_per_item: accepted answers wanted for each item: "5", or "3 to 7" if it
            depends on how sure a label is; "" if unknown.
        mixed_in: items with known answers that were mixed in to check workers; no file
            contains them.
        publication: what the requester states for users of the dataset.
        sizes: the known sizes of pictures, by item id.
        rules: the version of each cleaning rule that ran, by name.
        machine: labels of models, which shift the probabilities of labels.
        settled: labels that a person settled, by item and field.
        labels: the labels of boxes that a page offers, in its order, by field.
        marked_texts: the texts in which spans count, by field and item.
        sent_columns: the columns of what was sent for no field, by the name sent.
        is_part: whether the table has only some of the items, with all answers about
            them; then nothing is computed that needs all answers (probabilities of
            labels, participants, conditions).
        task: defines the columns and the layout of the files.
    """

    campaign: str
    purpose: str
    task: Task
    source_hash: str
    code_commit: str
    is_rehearsal: bool
    wanted_per_item: str
    publication: Publication = field(default_factory=Publication)
    sizes: Mapping[str, Size] = field(default_factory=dict)
    rules: Mapping[str, int] = field(
        default_factory=lambda: {rule.NAME: rule.VERSION for rule in RULES}
    )
    unfinished: str = ""
    mixed_in: int = 0
    is_imported: bool = False
    has_markets: bool = False
    is_drawn: bool = False
    machine: Sequence[MachineVote] = ()
    settled: Mapping[tuple[str, str], str] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    marked_texts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    sent_columns: Mapping[str, str] = field(default_factory=dict)
    is_part: bool = False

    @property
    def shares(self) -> Shares:
        """The shares of the splits."""
        return self.publication.shares

    @property
    def title(self) -> str:
        """The dataset's title for people."""
        return self.publication.title or self.campaign

    @property
    def open_fields(self) -> tuple[Field, ...]:
        """The fields published with each answer: all except the personal ones."""
        return tuple(field for field in self.task.fields if not field.is_personal)

    @property
    def warning(self) -> str:
        """The warning that readers must not overlook, or "" if there is none."""
        rehearsed = (
            "REHEARSAL: all answers come from simulated workers. "
            "No person wrote, saw or judged anything here."
        )
        drawn = "The answers were drawn at random and are not about the items."
        warnings = (
            rehearsed if self.is_rehearsal else "",
            drawn if self.is_drawn else "",
            self.unfinished,
        )
        return " ".join(filter(None, warnings))
