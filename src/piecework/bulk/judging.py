"""Cleaning of all texts, part by part.

Texts are dealt by item. Each part counts its own words (`Corpus`, whole numbers that
add up) and one process joins the counts; then the rules judge each part with these
counts. So the edits are those of `piecework.postprocess.apply.clean_and_propose`,
however the texts are split.
"""

from functools import partial

from piecework.bulk.answer_files import as_frame
from piecework.bulk.buckets import by_item
from piecework.bulk.parts import Source, known_items
from piecework.bulk.running import PartRunner
from piecework.bulk.work_folder import gc_paused
from piecework.domain.tables import COLLECTED
from piecework.postprocess.apply import Cleaning, Tidied, forget_counts, judged, tidied
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.text import Text, protected_words

COLUMNS = {name: COLLECTED[name] for name in ("item_id", "text", "is_canned")}
"""The columns that rules need."""

ROWS = 75_000
"""Rows per bucket, about: some 200 MB while a rule looks at its texts."""

_JOINED = 8
"""Buckets to join at a time before joining the counts of all, which takes longer."""


def split(source: Source, number: int) -> None:
    """Deal the rows of a piece by item."""
    source.split(number, partial(by_item, n=source.buckets))


def judge(source: Source, run_parts: PartRunner) -> None:
    """Judge the texts of a split source; `cleaning_of` reads the result.

    Words of the known items (`known_items`) are protected.
    """
    folder = source.folder
    buckets = range(source.buckets)
    run_parts("reading", partial(_read, source), buckets)
    first = range(0, source.buckets, _JOINED)
    if not folder.at("counts").exists():
        run_parts("counting", partial(_count, source), first)
        corpus = Corpus()
        for bucket in first:
            corpus.join(folder.kept(f"counted-{bucket}"))
        folder.keep("counts", lambda: corpus)
        del corpus
    for bucket in first:
        folder.at(f"counted-{bucket}").unlink(missing_ok=True)
    run_parts("judging", partial(_judge, source), buckets)


def cleaning_of(source: Source, bucket: int) -> Cleaning:
    """Read the edits and proposals of a bucket; texts without any are absent."""
    cleaning: Cleaning = source.folder.kept(f"cleaning-{bucket}")
    return cleaning


def _read(source: Source, bucket: int) -> None:
    @gc_paused()
    def texts() -> list[Tidied]:
        table = as_frame(source.about_items(bucket), source.columns)
        protected = {
            str(item.item_id): protected_words(item) for item in known_items(source, bucket)
        }
        cells = zip(
            table.index.tolist(),
            table["item_id"].tolist(),
            table["text"].tolist(),
            table["is_canned"].tolist(),
            strict=True,
        )
        return [
            tidied(
                Text(
                    text_id=answer_id,
                    item_id=item_id,
                    text=text,
                    protected=protected.get(item_id, frozenset()),
                )
            )
            for answer_id, item_id, text, is_canned in cells
            if not is_canned
        ]

    source.folder.keep(f"texts-{bucket}", texts)


@gc_paused()
def _count(source: Source, first: int) -> None:
    """Count the texts of some buckets, from `first`."""

    def counted() -> Corpus:
        corpus = Corpus()
        for bucket in range(first, min(first + _JOINED, source.buckets)):
            texts: list[Tidied] = source.folder.kept(f"texts-{bucket}")
            corpus.join(Corpus(each.text for each in texts))
        return corpus

    source.folder.keep(f"counted-{first}", counted)


def _judge(source: Source, bucket: int) -> None:
    @gc_paused()
    def cleaning() -> Cleaning:
        corpus: Corpus = source.folder.latest("counts", forget_counts)
        return judged(source.folder.kept(f"texts-{bucket}"), corpus)

    source.folder.keep(f"cleaning-{bucket}", cleaning)
