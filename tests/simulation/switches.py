"""Which events a simulation has, and which laws each of them waives."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What may happen, and what is asked, beside what always is.

    Attributes:
        restores: a file is put back to a copy of an earlier moment. Never waived: no
            HIT, study, payment or bonus twice. Waived until the person's command, which
            is given before the quiet part: that an acknowledged answer or verdict is
            there, and that the books agree. Then the campaign goes on to its end.
        clock_ahead: the marketplace's clock jumps a day ahead. Waived with it, while
            such a jump approves what waits: that only requesters approve.
        only_requesters_approve: the law that an assignment is approved by its requester
            or when its delay has passed by the true time. Off while the bridge
            approves the siblings in a visit that was paid.
    """

    restores: bool = False
    clock_ahead: bool = False
    only_requesters_approve: bool = False


USUAL = Switches()
