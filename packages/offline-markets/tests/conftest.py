"""Tests here are as patient as piecework's, and have the same profiles of Hypothesis."""

import tests.conftest  # noqa: F401 - for its settings
