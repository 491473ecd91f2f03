r"""One folder, one spelling: Windows, WSL and Linux each write the same path in a way of their own.

| written                                                  | spelled            |
|----------------------------------------------------------|--------------------|
| `C:\Users\me\p`, `c:/Users/me/p/`, `/mnt/c/Users/me/p`   | `C:/Users/me/p`    |
| `\\wsl$\Ubuntu\home\me\p`, `\\wsl.localhost\Ubuntu\...` | `/home/me/p`       |
| `\\server\share\p`                                      | `//server/share/p` |
"""

import os

MOUNTS = "/mnt"
"""Where WSL has the drives of Windows."""


def spell(path: str) -> str:
    """Give the one name of a path, which any text field can hold."""
    path = _drop_share(path)
    path = f"/{_slashes(path)}" if path.startswith("\\\\") else path
    drive, rest = _split_drive(path)
    mounted = path[len(MOUNTS) + 1 :] if path.startswith(f"{MOUNTS}/") else ""
    if not drive and mounted[1:2] in {"", "/"} and _is_letter(mounted[:1]):
        drive, rest = mounted[0], mounted[1:]
    if drive:
        path = f"{drive.upper()}:{_slashes(rest or '/')}"
    # A name that is not text, or that breaks a line, is a folder's all the same.
    path = os.fsencode(path).decode("utf-8", "backslashreplace")
    return path if path.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in path)


def reach(path: str) -> str:
    """Give a path as this system opens it."""
    path = _drop_share(path)
    drive, rest = _split_drive(path)
    if os.name == "nt":
        return path
    if drive:
        return f"{MOUNTS}/{drive.lower()}{_slashes(rest)}"
    return f"/{_slashes(path)}" if path.startswith("\\\\") else path


def find_real(path: str) -> str:
    """Give the folder that a path leads to; what another machine shares cannot be looked into here."""
    path = reach(path)
    return path if path.startswith("//") else os.path.realpath(path)


def is_absolute(path: str) -> bool:
    return os.path.isabs(path) or path.startswith("\\\\") or bool(_split_drive(path)[1])


def resolve(path: str, folder: str) -> str:
    """Give a path that a file in a folder names, on whichever system it was written."""
    found = os.path.normpath(os.path.join(folder, reach(path)))
    if "\\" in path and os.name != "nt" and not os.path.exists(found):
        found = os.path.normpath(os.path.join(folder, reach(path).replace("\\", "/")))
    return found


def _split_drive(path: str) -> tuple[str, str]:
    """Give the letter of a drive, and the path on it; a path without one has no letter."""
    bare = path[4:] if path[:4].replace("/", "\\") in {"\\\\?\\", "\\\\.\\"} else path
    if bare[1:2] == ":" and bare[2:3] in {"", "/", "\\"} and _is_letter(bare[0]):
        return bare[0], bare[2:]
    return "", ""


def _drop_share(path: str) -> str:
    """Give a path inside WSL as it is there, if Windows wrote it: behind a host and the name of a distribution."""
    if path[:2] not in {"\\\\", "//"}:
        return path
    parts = path.replace("\\", "/").split("/")[2:]
    if parts[0] in {"?", "."} and parts[1:2] == ["UNC"]:
        del parts[:2]
    return _slashes("/" + "/".join(parts[2:])) if parts and parts[0].lower() in {"wsl$", "wsl.localhost"} else path


def _is_letter(text: str) -> bool:
    return text.isascii() and text.isalpha()


def _slashes(path: str) -> str:
    """Give a path with slashes, one between two names and none at its end."""
    names = [name for name in path.replace("\\", "/").split("/") if name]
    return "/" * path.startswith(("/", "\\")) + "/".join(names)
