"""What stands between a tag and the one that closes it, cut out of a text in one pass.

A pattern that looks for both ends searches the rest of the text anew for every tag that nothing closes. With a pasted
file that has `List<String>` on every line this takes minutes, in which not even the end of a hook's time is heeded.
"""

import re

_CLOSING = r"</([A-Za-z][\w-]*)>"


def cut_tagged(opening: str, text: str, instead: str) -> str:
    """Cut out what begins with a match of `opening`, whose first group is the tag's name, and ends with that closed."""
    last = {match[1]: match.start() for match in re.finditer(_CLOSING, text)}
    parts: list[str] = []
    done = searched = 0
    pattern = re.compile(opening)
    while match := pattern.search(text, searched):
        name, searched = match[1], match.end()
        if last.get(name, -1) >= searched:
            parts += (text[done : match.start()], instead)
            done = searched = text.index(f"</{name}>", searched) + len(f"</{name}>")
    return "".join((*parts, text[done:]))
