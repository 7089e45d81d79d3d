"""Stores with work that waits for people, made without a marketplace."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from piecework.campaign.assembling import load_campaign
from piecework.campaign.binding import bind_store
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.assignment import Answer, Assignment
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, HitId, HitKey, HitTypeId, ItemId, WorkerId, answer_id
from piecework.domain.verdicts import Decision, Finding, Verdict
from piecework.engine.opening import open_to_look
from piecework.store import assignments, bound, decisions, findings, hits
from piecework.store.database import open_store
from tests.small_campaign import CAMPAIGN, write_files
from tests.trusted import own

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
MTURKS_DELAY = timedelta(days=30)
TEXT = "A red cup stands on a wooden table beside an open window"
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="640" height="420">
<rect width="640" height="420" fill="#bcd7ee"/><rect y="290" width="640" height="130"
fill="#7a9a5b"/><circle cx="{x}" cy="80" r="42" fill="#f3c64b"/>
<rect x="150" y="170" width="210" height="160" fill="#b5524a"/></svg>"""


@contextmanager
def opened(
    folder: Path,
    *,
    workers: int = 4,
    items: int = 4,
    texts: Sequence[str] = (),
    campaign: str = CAMPAIGN,
    text: str = "",
    values: Callable[[int, int], Mapping[str, str]] | None = None,
    also_sent: Mapping[str, str] | None = None,
) -> Iterator[OpenedCampaign]:
    """A campaign in which each worker answered every item, two items a HIT.

    All waits: of every second answer it is proposed to drop it, of each worker's first
    assignment to reject it, and of each worker to exclude the person.

    Args:
        folder: an empty one.
        workers: how many.
        items: how many, an even number.
        texts: captions, one after the other; without any, all differ.
        campaign: the file's text.
        text: the items are this text, in place of pictures.
        values: what a worker answers about an item, by their numbers from 0; without
            it, captions.
        also_sent: what each answer brings that is no field.
    """
    path = _written(folder, campaign, items, cell=text)
    loaded = load_campaign(own(path))
    with closing(open_store(loaded.store, create=True)) as store:
        with store.db.atomic():
            bind_store(store, loaded, "http://127.0.0.1:1")
            bound.bind(store, "name", "of a test")
            bound.bind(store, "pseudonym_key", "00" * 32)
        planned = [
            PlannedHit(
                hit_key=HitKey(f"k{n}"),
                batch=1,
                round=0,
                max_assignments=workers,
                reward_cents=50,
                fee_cents=10,
                item_ids=(ItemId(f"p{n}"), ItemId(f"p{n + 1}")),
            )
            for n in range(1, items, 2)
        ]
        hits.plan(store, planned)
        with store.db.atomic():
            for hit in planned:
                hits.mark_posted(
                    store,
                    hit.hit_key,
                    hit_type_id=HitTypeId("T"),
                    hit_id=HitId(f"H{hit.hit_key}"),
                    at=MONDAY,
                    lifetime_seconds=86_400,
                    duration_seconds=3_600,
                    auto_approval_seconds=loaded.posting.auto_approval_delay_seconds,
                )
                hits.mark_collected(store, HitId(f"H{hit.hit_key}"), at=MONDAY)
        all_flags, proposed = [], []
        with store.db.atomic():
            for w in range(workers):
                for place, hit in enumerate(planned):
                    made, flags = _answered(hit, w, place, texts, values, also_sent or {})
                    assignments.keep_collected(store, made)
                    all_flags += flags
                    proposed += _proposals(made, is_first=place == 0)
        findings.replace(store, all_flags, subjects={})
        with store.db.atomic():
            decisions.keep_proposals(store, proposed)
    with open_to_look(loaded) as opened:
        yield opened


def _written(folder: Path, campaign: str, items: int, *, cell: str) -> Path:
    text = campaign.replace('by = "policy"', 'by = "person"')
    (folder / "pictures").mkdir()
    text = f'pictures = "pictures"\n{text}'
    rows = [f"p{n},/pictures/{n}.svg\n" for n in range(1, items + 1)]
    for n in range(1, items + 1):
        drawing = PICTURE.format(x=60 + n * 90 % 520)
        (folder / "pictures" / f"{n}.svg").write_text(drawing)
    header = "image_id,url"
    if "congruency" in campaign:
        header = "pair_id,url,description"
        rows = [f"{row.strip()},A red house.\n" for row in rows]
    if cell:
        header, rows = "item_id,text", [f'p{n},"{cell}"\n' for n in range(1, items + 1)]
    path = folder / "review.toml"
    write_files(path, text)
    (folder / "items.csv").write_text(f"{header}\n" + "".join(rows))
    return path


def _answered(
    hit: PlannedHit,
    w: int,
    place: int,
    texts: Sequence[str],
    values: Callable[[int, int], Mapping[str, str]] | None,
    also_sent: Mapping[str, str],
) -> tuple[tuple[Assignment, list[Answer]], list[Finding]]:
    assignment_id = AssignmentId(f"A{w:04}-{hit.hit_key}")
    sent = MONDAY + timedelta(minutes=w, seconds=place)
    assignment = Assignment(
        assignment_id=assignment_id,
        hit_id=HitId(f"H{hit.hit_key}"),
        worker_id=WorkerId(f"WORKER{w:04}"),
        status="Submitted",
        accepted_at=sent - timedelta(minutes=3),
        auto_approved_at=sent + MTURKS_DELAY,
        submitted_at=sent,
        raw="<Answer/>",
    )
    answers, flags = [], []
    for position, item_id in enumerate(hit.item_ids, start=1):
        number = 2 * place + position - 1
        text = texts[(w + number) % len(texts)] if texts else f"{TEXT} {w} {number}"
        name = answer_id(assignment_id, position)
        answers.append(
            Answer(
                answer_id=name,
                assignment_id=assignment_id,
                item_id=item_id,
                position=position,
                values={"caption": text, "has_text": "no", "flaws": ("none",)}
                if values is None
                else values(w, number),
                shown_ms=20_000 + 1000 * w,
                also_sent=also_sent,
            )
        )
        if position == 1:
            flags.append(
                Finding(
                    heuristic="capitals",
                    version=1,
                    subject_kind="answer",
                    subject_id=name,
                    suspicion=0.5 + (w * 7 + place * 13) % 50 / 100,
                    flag=True,
                    evidence=f"{70 + w % 30}% of the characters are capitals",
                )
            )
    return (assignment, answers), flags


def _proposals(made: tuple[Assignment, list[Answer]], *, is_first: bool) -> list[Decision]:
    assignment, answers = made

    def proposed(kind: str, subject_id: str, verdict: Verdict) -> Decision:
        return Decision(
            subject_kind=kind,  # type: ignore[arg-type]
            subject_id=subject_id,
            verdict=verdict,
            decided_by="policy:crash",
            decided_at=MONDAY,
            because="Not what the page asks for.",
        )

    return [
        *(
            proposed("answer", answer.answer_id, "drop" if answer.position == 1 else "keep")
            for answer in answers
        ),
        proposed("assignment", assignment.assignment_id, "reject" if is_first else "approve"),
        *([proposed("worker", assignment.worker_id, "exclude")] if is_first else []),
    ]
