"""`[machine]` of a campaign file: what models say about the items.

Labels of models join people's votes. Texts of models are samples, with which people's
texts are compared.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from piecework.config.named import Names

_Path = Annotated[str, Field(min_length=1), Names.INPUT]


class MachineTable(BaseModel):
    """`[machine]`: files of labels, the field that they label, and a file of texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    votes: _Path | Annotated[list[_Path], Field(min_length=1)] | None = None
    field: Annotated[str, Field(min_length=1), Names.NOTHING] | None = None
    texts: _Path | None = None

    @model_validator(mode="after")
    def _names_a_file(self) -> "MachineTable":
        if self.votes is None and self.texts is None:
            raise ValueError("name a file of labels (votes), or of texts (texts)")
        if self.votes is None and self.field is not None:
            raise ValueError("field is for labels; name their file in votes")
        return self

    @property
    def files(self) -> list[str]:
        """The files of labels, as written."""
        if self.votes is None:
            return []
        return [self.votes] if isinstance(self.votes, str) else self.votes
