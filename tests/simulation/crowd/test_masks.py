"""Masks that simulated workers paint."""

import json
from random import Random

from piecework.hit_templates.own_html.control_kinds import Control
from piecework.simulation.crowd.regions import regions


def test_no_two_labels_have_one_colour() -> None:
    """A colour is all that tells a label, however many there are."""
    labels = dict.fromkeys((f"Kind {n}" for n in range(40)), "")
    control = Control(name="a", kind="text", element="crowd-semantic-segmentation", options=labels)
    truth, own = Random(1), Random(1)  # noqa: S311 - no secret
    mappings = json.loads(regions(control, truth, own, accuracy=1))["labelMappings"]
    assert len({mapping["color"] for mapping in mappings.values()}) == len(labels)
