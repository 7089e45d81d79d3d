"""What all tests share: patience. Machines are shared; a slow one is no fault."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# A landing must not depend on luck; new examples are looked for on people's machines.
settings.register_profile(
    "repeatable", settings.get_profile("patient"), derandomize=True
)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")
