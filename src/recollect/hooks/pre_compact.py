"""The hook before a compaction: what was said is learned while it is still there, and then may be given again."""

from recollect.config import read_config
from recollect.hooks.clients import Event
from recollect.hooks.stop import learn_from
from recollect.journal.file import Journal
from recollect.journal.given import release


def run(event: Event) -> None:
    config = read_config()
    try:
        learn_from(event, config)
    finally:
        # The agent loses sight of what it was given, whether or not anything could be learned.
        with Journal(config.journal) as journal:
            if event.session:
                release(journal, event.session)
