"""One pass without Prefect: the five steps in their order, and where that has led."""

from domain.progress import Progress
from flows.steps import assess, collect, decide, launch, settle
from flows.steps.progress import progress
from flows.workplace import Workplace

STEPS = (assess.assess, decide.decide, settle.settle, launch.launch)
"""What follows once answers are collected, in this order."""


def whole_pass(place: Workplace, *, harvest: bool = False) -> Progress:
    """Do whatever is due, in order, and say how far the campaign is.

    Args:
        place: the campaign at work.
        harvest: ask open HITs for what they have got, however lately that was done.
    """
    collect.collect(place, harvest=harvest)
    for step in STEPS:
        step(place)
    return progress(place)
