"""How long a command waits between two looks: an option that takes no nonsense."""

import math

import click

_LEAST, _DAY = 0.1, 86_400


class _Seconds(click.FloatRange):
    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            # It is neither below nor above anything.
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


POLL_SECONDS = _Seconds(_LEAST, _DAY)
"""From a tenth of a second to a day."""
