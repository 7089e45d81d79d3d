"""Take in the rows of a source that grows; each becomes an item once, by its id.

A pass that dies takes in the rest the next time: rows are kept chunk by chunk, and the
watermark only with the last one. A source that cannot be read does not stop a pass: it
does all its other work, and the campaign's status names the fault.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain

from piecework.campaign.growing_source import awaited_faults
from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.campaign.questions import faults_of_row
from piecework.config.items_file import is_too_long
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.growing import MOST_REMOVED, Delivery, Growth, SourceRow, version_of
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.text import plural
from piecework.domain.toml_text import toml_value
from piecework.engine.snapshot import Reader, Step, arrived, as_read
from piecework.store import source
from piecework.store.database import writing
from piecework.store.source import Known

_LOG = logging.getLogger(__name__)


class _ReadWholeError(Exception):
    """A row after the watermark has a known id: all rows have to be compared."""


def due(reader: Reader) -> bool:
    """Return whether the source may have other rows than at the last reading."""
    opened = reader.opened
    growth = opened.campaign.growth
    if growth is None or reader.snapshot().stopped:
        return False
    known = source.reading(opened.store)
    awaited, _, seen = (known.fingerprint or "").rpartition("\n")
    try:
        now = growth.source.fingerprint()
        if awaited and awaited != _marks(growth, json.loads(awaited)):
            return True
    except ConfigError as fault:
        return _in_words(fault) != known.fault
    return seen not in as_read(opened, growth, known, now)


_MOST_AWAITED = 50
"""With more rows that await pictures, each pass reads the source again."""


def _marks(growth: Growth, names: Iterable[str]) -> str:
    """Return what pictures that are awaited look like now, as JSON."""
    return json.dumps({name: growth.source.mark_of_picture(name) for name in names})


def count_new(opened: OpenedCampaign) -> int:
    """Return how many rows the next pass would take in; nothing is kept.

    Raises:
        ConfigError: the source cannot be read.
    """
    growth = opened.campaign.growth
    if growth is None:
        return 0
    known = source.reading(opened.store)
    most = arrived(opened, growth, known)
    delivery = growth.source.read(known.watermark, most=most)
    new: set[str] = set()
    with closing(delivery):
        for chunk in delivery.chunks:
            ids = {row.row_id for row in chunk if not row.fault}
            unknown = ids - source.known(opened.store, ids).keys()
            rows = [row for row in chunk if row.row_id in unknown]
            awaited = growth.source.awaited(rows)
            new |= {
                row.row_id
                for row in rows
                if row.row_id not in awaited and not _faults(opened.campaign, row, row.row_id)
            }
    return len(new)


def _faults(campaign: Campaign, row: SourceRow, item_id: str) -> list[str]:
    """Return why a row cannot become an item with this id, each with its place."""
    assert campaign.growth is not None  # noqa: S101 - otherwise there are no rows
    if faults := campaign.growth.source.faults(row):
        return faults
    cells = {**row.cells, campaign.task.columns[0]: item_id}
    item = Item(item_id=ItemId(item_id), columns=cells)
    return [f"{row.located}: {fault}" for fault in faults_of_row(campaign, item)]


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - the value of `due`
    """Take new rows in, and note which changed or disappeared.

    Returns:
        How many rows were taken in.
    """
    growth = run.campaign.growth
    assert growth is not None  # noqa: S101 - otherwise nothing is due
    try:
        seen = growth.source.fingerprint()
        try:
            return _TakingIn(run, growth, seen).read(whole=False)
        except _ReadWholeError:
            return _TakingIn(run, growth, seen).read(whole=True)
    except ConfigError as fault:
        with writing(run.store):
            source.keep_reading(
                run.store,
                at=run.clock.now(),
                number=source.reading(run.store).number,
                # A network or a permission may be mended and the source look the same.
                fingerprint=None,
                fault=_in_words(fault),
            )
        return 0


take_in = Step("take in", due, act)


def _in_words(fault: ConfigError) -> str:
    step = [f"next: {fault.next_step}"] if fault.next_step else []
    return "; ".join([*fault.faults, *step])


@dataclass(slots=True)
class _Sorted:
    """The rows of a chunk by what is done about them."""

    new: list[tuple[SourceRow, int, str]] = field(default_factory=list)
    rewritten: list[tuple[ItemId, SourceRow, str]] = field(default_factory=list)
    replaced: list[ItemId] = field(default_factory=list)
    back: list[ItemId] = field(default_factory=list)
    faulty: list[tuple[SourceRow, str]] = field(default_factory=list)
    kept: int = 0


class _TakingIn:
    """One reading of the source."""

    def __init__(self, run: CampaignRun, growth: Growth, fingerprint: str) -> None:
        self._at_work, self._growth = run, growth
        self._known = source.reading(run.store)
        self._number = self._known.number + 1
        self._fingerprint = fingerprint
        self._columns = self._known.header
        self._rows = self._taken = self._kept = 0
        self._awaited: Mapping[str, Mapping[str, str]] = {}
        """Of a chunk: pictures by name with why they are awaited, by the ids of rows."""
        self._waiting: dict[str, SourceRow] = {}
        """All rows that await pictures, by id."""
        self._filled: set[str] = set()
        """Columns that a new row has."""

    def read(self, *, whole: bool) -> int:
        """Read the source; return how many rows were taken in."""
        most = arrived(self._at_work, self._growth, self._known)
        mark = "" if whole else self._known.watermark
        delivery = self._growth.source.read(mark, most=most)
        with closing(delivery), source.seen(self._at_work.store):
            if self._columns is None:
                self._columns = delivery.header
            self._refuse_other_columns(delivery)
            for chunk in delivery.chunks:
                # Outside of the transaction: a bucket takes its time.
                self._awaited = self._growth.source.awaited(self._to_look_at(chunk))
                with writing(self._at_work.store):
                    self._take(chunk, delivery)
            is_unsure, marks = self._marks_of_awaited()
            with writing(self._at_work.store):
                self._finish(delivery, most, marks=marks, is_unsure=is_unsure)
        self._warn_of_lost_columns()
        return self._taken

    def _to_look_at(self, chunk: Sequence[SourceRow]) -> list[SourceRow]:
        """Return the rows whose pictures would be shown to workers for the first time."""
        ids = [row.row_id for row in chunk if not row.fault]
        known, is_asked_again = source.known(self._at_work.store, ids), self._growth.on_change
        return [
            row
            for row in chunk
            if not row.fault
            and (
                (item := known.get(row.row_id)) is None
                or (
                    item.digest != row.digest(self._columns)
                    and (not item.is_dealt or is_asked_again == "ask_again")
                )
            )
        ]

    def _refuse_other_columns(self, delivery: Delivery) -> None:
        if self._columns is None or delivery.header is None:
            return
        if missing := sorted({*self._columns} - {*delivery.header}):
            fault = (
                f"{self._growth.source.name}: column {missing[0]!r} has disappeared; "
                f"the columns are {', '.join(delivery.header)}"
            )
            step = f"give the source the column {missing[0]!r} again"
            if new := [name for name in delivery.header if name not in self._columns]:
                renamed = toml_value({missing[0]: new[0]})
                step += f"; if {new[0]!r} has its cells now, write columns = {renamed} in [items]"
            raise ConfigError([fault], next_step=step)

    def _warn_of_lost_columns(self) -> None:
        """Log columns that workers see and no new row has: one may have another name now.

        Rows of JSON and of a folder's files may differ, so they are taken all the same.
        """
        parts = [part.column for part in self._at_work.campaign.task.parts]
        lost = [name for name in parts if name not in self._filled] if self._taken else []
        if lost:
            _LOG.warning(
                "%s: %s came without the column %r, which workers see; the columns are %s",
                self._growth.source.name,
                plural(self._taken, "new row"),
                lost[0],
                ", ".join(sorted(self._filled)),
            )

    def _take(self, chunk: Sequence[SourceRow], delivery: Delivery) -> None:
        """Keep a chunk of rows; part of a transaction."""
        store, at = self._at_work.store, self._at_work.clock.now()
        id_column = self._at_work.campaign.task.columns[0]
        self._rows += len(chunk)
        sorts = self._sort(chunk, delivery)
        source.set_state(store, sorts.replaced, "replaced")
        source.set_state(store, sorts.back, "current")
        for item_id, row, digest in sorts.rewritten:
            source.rewrite(store, item_id, row, digest, id_column=id_column)
        source.add(store, sorts.new, id_column=id_column, at=at)
        source.quarantine(store, sorts.faulty, reading_number=self._number, at=at)
        source.count_changes(store, changed=len(sorts.replaced))
        self._taken += len(sorts.new)
        self._filled.update(*(row.cells for row, *_ in sorts.new))
        self._kept += sorts.kept

    def _sort(self, chunk: Sequence[SourceRow], delivery: Delivery) -> _Sorted:
        sorts, store = _Sorted(), self._at_work.store
        readable = self._readable(chunk, sorts)
        row_ids = [row.row_id for row, _ in readable]
        earlier = source.see(store, readable)
        known, taken = source.known(store, row_ids), source.taken_ids(store, row_ids)
        for (row, digest), (before, is_equal) in zip(readable, earlier, strict=True):
            item = known.get(row.row_id)
            is_other = not is_equal or (item is not None and item.digest != digest)
            if is_other and not delivery.is_whole:
                raise _ReadWholeError
            if not is_equal:
                fault = f"{row.located}: {row.row_id!r} was used before, with other cells"
                sorts.faulty.append((row, f"{fault} ({before})"))
            elif not before and item is None:
                self._sort_new(sorts, row, digest, is_taken=row.row_id in taken)
            elif not before and item is not None:
                self._sort_known(sorts, row, digest, item)
        return sorts

    def _readable(self, chunk: Sequence[SourceRow], sorts: _Sorted) -> list[tuple[SourceRow, str]]:
        """Return rows that have cells and an id, each with its digest."""
        readable = []
        for row in chunk:
            if row.fault:
                sorts.faulty.append((row, f"{row.located}: {row.fault}"))
            elif not row.row_id.strip() or is_too_long(row.row_id):
                faults = self._growth.source.faults(row)
                sorts.faulty.append((replace(row, row_id=""), "; ".join(faults)))
            else:
                readable.append((row, row.digest(self._columns)))
        return readable

    def _sort_new(self, sorts: _Sorted, row: SourceRow, digest: str, *, is_taken: bool) -> None:
        if is_taken:
            fault = f"{row.located}: {row.row_id!r} is already the id of another item"
            sorts.faulty.append((row, fault))
        elif self._is_usable(sorts, row, row.row_id):
            sorts.new.append((row, 1, digest))

    def _sort_known(self, sorts: _Sorted, row: SourceRow, digest: str, item: Known) -> None:
        if item.digest != digest:
            self._sort_changed(sorts, row, digest, item)
        elif item.state == "withdrawn":
            sorts.back.append(item.item_id)

    def _sort_changed(self, sorts: _Sorted, row: SourceRow, digest: str, item: Known) -> None:
        on_change = self._growth.on_change
        if item.is_dealt and on_change == "keep":
            sorts.kept += 1
            if item.state == "withdrawn":
                sorts.back.append(item.item_id)
        elif item.is_dealt and on_change == "refuse":
            fault = f"{row.located}: {row.row_id!r} has other cells than when it was dealt"
            sorts.faulty.append((row, fault))
        elif not item.is_dealt:
            if self._is_usable(sorts, row, item.item_id):
                sorts.rewritten.append((item.item_id, row, digest))
        else:
            again = version_of(row.row_id, item.version + 1)
            if source.taken_ids(self._at_work.store, [again]):
                fault = f"{row.located}: {again!r} is already the id of another item"
                sorts.faulty.append((row, fault))
            elif self._is_usable(sorts, row, again):
                sorts.replaced.append(item.item_id)
                sorts.new.append((row, item.version + 1, digest))

    def _is_usable(self, sorts: _Sorted, row: SourceRow, item_id: str) -> bool:
        """Check a row as an item; set it aside if it has a fault."""
        faults = _faults(self._at_work.campaign, row, item_id)
        faults = faults or awaited_faults(row, self._awaited)
        if row.row_id in self._awaited:
            self._waiting[row.row_id] = row
        if faults:
            sorts.faulty.append((row, "; ".join(faults)))
        return not faults

    def _finish(self, delivery: Delivery, most: int | None, *, marks: str, is_unsure: bool) -> None:
        """Withdraw what has disappeared, and keep the watermark.

        Args:
            delivery: the reading, at its end.
            most: how many rows a rehearsal has by now.
            marks: what pictures that are awaited look like, or "".
            is_unsure: whether to read again even if nothing looks changed.
        """
        store, at = self._at_work.store, self._at_work.clock.now()
        source.add_gold(store, self._at_work.campaign.gold, at=at)
        fault = ""
        if delivery.is_whole:
            source.forget_quarantined(store, before=self._number)
            if not delivery.unfinished and self._growth.on_removal != "keep":
                fault = self._withdraw()
        if delivery.is_whole and self._growth.on_change == "keep":
            source.set_kept_changes(store, self._kept)
        so_far, at_end = as_read(self._at_work, self._growth, self._known, self._fingerprint)
        seen = at_end if most is not None and self._rows < most else so_far
        seen = f"{marks}\n{seen}" if marks else seen
        source.keep_reading(
            store,
            at=at,
            number=self._number,
            fingerprint=None if is_unsure or delivery.may_be_readable else seen,
            fault=fault,
            # The rows of pictures that are awaited are to be read again.
            watermark="" if self._waiting else delivery.watermark,
            unfinished=delivery.unfinished,
            header=self._columns,
        )

    def _marks_of_awaited(self) -> tuple[bool, str]:
        """Return whether to read again anyway, and what awaited pictures look like, or ""."""
        rows = [*self._waiting.values()]
        if not rows or len(rows) > _MOST_AWAITED:
            return bool(rows), ""
        awaited = self._growth.source.awaited(rows)
        marks = _marks(self._growth, sorted({*chain.from_iterable(awaited.values())}))
        # An upload may have ended meanwhile.
        return awaited != self._growth.source.awaited(rows) or len(awaited) < len(rows), marks

    def _withdraw(self) -> str:
        """Withdraw rows that disappeared; return why they are too many, or ""."""
        store = self._at_work.store
        gone = source.gone(store)
        current = source.count_current(store)
        are_too_many = len(gone) > MOST_REMOVED * current
        if are_too_many and self._growth.on_removal != "withdraw_all":
            return (
                f"{self._growth.source.name}: {plural(len(gone), 'row')} of {current} "
                f"disappeared at once, more than {MOST_REMOVED:.0%}; none was withdrawn. If they "
                'are meant to be gone, write on_removal = "withdraw_all" under [grows]'
            )
        source.set_state(store, gone, "withdrawn")
        source.count_changes(store, withdrawn=len(gone))
        return ""
