"""What a dataset is to become: how it is divided, and what only its makers can say."""

from dataclasses import dataclass, field
from typing import Literal

from piecework.domain.licences import Licence

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = ("train", "val", "test")

Pictures = Literal["addresses", "files"]
"""A dataset names the addresses of its pictures, or has the pictures beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How the items are divided into splits, in per cent; the rest is the test split.

    Attributes:
        seed: another one draws another division.
        group_by: a column of the items; those with the same value share a split.
            Without it those of the same picture (`url`) do.
    """

    train_percent: int = 70
    val_percent: int = 10
    seed: int = 1
    group_by: str = ""

    @property
    def test_percent(self) -> int:
        """What the other two leave."""
        return 100 - self.train_percent - self.val_percent


STATEMENTS = (
    *("licence", "items_licence", "contact"),
    *("citation", "consent", "ethics"),
)
"""What a dataset should not be published without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What a campaign file says for whoever gets the dataset; "" is not stated.

    Attributes:
        title: what people call the dataset.
        version: of the dataset, as three numbers.
        licence: of the answers.
        items_licence: of the items (the pictures), which are somebody else's as a rule.
        contact: whom to ask, and who mends what is wrong.
        citation: how to cite it, as text or BibTeX.
        consent: what workers were told, and agreed to.
        ethics: review, risks, and who might be harmed.
        homepage: an address.
        tags: words to find it by.
    """

    title: str = ""
    version: str = "1.0.0"
    licence: Licence | None = None
    items_licence: Licence | None = None
    contact: str = ""
    citation: str = ""
    consent: str = ""
    ethics: str = ""
    homepage: str = ""
    tags: tuple[str, ...] = ()
    pictures: Pictures = "addresses"
    shares: Shares = field(default_factory=Shares)

    @property
    def missing(self) -> tuple[str, ...]:
        """The keys of `[dataset]` without which it should not be published.

        >>> Publication(contact="ada@example.org", citation="x").missing
        ('licence', 'items_licence', 'consent', 'ethics')
        """
        return tuple(name for name in STATEMENTS if not getattr(self, name))
