"""`workers`: who worked on a campaign, and who is offered no more of it."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON


@click.command()
@CAMPAIGN
@click.argument("act", type=click.Choice(["exclude", "include"]), required=False)
@click.argument("worker", metavar="[PSEUDONYM]", required=False)
@click.option("--because", help="Why; it is kept, and the worker is not told.")
@click.option("--by", help="Who answers for it; left out, your name on this machine.")
@JSON
def workers(
    campaign: Path,
    *,
    act: str | None,
    worker: str | None,
    because: str | None,
    by: str | None,
    as_json: bool,
) -> None:
    """List the workers of a campaign, exclude one, or include one again.

    Workers are named by the pseudonym that dataset and report show. Anybody may be
    excluded, flagged or not, at any time: whoever is, is offered no later HIT of the
    campaign; what was sent or is in hand is judged and paid as before. A person whom
    you include is not excluded by the policy any more.

    \b
    Example:  piecework workers birds.toml
              piecework workers birds.toml exclude 1f3a… --because "One word each."
              piecework workers birds.toml include 1f3a… --because "It was the page."
    """  # noqa: D301 - click's mark for lines that stay lines
    if act is None:
        from piecework.cli.work.workers import say_workers

        say_workers(campaign, as_json=as_json)
        return
    if not worker or not (because or "").strip():
        raise click.UsageError(f"{act} needs a PSEUDONYM and --because REASON")
    from piecework.cli.work.workers import decide_by_hand

    decide_by_hand(
        campaign, act, worker, because=str(because).strip(), by=by, as_json=as_json
    )
