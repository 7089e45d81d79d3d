"""Labels of models about a campaign's items."""

from dataclasses import dataclass

from piecework.domain.ids import ItemId


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineVote:
    """The label that a model gives an item.

    Attributes:
        model: the name of the model.
        item_id: the item.
        field: the field that is labelled.
        value: an option of the field.
        probability: how probable the model thinks the label; missing if it says none.
    """

    model: str
    item_id: ItemId
    field: str
    value: str
    probability: float | None = None
