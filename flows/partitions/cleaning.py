"""`clean` for texts that outgrow memory: count all, then each part follows a rule.

Texts are dealt by item. One process counts the words of all parts (`Corpus`, whole
numbers that add up); each part follows a rule by these counts; what changed is counted
anew, until no rule has anything left to make. So the edits are those of
`postprocess.apply.clean_and_propose`, whatever the parts are.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from domain.tables import COLLECTED
from flows.partitions.answer_files import answer_files, as_frame, pieces_of
from flows.partitions.buckets import ROWS, bucket_count, by_item
from flows.partitions.parts import Source, known_items, states
from flows.partitions.running import Run
from flows.partitions.work_folder import finish, open_work
from postprocess.apply import (
    Drafts,
    Followed,
    Made,
    Text,
    replaced,
    replay,
    seldom_now,
    until_settled,
)
from postprocess.datasets.file_table import edits_json
from postprocess.language.corpus import Corpus
from postprocess.registry import RULES
from postprocess.text import Rule, TextRule, protected_words

_COLUMNS = {name: COLLECTED[name] for name in ("item_id", "text", "is_canned")}
_CLEANED = pa.schema(
    [
        ("answer_id", pa.string()),
        ("item_id", pa.string()),
        ("text", pa.string()),
        ("clean_text", pa.string()),
        ("edits", pa.string()),
        ("edit_proposals", pa.string()),
    ]
)
_BY_NAME = {rule.NAME: rule for rule in RULES}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedFiles:
    """What became of the texts of files, counted; the texts are in the folder."""

    folder: Path
    answers: int
    changed: int
    edits: int
    proposals: int


def clean_files(
    paths: Sequence[Path], run: Run, *, into: Path, bucket_rows: int = ROWS
) -> CleanedFiles:
    """Clean the texts of all files together.

    Args:
        paths: Parquet files or folders of them (`flows.partitions.answer_files`).
        run: who does the parts.
        into: a folder of clean texts, which must not be there yet.
        bucket_rows: about so many rows are held at a time.

    Raises:
        ConfigError: files that cannot be read; or the folder is there.
    """
    files = answer_files(paths)
    pieces, schema = pieces_of(files, _COLUMNS)
    of = {
        "files": states(files),
        "rules": {rule.NAME: rule.VERSION for rule in RULES},
        "bucket_rows": bucket_rows,
    }
    source = Source(
        folder=open_work(into, of),
        pieces=tuple(pieces),
        schema=schema,
        columns=_COLUMNS,
        buckets=bucket_count(sum(piece.rows for piece in pieces), bucket_rows),
    )
    run("split", partial(split, source), range(len(pieces)))
    number = follow_rules(source, run)
    run("writing", partial(_write, source, number), range(source.buckets))
    return _finished(source, into)


def follow_rules(source: Source, run: Run) -> int:
    """Clean the texts of a source that is split; the number of the drafts at the end.

    Words of the items that are known (`known_items`) are protected.
    """
    run("reading", partial(_read, source), range(source.buckets))
    rounds = _Rounds(source, run)
    until_settled(RULES, rounds.follow)
    return next(rounds.numbers)


def drafts_of(source: Source, bucket: int, number: int) -> Drafts:
    """The texts of a bucket with their edits, after so many rounds."""
    made: Made = source.folder.kept(f"made-{bucket}-{number}")
    words: AbstractSet[str] = source.folder.kept(f"words-{bucket}")
    return Drafts(_texts_of(source, bucket), made, words)


def _texts_of(source: Source, bucket: int) -> Iterator[Text]:
    """The texts of a bucket; they are read when the first is asked for."""
    yield from source.folder.kept(f"texts-{bucket}")


@dataclass(slots=True)
class _Rounds:
    """Rule after rule over all parts; what was done before is not done again."""

    source: Source
    run: Run
    numbers: "count[int]" = field(default_factory=count)
    corpus: Corpus | None = None

    def follow(self, rule: Rule, near: AbstractSet[str] | None) -> Followed:
        """Let all parts follow a rule (`postprocess.apply.until_settled`)."""
        number, folder = next(self.numbers), self.source.folder
        if not folder.at(f"followed-{number}").exists():
            corpus = self.corpus or self._counted(number)
            self.corpus = corpus
            if not isinstance(rule, TextRule):
                folder.keep(f"counts-{number}", lambda: (corpus.shared(), near))
            step = f"{rule.NAME} ({number + 1})"
            follow = partial(_follow, self.source, number, rule.NAME)
            self.run(step, follow, range(self.source.buckets))
            followed = self._count_changes(corpus, number)
            folder.keep(f"followed-{number}", lambda: followed)
        folder.at(f"counts-{number}").unlink(missing_ok=True)
        for bucket in range(self.source.buckets):
            folder.at(f"made-{bucket}-{number}").unlink(missing_ok=True)
        followed: Followed = folder.kept(f"followed-{number}")
        return followed

    def _counted(self, number: int) -> Corpus:
        """The counts of all texts as they are before this round."""
        corpus = Corpus()
        for bucket in range(self.source.buckets):
            drafts = drafts_of(self.source, bucket, number)
            corpus.replace((), drafts.texts())
        return corpus

    def _count_changes(self, corpus: Corpus, number: int) -> Followed:
        has_changed, words = False, set[str]()
        for bucket in range(self.source.buckets):
            before, after = self.source.folder.kept(f"changes-{bucket}-{number}")
            corpus.replace(before, after)
            has_changed |= bool(after)
            words |= replaced(before, after)
        return Followed(has_changed, seldom_now(words, corpus))


def split(source: Source, number: int) -> None:
    """Deal the rows of a piece by item."""
    source.split(number, partial(by_item, n=source.buckets))


def _read(source: Source, bucket: int) -> None:
    def texts() -> list[Text]:
        table = as_frame(source.about_items(bucket), source.columns)
        protected = {
            str(item.item_id): protected_words(item)
            for item in known_items(source, bucket)
        }
        cells = table.to_dict("list")
        rows = zip(
            table.index.tolist(),
            *(cells[name] for name in ("item_id", "text", "is_canned")),
            strict=True,
        )
        found = [
            Text(
                text_id=answer_id,
                item_id=item_id,
                text=text,
                protected=protected.get(item_id, frozenset()),
            )
            for answer_id, item_id, text, is_canned in rows
            if not is_canned
        ]
        words = frozenset(chain.from_iterable(text.words for text in found))
        source.folder.keep(f"words-{bucket}", lambda: words)
        return found

    source.folder.keep(f"texts-{bucket}", texts)
    # Were it not there, what a later round made is.
    if not any(source.folder.path.glob(f"made-{bucket}-*")):
        source.folder.keep(f"made-{bucket}-0", Made)


def _follow(source: Source, number: int, rule: str, bucket: int) -> None:
    """Let the texts of a bucket follow a rule."""
    folder = source.folder

    def counts() -> tuple[Corpus, AbstractSet[str] | None]:
        # Of many texts it is gigabytes, which a rule for one text does not ask for.
        if isinstance(_BY_NAME[rule], TextRule):
            return Corpus(), None
        corpus, near = folder.latest(f"counts-{number}")
        return corpus, near

    def made() -> Made:
        own = drafts_of(source, bucket, number)
        changes = own.accept(own.propose(_BY_NAME[rule], *counts()))
        folder.keep(f"changes-{bucket}-{number}", lambda: changes)
        return own.made

    folder.keep(f"made-{bucket}-{number + 1}", made)


def _write(source: Source, number: int, bucket: int) -> None:
    """Write the clean texts of a bucket."""

    def write(path: Path) -> None:
        drafts = drafts_of(source, bucket, number)
        proposals = drafts.proposals()
        rows = as_frame(source.about_items(bucket), source.columns)
        texts = rows["text"].tolist()
        edits = [drafts.edits.get(one, ()) for one in rows.index.tolist()]
        unsure = [proposals.get(one, ()) for one in rows.index.tolist()]
        cells = {
            "answer_id": rows.index.tolist(),
            "item_id": rows["item_id"].tolist(),
            "text": texts,
            "clean_text": [replay(*pair) for pair in zip(texts, edits, strict=True)],
            "edits": [edits_json(made) for made in edits],
            "edit_proposals": [edits_json(made) for made in unsure],
        }
        pq.write_table(pa.table(cells, schema=_CLEANED), path, compression="zstd")
        told = [sum(map(bool, edits)), sum(map(len, edits)), sum(map(len, unsure))]
        source.folder.keep(f"told-{bucket}", lambda: [len(rows), *told])

    source.folder.once(source.folder.out(f"part-{bucket:05d}.parquet"), write)


def _finished(source: Source, into: Path) -> CleanedFiles:
    told = [source.folder.kept(f"told-{bucket}") for bucket in range(source.buckets)]
    answers, changed, edits, proposals = (
        sum(column) for column in zip(*told, strict=True)
    )
    parts = {f"part-{n:05d}.parquet": rows[0] for n, rows in enumerate(told)}
    finish(source.folder, into, {"answers": answers, "parts": parts})
    return CleanedFiles(
        folder=into, answers=answers, changed=changed, edits=edits, proposals=proposals
    )
