"""`[gold]` of a campaign file: items with known answers, mixed in to check workers."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class GoldTable(BaseModel):
    """`[gold]`: which items, and how many of all that workers see are of these.

    With `feedback`, workers who were wrong about one are told.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, Field(min_length=1)]
    share: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    feedback: bool = False
