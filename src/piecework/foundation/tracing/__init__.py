"""Traces for OpenTelemetry, if the environment asks for them and the extra is there."""
