"""`words`: what cleaning doubts, and what people say about it."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from piecework.cli.options import JSON
from piecework.domain.counts import plural
from piecework.domain.money import shown

_SHOWN = 20


@click.command()
@click.argument("path", metavar="CAMPAIGN", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "asked_in",
    metavar="CAMPAIGN",
    type=click.Path(path_type=Path),
    help="Take the decisions of this campaign's workers, whose task is which_word.",
)
@JSON
def words(path: Path, *, asked_in: Path | None, as_json: bool) -> None:
    """Show or decide words that cleaning doubts.

    Without options the command lists the words about which cleaning is unsure, how many
    mistakes to expect in them, and what it costs to ask three workers about each.

    Examples:
      piecework words birds.toml
      piecework export birds.toml --items-for which_word birds_words.csv
      piecework words birds.toml --from birds_words.toml
    """
    if asked_in is not None:
        _take(path, asked_in, as_json=as_json)
    else:
        _list(path, as_json=as_json)


def _take(path: Path, asked_in: Path, *, as_json: bool) -> None:
    """Store the decisions of another campaign's workers, and clean again."""
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.results.cleaning import clean_answers
    from piecework.results.word_questions import take_words

    with (
        open_to_look(load_campaign(path)) as opened,
        open_to_look(load_campaign(asked_in)) as asked,
    ):
        clean_answers(opened)
        taken = take_words(opened, asked)
        number = clean_answers(opened)
    if as_json:
        click.echo(json.dumps({**asdict(taken), "edits": number}, indent=2))
        return
    click.echo(
        f"{plural(taken.replaced, 'word')} replaced, {taken.right:,} right as "
        f"written, {taken.unsure:,} still unsure"
    )
    if taken.by_reviewer:
        click.echo(f"decided by a reviewer before: {taken.by_reviewer:,}")
    if taken.unknown:
        click.echo(f"no longer doubted: {taken.unknown:,}")
    click.echo(f"cleaning now makes {plural(number, 'edit')}")
    click.echo(f"next: piecework export {path}")


def _list(path: Path, *, as_json: bool) -> None:
    """Show the words, the mistakes to expect in them, and the price of answers."""
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.hit_templates.tasks import load_task
    from piecework.results.cleaning import clean_answers
    from piecework.results.word_questions import TASK, cost, word_questions

    with open_to_look(load_campaign(path)) as opened:
        clean_answers(opened)
        questions = word_questions(opened)
        price = cost(opened, len(questions), load_task(TASK, beside=Path()))
        currency = opened.campaign.rewards.currency
    mistakes = sum(question.mistakes for question in questions)
    if as_json:
        facts = {
            "words": [asdict(question) for question in questions],
            "mistakes": round(mistakes, 1),
            **asdict(price),
        }
        click.echo(json.dumps(facts, indent=2))
        return
    for question in questions[:_SHOWN]:
        click.echo(f"{question.times:>5} {question.word}  {question.proposed}?")
    if len(questions) > _SHOWN:
        click.echo(f"and {len(questions) - _SHOWN:,} more")
    click.echo(f"{plural(len(questions), 'word')} that cleaning doubts")
    if questions:
        click.echo(
            f"{mistakes:.0f} mistakes to expect in them. Three answers to each cost "
            f"{shown(price.cents, currency)}: {plural(price.hits, 'HIT')} of {TASK}"
        )
        click.echo(f"next: piecework export {path} --items-for {TASK} words.csv")
