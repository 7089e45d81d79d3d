"""Drawings of scenes as SVG: places, things, and what goes wrong with photographs."""

from piecework.simulation.pictures.drawing.picture import draw

__all__ = ["draw"]
