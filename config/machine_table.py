"""`[machine]` of a campaign file: labels of models, which join people's votes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Path = Annotated[str, Field(min_length=1)]


class MachineTable(BaseModel):
    """`[machine]`: one file of labels, or several, and the field that they label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    votes: _Path | Annotated[list[_Path], Field(min_length=1)]
    field: _Path | None = None

    @property
    def files(self) -> list[str]:
        """The files, as written."""
        return [self.votes] if isinstance(self.votes, str) else self.votes
