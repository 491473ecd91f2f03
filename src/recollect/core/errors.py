"""Everything Recollect raises on purpose. Each message says what the user can do next.

RecollectError
├── Refused              the input cannot be kept as given
│   └── TooLong          a memory over the length limit
├── NotFound             no such memory, or not one you may see
├── NotAllowed           you may see it, but not do that
├── Unauthorised         no key, or not one that holds
├── TooMany              more than is let through at a time: wait a little
├── Ambiguous            a short id that fits several memories
├── Conflict             the memory changed since it was read, or the id is taken
├── SecretsUnchecked     nothing can tell whether there are secrets in a text
├── BadQuery             a recall that cannot be asked
├── BadSetting           a setting that does not exist or cannot have this value
├── LegError             a leg cannot answer and is left out
│   └── LegTimeout       it ran past its time
├── EmbedderError        an embedding model cannot be had, or does not answer as it should
│   ├── EmbedderBusy     it may answer later: a limit, a timeout, a server that is down
│   └── TextRefused      it will not take this text, now or later
├── ExtractorError       a language model cannot be had, or does not answer as it should
│   ├── ExtractorBusy    it may answer later: a limit, a timeout, a server that is down
│   ├── BudgetSpent      it has asked as often, or used as many tokens, as it may
│   └── ReadingRefused   it will not read these texts, now or later
└── StoreError           the store itself
    ├── StoreBusy        another process holds it for too long
    ├── StoreAway        the database cannot be reached now
    ├── StoreDamaged     the file is not a healthy Recollect store
    └── StoreTooNew      written by a newer Recollect
"""


class RecollectError(Exception):
    pass


class Refused(RecollectError):
    pass


class TooLong(Refused):
    pass


class NotFound(RecollectError):
    pass


class NotAllowed(RecollectError):
    pass


class Unauthorised(RecollectError):
    pass


class TooMany(RecollectError):
    pass


class Ambiguous(RecollectError):
    pass


class Conflict(RecollectError):
    pass


class SecretsUnchecked(RecollectError):
    pass


class BadQuery(RecollectError):
    pass


class BadSetting(RecollectError):
    pass


class LegError(RecollectError):
    pass


class LegTimeout(LegError):
    pass


class EmbedderError(RecollectError):
    pass


class EmbedderBusy(EmbedderError):
    pass


class TextRefused(EmbedderError):
    pass


class ExtractorError(RecollectError):
    pass


class ExtractorBusy(ExtractorError):
    pass


class BudgetSpent(ExtractorError):
    pass


class ReadingRefused(ExtractorError):
    pass


class StoreError(RecollectError):
    pass


class StoreBusy(StoreError):
    pass


class StoreAway(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreTooNew(StoreError):
    pass
