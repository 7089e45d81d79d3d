"""How many examples Hypothesis makes of a law: all in the long forms, else fewer."""

from collections.abc import Collection

from hypothesis import HealthCheck, settings

_FEWER = {"patient", "repeatable", "near"}
_SHARE = 0.3
_LEAST = 3


def examples(most: int, *, unchecked: Collection[HealthCheck] = ()) -> settings:
    """Return settings for a law that needs more or fewer examples than others.

    Args:
        most: examples in `make test-full` and for mutants.
        unchecked: what Hypothesis shall not complain of.
    """
    is_fewer = settings.get_current_profile_name() in _FEWER
    number = max(_LEAST, round(most * _SHARE)) if is_fewer else most
    checks = {*unchecked, *settings().suppress_health_check}
    return settings(max_examples=number, deadline=None, suppress_health_check=checks)
