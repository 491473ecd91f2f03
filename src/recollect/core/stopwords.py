"""Words too common to tell memories apart, by language: dropped from the index and from queries.

What can be a developer's subject (go, make, get, id, shell) stays a word. Contractions need no entry of
their own: `analysis` sees "don't" as "do" and "she'll" as "she".
"""

from typing import Final

_ENGLISH: Final = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what when where why how whoever whatever whichever whenever wherever
am is are was were be been being do does did doing done have has had having
can could will would shall should may might must ought cannot
and or but nor so yet if then else than because since while although though unless until whether as
of at by for with about against between into through during before after above below to from up down in out
on off over under upon within without along across toward towards among around via per
again further once here there now just only also too very really quite rather even still already ever
all any both each either neither few more most much many other others another some such no not none same own
every several
im ive dont didnt doesnt cant isnt wasnt wont wouldnt couldnt shouldnt havent hasnt arent werent
youre theyre thats whats
etc ie eg vs
"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {"english": frozenset(_ENGLISH.split())}
