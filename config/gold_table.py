"""`[gold]` of a campaign file: items with known answers, mixed in to check workers."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from piecework.config.named import Names


class GoldTable(BaseModel):
    """`[gold]`: the gold items, and their share of all items that workers see.

    With `feedback`, workers are told if they were wrong about a gold item.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, Field(min_length=1), Names.INPUT]
    share: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    feedback: bool = False
