"""People as a function: a program asks about items, and gets labels.

The campaign is one that grows, from a JSON Lines file. What a program asks about is
appended to this file; passes do the rest, as for every other row. So a key is asked
about once, however often and wherever the program dies, and a schedule can make the
passes instead.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from piecework.campaign.assembling import assemble
from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.questions import faults_of_row
from piecework.config.asked_rows import MOST_FAULTS, alone, append_new
from piecework.config.campaign_file import parse
from piecework.config.sources import TableFile
from piecework.config.trust import deployment_path, read_deployment
from piecework.domain.campaign import Campaign
from piecework.domain.errors import CampaignBusy, ConfigError, NotAnswered, StoreError
from piecework.domain.growing import SourceRow
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.money import cents_from_text
from piecework.domain.progress import Progress
from piecework.domain.task import MIXED_IN, PRACTICE
from piecework.domain.text import plural, shell_word
from piecework.engine.opening import open_to_look
from piecework.engine.pass_request import PassRequest
from piecework.library.frames import require_columns
from piecework.results.item_labels import (
    ItemLabel,
    are_finished,
    are_over,
    field_with_label,
    finished,
    item_labels,
    latest_items,
)
from piecework.results.whole_pass import advance_without_prefect
from piecework.simulation.rehearsals.campaign import with_known_rows
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store import source, waiting_runs
from piecework.store.waiting_runs import WaitingRun

RAISE: Final = "raise"
"""For `on_timeout`: raise `NotAnswered`."""

_REHEARSED = "-rehearsed"

_RESERVED = (MIXED_IN, PRACTICE)
"""Columns that would make a row another kind of item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What people answered to a question.

    Attributes:
        task: the key of the question.
        label: the likeliest option; for other fields the options that most people
            ticked, the mean, the best edit, or the texts. `on_timeout` if it is not
            answered.
        probability: of the label, by the model `ability`; NaN if it has none.
        answers: accepted answers.
        cost: its share of rewards and fees, in the campaign's currency.
        is_final: whether no worker is asked any more.
    """

    task: str
    label: object
    probability: float
    answers: int
    cost: float
    is_final: bool


def ask(
    item: Mapping[str, object],
    *,
    campaign: str | PathLike[str],
    key: str | int,
    field: str | None = None,
    timeout: float | None = None,
    on_timeout: object = RAISE,
    poll_seconds: float = 60,
    rehearse: bool = False,
) -> Answer:
    """Ask people about one item, and wait for the answer.

    The same key is asked about once and paid once, even if the program dies and asks
    again; when it is answered, this returns at once. See `ask_table` for many items.

    Args:
        item: the cells that the page shows, by column.
        campaign: path of the campaign file; `[items]` has a `file` that ends in
            `.jsonl`, and the items grow (`[grows]`).
        key: names the question. The same key with another item is refused.
        field: the field to return; default: the only field with a label.
        timeout: seconds to wait; `None`: until it is answered. 0 makes one pass.
        on_timeout: returned as label if the time is over; "raise" raises.
        poll_seconds: how long to wait between two passes.
        rehearse: let simulated workers answer in virtual time, at no cost.

    Raises:
        ConfigError: the campaign, item or key cannot be used; nothing is asked.
        NotAnswered: the time is over, or the campaign cannot buy more answers.
        PieceworkError: a pass failed; asking again continues.
    """
    asking = _Asking.of(campaign, rehearse=rehearse)
    row = {**item, asking.id_column: key}
    (answer,) = asking.ask(
        [asking.row("item", row)],
        field=field,
        timeout=timeout,
        on_timeout=on_timeout,
        poll_seconds=poll_seconds,
    )
    return answer


def begin_to_wait(
    campaign: str | PathLike[str], run_id: str, keys: Sequence[str], *, deadline: datetime | None
) -> bool:
    """Record that a flow run is to be suspended until questions are answered.

    Args:
        campaign: as for `ask`.
        run_id: id of the flow run.
        keys: of the questions.
        deadline: when the run continues without answers; `None`: never.

    Returns:
        Whether it was recorded; not if waiting cannot help, so that no pass would let the
        run continue for another reason.
    """
    asking = _Asking.of(campaign, rehearse=False)
    with asking.looked() as opened:
        if opened is not None and are_over(opened, keys):
            return False
    waiting_runs.keep(asking.campaign.out, run_id, WaitingRun(keys=keys, deadline=deadline))
    return True


def ask_table(
    table: pd.DataFrame,
    *,
    campaign: str | PathLike[str],
    key: str | None = None,
    field: str | None = None,
    timeout: float | None = None,
    on_timeout: object = RAISE,
    poll_seconds: float = 60,
    rehearse: bool = False,
) -> pd.DataFrame:
    """Ask people about each row of a table, and wait for the labels.

    Args:
        table: one row per item, with the columns that the page shows.
        campaign: as for `ask`.
        key: the column of the keys; default: the task's id column.
        field: as for `ask`.
        timeout: as for `ask`.
        on_timeout: the label of rows that are not answered in time; "raise" raises.
        poll_seconds: as for `ask`.
        rehearse: as for `ask`.

    Returns:
        The rows in the same order, with the same index, and the columns `task`, `label`
        (object), `probability`, `answers` (int64), `cost` (in the campaign's currency)
        and `is_final`.

    Raises:
        ConfigError: the campaign or rows cannot be used; nothing is asked.
        NotAnswered: as for `ask`.
        PieceworkError: as for `ask`.
    """
    asking = _Asking.of(campaign, rehearse=rehearse)
    column = key or asking.id_column
    require_columns(table, [column], name="table")
    if column != asking.id_column and asking.id_column in table.columns:
        raise ConfigError(
            [f"table: key {column!r} would replace the column {asking.id_column!r}"],
            next_step=f"table.drop(columns={asking.id_column!r})",
        )
    named = table.rename(columns={column: asking.id_column})
    rows = [
        asking.row(f"table: row {label!r}", dict(zip(named.columns, cells, strict=True)))
        for label, cells in zip(
            named.index.tolist(), named.itertuples(index=False, name=None), strict=True
        )
    ]
    answers = asking.ask(
        rows, field=field, timeout=timeout, on_timeout=on_timeout, poll_seconds=poll_seconds
    )
    return pd.DataFrame(
        {
            "task": pd.Series([each.task for each in answers], table.index, dtype="str"),
            "label": pd.Series([each.label for each in answers], table.index, dtype="object"),
            "probability": pd.Series(
                [each.probability for each in answers], table.index, dtype="float64"
            ),
            "answers": pd.Series([each.answers for each in answers], table.index, dtype="int64"),
            "cost": pd.Series([each.cost for each in answers], table.index, dtype="float64"),
            "is_final": pd.Series([each.is_final for each in answers], table.index, dtype="bool"),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """A campaign that programs ask."""

    path: Path
    campaign: Campaign
    source: TableFile
    request: PassRequest | None
    """`None`: a rehearsal."""

    @classmethod
    def of(cls, path: str | PathLike[str], *, rehearse: bool) -> "_Asking":
        path = Path(path).absolute()
        campaign = assemble(parse(path))
        source = campaign.growth.source if campaign.growth else None
        if not isinstance(source, TableFile) or source.path.suffix != ".jsonl":
            raise ConfigError(
                [f"{path}: programs can only ask a campaign that grows from a file"],
                next_step='set items = "asked.jsonl", and add a table [grows]',
            )
        if source.renamed:
            raise ConfigError(
                [f"{path}: items.columns renames columns, but programs write the file"],
                next_step="remove [items.columns]",
            )
        if rehearse:
            out = campaign.out.with_name(campaign.out.name + _REHEARSED)
            source = replace(source, path=out / source.path.name)
            assert campaign.growth is not None  # noqa: S101 - it has a source
            growth = replace(campaign.growth, source=source)
            campaign = replace(campaign, out=out, growth=growth)
        request = None if rehearse else _request(path, campaign)
        if request is not None and request.rehearsal:
            campaign = request.assembled
        return cls(path=path, campaign=campaign, source=source, request=request)

    @property
    def id_column(self) -> str:
        return self.campaign.task.columns[0]

    def row(self, located: str, cells: Mapping[str, object]) -> SourceRow:
        """Return a row of the file; its faults are found by `ask`."""
        try:
            texts = {str(name): _text(cell) for name, cell in cells.items()}
        except TypeError as fault:
            raise ConfigError([f"{located}: {fault}"]) from fault
        return self.source.row(located, texts)

    def ask(
        self,
        rows: Sequence[SourceRow],
        *,
        field: str | None,
        timeout: float | None,
        on_timeout: object,
        poll_seconds: float,
    ) -> list[Answer]:
        """Ask about rows, in their order."""
        wanted = field_with_label(self.campaign.task, field)
        keys = [row.row_id for row in rows]
        if not rows:
            return []
        _refuse_twice(rows)
        if not self._are_finished(rows):
            is_raised = isinstance(on_timeout, str) and on_timeout == RAISE
            self._refuse_faults(rows)
            # A crowd that works does not know rows that another program appends.
            one_at_a_time = alone(self.source.path) if self.request is None else nullcontext()
            with one_at_a_time:
                append_new(self.source, rows)
                self._work(keys, timeout, poll_seconds, is_raised=is_raised)
        with self.looked() as opened:
            items = latest_items(opened, keys) if opened else {}
            ids = {row_id: item.item_id for row_id, item in items.items()}
            known = [ids[key] for key in keys if key in ids]
            final = finished(opened, known) if opened else frozenset()
            labels = item_labels(opened, wanted, known) if opened and known else {}
        return [
            self._answer(key, labels.get(item_id), on_timeout, is_final=item_id in final)
            for key in keys
            for item_id in [ids.get(key, ItemId(""))]
        ]

    @staticmethod
    def _answer(key: str, label: ItemLabel | None, on_timeout: object, *, is_final: bool) -> Answer:
        if label is None or not is_final:
            label = ItemLabel(
                label=on_timeout,
                probability=math.nan,
                answers=label.answers if label else 0,
                cost_cents=label.cost_cents if label else 0,
            )
        return Answer(
            task=key,
            label=label.label,
            # The one NaN that is equal to itself in a comparison of answers.
            probability=math.nan if math.isnan(label.probability) else label.probability,
            answers=label.answers,
            cost=label.cost_cents / 100,
            is_final=is_final,
        )

    def _are_finished(self, rows: Sequence[SourceRow]) -> bool:
        """Whether all rows are answered, and none has other cells now."""
        with self.looked() as opened:
            return opened is not None and self._has_finished(
                opened, [row.row_id for row in rows], rows
            )

    def _has_finished(
        self, opened: OpenedCampaign, keys: Sequence[str], rows: Sequence[SourceRow] = ()
    ) -> bool:
        known = latest_items(opened, keys)
        faults = [
            f"{row.located}: {row.row_id!r} was asked before, with other cells"
            for row in rows
            if row.row_id in known and known[row.row_id].digest != row.digest(None)
        ]
        if faults:
            raise ConfigError(faults[:MOST_FAULTS], next_step="give a changed row a new key")
        return are_finished(opened, keys)

    @contextmanager
    def looked(self) -> Iterator[OpenedCampaign | None]:
        """Open the store to look; `None` if nothing was asked yet."""
        with ExitStack() as stack:
            opened = None
            with suppress(StoreError):
                opened = stack.enter_context(open_to_look(self.campaign))
            yield opened

    def _refuse_faults(self, rows: Sequence[SourceRow]) -> None:
        gold = {str(item.item_id) for item in self.campaign.gold}
        faults = []
        for row in rows:
            own = self.source.faults(row) + [
                f"{row.located}: the column {name!r} is reserved; rename it"
                for name in _RESERVED
                if name in row.cells
            ]
            if row.row_id in gold:
                # In the file, it would make the campaign file faulty for good.
                own.append(f"{row.located}: {row.row_id!r} is the id of a gold item")
            item = Item(item_id=ItemId(row.row_id), columns=dict(row.cells))
            faults += own or [
                f"{row.located}: {fault}" for fault in faults_of_row(self.campaign, item)
            ]
            if len(faults) > MOST_FAULTS:
                break
        if faults:
            raise ConfigError(faults[:MOST_FAULTS])

    def _work(
        self, keys: Sequence[str], timeout: float | None, poll_seconds: float, *, is_raised: bool
    ) -> None:
        """Make passes until all keys are answered, or the time is over."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            progress = self._advance()
            with self.looked() as opened:
                if opened is not None and self._has_finished(opened, keys):
                    return
                if opened is not None and (faults := source.unusable(opened.store, keys)):
                    raise ConfigError(
                        list(faults.values())[:MOST_FAULTS],
                        next_step="ask with other cells under a new key",
                    )
            left = deadline - time.monotonic()
            if self._is_over(progress) or left <= 0:
                break
            time.sleep(min(poll_seconds, left))
        if is_raised:
            raise NotAnswered(
                f"{self.path}: {plural(len(keys), 'question')}: not all are answered "
                f"({progress.reason if progress else 'another process makes a pass'})",
                next_step="ask again with the same keys: it continues; "
                f"`piecework status {shell_word(self.path)}` shows what is waited for",
            )

    def _is_over(self, progress: Progress | None) -> bool:
        """Whether waiting cannot help: rehearsed to the end, or stopped."""
        if progress is None:
            return False
        return self.request is None or progress.waiting_for == "nobody"

    def _advance(self) -> Progress | None:
        """Make a pass; `None`: another process is making one."""
        try:
            if self.request is None:
                with rehearsal_of(with_known_rows(self.campaign)) as (run, crowd):
                    return work_through(run, crowd)
            return advance_without_prefect(replace(self.request))
        except CampaignBusy:
            return None


def _request(path: Path, campaign: Campaign) -> PassRequest:
    """Return what the deployment file beside the campaign file allows a pass."""
    deployment = read_deployment(path)
    if deployment.credentials_block:
        raise ConfigError(
            [f"{deployment_path(path)}: only flows read a credentials_block"],
            next_step="put the keys in the environment, as for boto3",
        )
    spend, currency = deployment.spend_at_most, campaign.rewards.currency
    return PassRequest(
        campaign=path,
        endpoint=deployment.endpoint,
        live=deployment.live,
        rehearsal=deployment.rehearsal,
        allow_second_store=deployment.allow_second_store,
        spend_at_most_cents=cents_from_text(spend, currency) if spend else None,
        by_schedule=True,
    )


def _refuse_twice(rows: Sequence[SourceRow]) -> None:
    places: dict[str, str] = {}
    for row in rows:
        if row.row_id in places:
            raise ConfigError(
                [f"{row.located}: {row.row_id!r} is also {places[row.row_id]}"],
                next_step="give each row its own key",
            )
        places[row.row_id] = row.located


def _text(cell: object) -> str:
    """Return a cell of a table as text; missing values are empty.

    Raises:
        TypeError: it is a list, a mapping or another object.
    """
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return ""
    if isinstance(cell, float) and math.isnan(cell):
        return ""
    if isinstance(cell, str | bool | int | float) or hasattr(cell, "isoformat"):
        return str(cell)
    raise TypeError(f"a cell is a {type(cell).__name__}, but must be text or a number")
