"""`store`: copies a campaign's store between a file and a database."""

import json

import click

from piecework.cli.lazy_group import LazyGroup
from piecework.cli.options import JSON
from piecework.domain.counts import plural


@click.group(cls=LazyGroup)
def store() -> None:
    """Copy a store between a file and PostgreSQL.

    Examples:
      piecework store copy out/birds postgresql://ann@db.example.org/labels
      piecework store copy postgresql://ann@db/labels#piecework_birds out/birds
    """


@store.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@JSON
def copy(*, source: str, target: str, as_json: bool) -> None:
    """Copy a store and verify the copy.

    FROM and TO are a campaign's folder, a file with records of earned
    qualifications, or the URL of a PostgreSQL database. A URL may
    end with `#` and the name of a schema. Without it, a store keeps its schema, and a
    store in a file gets one that is named after its campaign. A URL may have
    ${VARIABLES} of the environment.

    No pass may work on the store meanwhile. TO must have no store yet. If copying stops
    half-way, TO still has none. FROM stays as it is: do not use both.

    Examples:
      piecework store copy out/birds postgresql://ann@db.example.org/labels
      piecework store copy postgresql://ann@db/labels#piecework_birds out/birds
    """
    from piecework.store.copying import copy as copy_store
    from piecework.store.copying import resolved

    old, new = resolved(_expanded(source), _expanded(target))
    done = copy_store(old, new)
    rows = sum(done.rows.values())
    if as_json:
        facts = {
            "from": str(old),
            "to": str(new),
            "schema": new.schema,
            "rows": done.rows,
            "sha256": done.digest,
        }
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(f"{plural(rows, 'row')} of {plural(len(done.rows), 'table')} copied to {new}")
    click.echo(f"both stores have the same rows (sha256 {done.digest[:16]})")
    if new.url:
        click.echo("next: set `[store] url` in the campaign file to this URL")
    else:
        click.echo("next: remove `[store] url` from the campaign file")
    click.echo(f"then keep {old} only as a copy: two stores would post and pay twice")


def _expanded(name: str) -> str:
    from piecework.config.user_files import with_secrets

    return with_secrets(name)
