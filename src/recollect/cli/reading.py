"""Concepts are read before they are shown, with a bar where there is much to read."""

from recollect.core.ports import Store


def read_waiting(store: Store) -> int:
    """Read all that waits; say how many memories that were."""
    from recollect.cli.progress import show_rate
    from recollect.service.extract import Rules, extract_waiting

    with show_rate("Reading") as progress:
        return extract_waiting(store, Rules(), progress=progress)
