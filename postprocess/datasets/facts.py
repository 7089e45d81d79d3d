"""What a dataset says about its own making, beside the answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from piecework.domain.dataset import Publication, Shares
from piecework.domain.task import Field, Task
from piecework.postprocess.datasets.pictures import Size
from piecework.postprocess.registry import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFacts:
    """How one dataset was made; nothing in it may identify a worker.

    Attributes:
        source_hash: sha256 of the campaign file.
        code_commit: the version of piecework, "" if unknown.
        is_rehearsal: workers were simulated; every file says so.
        is_imported: another tool collected the answers.
        is_drawn: what they say was drawn, and is not about the items; it says so, too.
        unfinished: what is still to come, in a sentence; every file says that too.
        wanted_per_item: accepted answers wanted for each item: "5", or "3 to 7" where
            it hangs on how sure a label is; "": that is not known.
        mixed_in: items with known answers that were mixed in to check workers; they are
            in no file.
        publication: what the requester says for whoever gets the dataset.
        sizes: of pictures that are known, by item id.
        rules: version by name of every cleaning rule that ran.
        settled: labels that a person settled, by item and field.
        is_part: the table has some of the items alone, with all answers about them; so
            nothing is made that all answers have to say together (probabilities of
            labels, participants, conditions).
        task: says what the columns are, and in which shape the files are written.
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
        default_factory=lambda: {rule.NAME: rule.VERSION for rule in RULES},
    )
    unfinished: str = ""
    mixed_in: int = 0
    is_imported: bool = False
    is_drawn: bool = False
    settled: Mapping[tuple[str, str], str] = field(default_factory=dict)
    is_part: bool = False

    @property
    def shares(self) -> Shares:
        """How items are divided into splits."""
        return self.publication.shares

    @property
    def title(self) -> str:
        """What people call the dataset."""
        return self.publication.title or self.campaign

    @property
    def open_fields(self) -> tuple[Field, ...]:
        """The fields of which a dataset has each answer: all but the personal ones."""
        return tuple(field for field in self.task.fields if not field.is_personal)

    @property
    def warning(self) -> str:
        """What a reader must not overlook, or "" where there is nothing of the kind."""
        rehearsed = (
            "REHEARSAL: all answers come from simulated workers. "
            "No person wrote, saw or judged anything here."
        )
        drawn = "What the answers say was drawn by chance and is not about the items."
        warnings = (
            rehearsed if self.is_rehearsal else "",
            drawn if self.is_drawn else "",
            self.unfinished,
        )
        return " ".join(filter(None, warnings))
