"""Concepts are read before they are shown, with a bar where there is much to read."""

from recollect.core.ports import Store


def read_waiting(store: Store) -> None:
    """Read all that waits."""
    from recollect.service.extract import Rules, extract_waiting, is_read

    if is_read(store):
        return
    from recollect.cli.progress import show_rate

    with show_rate("Reading") as progress:
        extract_waiting(store, Rules(), progress=progress)
