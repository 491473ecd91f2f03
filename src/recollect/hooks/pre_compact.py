"""The hook before a compaction: what was given may be given again, and what was said is learned while it is there."""

from recollect.config import read_config
from recollect.hooks.clients import Event
from recollect.hooks.stop import learn_from
from recollect.journal.file import Journal
from recollect.journal.given import release


def run(event: Event) -> None:
    config = read_config()
    # First: the agent loses sight of what it was given, and learning may take longer than the hook has.
    if event.session:
        with Journal(config.journal) as journal:
            release(journal, event.session)
    learn_from(event, config)
