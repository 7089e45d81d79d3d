"""Which events a simulation has, and which laws each of them waives."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What may happen, and what is asked, beside what always is.

    Attributes:
        store_restores: the store is put back to a copy of an earlier moment. No law is
            waived: a pass refuses, a person gives the command that it names
            (`piecework reconcile`), and the campaign comes to its end.
        marketplace_restores: the same of a marketplace with workers of its own. What
            was acknowledged after the copy was made is lost with it. Until the
            person's command it is waived that the store has nothing which the
            marketplace lacks.
        restores_beside_prolific: the same of a marketplace with participants. Off until
            the bridge compares what it finds at Prolific before it publishes and pays.
            Waived until then: that each study at Prolific is known.
    """

    store_restores: bool = True
    marketplace_restores: bool = True
    restores_beside_prolific: bool = False


USUAL = Switches()
