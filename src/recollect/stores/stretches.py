"""Stretches of sessions in, surroundings out: who stands how many places from whom."""

from collections.abc import Collection, Iterable
from typing import Final

from recollect.core.hits import Ref, Surroundings

Standing = tuple[str, int, bool]
"""A memory's id, its place, and whether it was let in; one that was asked about comes once more, as not."""
_APART: Final = 1 << 40
"""How far sessions stand from each other: no place is that far."""


def read_stretches(
    space: str, sessions: Iterable[Iterable[Standing]], reach: int, exclude: Collection[str], found: Surroundings
) -> None:
    """Add the neighbours of those asked about in a space, and how many each of all these stands next to.

    Only what was let in, by whatever else it was asked for, is somebody's neighbour.
    """
    asked, stand = _lay_out(sessions, exclude)
    distances = range(1, reach + 1)
    offsets = [(side * distance, distance) for distance in distances for side in (-1, 1)]
    many = {spot: len(those) for spot, those in stand.items()}
    reached: dict[int, list[Ref]] = {}

    def look(spot: int) -> list[Ref]:
        if spot not in reached:
            reached[spot] = [Ref(space, identity) for identity in stand.get(spot, ())]
        return reached[spot]

    def count(spot: int) -> tuple[int, ...]:
        return tuple([many.get(spot - distance, 0) + many.get(spot + distance, 0) for distance in distances])

    for spot, identity in asked:
        near = [(other, distance) for offset, distance in offsets for other in look(spot + offset)]
        if near:
            ref = Ref(space, identity)
            found.near[ref] = near
            found.counts[ref] = count(spot)
    for spot, those in reached.items():
        if those:
            counts = count(spot)
            for ref in those:
                found.counts[ref] = counts


def _lay_out(
    sessions: Iterable[Iterable[Standing]], exclude: Collection[str]
) -> tuple[list[tuple[int, str]], dict[int, list[str]]]:
    """Put all sessions in one row: where those stand that were asked about, and who was let in at each spot."""
    asked: list[tuple[int, str]] = []
    stand: dict[int, list[str]] = {}
    for number, stretch in enumerate(sessions):
        start = number * _APART
        for identity, place, may in stretch:
            if not may:
                asked.append((start + place, identity))
            elif identity not in exclude:
                stand.setdefault(start + place, []).append(identity)
    return asked, stand
