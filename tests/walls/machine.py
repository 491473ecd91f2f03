"""Everybody does everything everywhere, over the real server on a real Postgres, beside a model of who may what.

After each step nothing has changed in the database but what the step was let change, and no answer has shown a mark
of what its asker may not see.
"""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from walls.asking import Stage
from walls.looking_rules import LookingRules
from walls.memory_rules import MemoryRules
from walls.people_rules import PeopleRules
from walls.tool_rules import ToolRules


class Machine(PeopleRules, MemoryRules, LookingRules, ToolRules):
    pass


def play(stage: Stage, how: settings) -> None:
    class Played(Machine):
        pass

    Played.stage = stage
    run_state_machine_as_test(Played, settings=how)
