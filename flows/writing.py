"""Cleaning and export as Prefect tasks: from accepted answers to files."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from flows.results import clean, export
from flows.wiring import place_of


@task(name="clean", cache_policy=NO_CACHE)
def clean_text(campaign: str) -> int:
    """Propose edits to all accepted text; how many there are."""
    return clean.clean(place_of(campaign))


@task(name="export", cache_policy=NO_CACHE)
def export_results(campaign: str) -> str:
    """Write dataset and report; the report's path."""
    return str(export.export(place_of(campaign)))


def write_results(campaign: str) -> str:
    """Clean, then write dataset and report; the report's path."""
    clean_text(campaign)
    return export_results(campaign)
