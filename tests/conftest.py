"""Hypothesis runs the same examples every time and never fails for being slow.

`HYPOTHESIS_PROFILE=explore` looks for new examples instead; what it finds belongs into the test as an `@example`.
"""

import logging
import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

pytest_plugins = ["postgres"]

# Python's own last resort, said aloud: the MCP library puts a handler into a logging that has none, whose coloured
# tracebacks hold up every later test that logs an error, for seconds on a busy machine.
if logging.lastResort is not None:
    logging.getLogger().addHandler(logging.lastResort)

set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "recollect-hypothesis")

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("explore", parent=settings.get_profile("fixed"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
