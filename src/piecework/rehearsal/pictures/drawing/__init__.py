"""Drawings of scenes as SVG: places, things, and what goes wrong with photographs."""

from piecework.rehearsal.pictures.drawing.picture import draw

__all__ = ["draw"]
