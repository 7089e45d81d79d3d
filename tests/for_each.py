"""Hold many cases to one law in one test: cheaper than a test for each of them."""

from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test's function on all cases; the test names each case that breaks the law.

    Takes the place of `pytest.mark.parametrize` where the cases are many and cheap, and
    need no fixtures.

    Args:
        names: the parameter, or the parameters that a case has a value for.
        cases: the values, or tuples of values.
    """
    held = [*cases]

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            assert held, "no case is held to this law"
            faults = []
            for case in held:
                values = (case,) if isinstance(names, str) else tuple(case)
                words = (names,) if isinstance(names, str) else names
                try:
                    check(**dict(zip(words, values, strict=True)))
                except Exception as fault:  # noqa: BLE001 -- any is a fault of the case
                    fault.add_note(f"case: {repr(case)[:300]}")
                    faults.append(fault)
            if faults:
                message = f"{len(faults)} of {len(held)} cases break the law"
                raise ExceptionGroup(message, faults)

        # Not functools.wraps: pytest would ask the wrapped function for its fixtures.
        test.__name__, test.__doc__ = check.__name__, check.__doc__
        test.__module__, test.__qualname__ = check.__module__, check.__qualname__
        return test

    return decorate
