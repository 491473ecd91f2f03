"""Zed: the server in `settings.json`, where comments are common. It has no hooks."""

import os

from recollect.installers.client import Client, File, server
from recollect.installers.folders import Folders


def zed(folders: Folders, program: str) -> Client:
    return Client(
        "zed",
        "Zed",
        (File(os.path.join(folders.zed, "settings.json"), (server("context_servers", program),)),),
        "Zed starts the server at once: the agent panel's settings show it with a green dot.",
    )
