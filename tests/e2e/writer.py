"""A process that writes until it is done or killed, and says what was acknowledged, a line each."""

import random
import sys

import recollect


def say(deed: str, identity: str) -> None:
    """Acknowledge a deed, at once: what stays in a buffer dies with the process."""
    sys.stdout.write(f"{deed} {identity}\n")
    sys.stdout.flush()


def main(path: str, name: str, count: int) -> None:
    """Remember `count` memories; now and then edit, forget or link one, as an agent would."""
    chance = random.Random(name)
    with recollect.open(path) as memory:
        mine: list[str] = []
        for number in range(count):
            kept = memory.remember(
                f"{name} learned fact {number}: the {chance.choice(WORDS)} of {chance.choice(WORDS)} "
                f"is {chance.choice(WORDS)}.",
                tags=[name],
            )
            say("remembered", kept.id)
            deed = chance.random()
            if mine and deed < 0.1:
                memory.edit(mine[-1], content=f"{name} corrected fact {number}: it was {chance.choice(WORDS)}.")
                say("edited", mine[-1])
            elif mine and deed < 0.15:
                gone = mine.pop()
                memory.forget(gone)
                say("forgotten", gone)
            elif mine and deed < 0.2:
                memory.link(kept.id, "see-also", mine[-1])
            mine.append(kept.id)


WORDS = ("harbour", "lantern", "compiler", "thursday", "orchard", "invoice", "kestrel", "migration", "quartz", "winter")

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
