"""A remote's address, reduced to what names a project: every way of writing it gives the same, and no credentials."""

from typing import Final

from recollect.project.paths import find_real, is_absolute, reach, spell

_SIGNS: Final = str.maketrans("", "", "+.-")
_OTHER_WAYS_IN: Final = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that take ssh under a second name, for those who get through no other way."""
_AZURE: Final = "dev.azure.com"
_OF_WSL: Final = ("wsl$/", "wsl.localhost/")


def normalise_remote(url: str) -> str | None:
    """Reduce a remote's address to host and path, so that every way of writing it gives the same name.

    Credentials, scheme, port and the ending `.git` are dropped. A remote that is a folder gives that folder.
    """
    folder = local_folder(url)
    if folder is not None:
        return spell(find_real(folder).removesuffix("/.git"))
    scheme, rest = _split_scheme(url)
    if scheme == "file":
        return None
    if scheme:
        address, _, path = rest.partition("/")
        host, colon, port = address.rpartition("@")[2].rpartition(":")
        host = host if colon and port.isdigit() else host + colon + port
    else:
        # As scp has it: user@host:path. A password can hold an @ too, so the last one counts.
        before, slash, after = rest.partition("/")
        host, _, path = (before.rpartition("@")[2] + slash + after).partition(":")
        if not host or "/" in host:
            return None
    path = path.partition("?")[0].partition("#")[0]
    path = "/".join(name for name in path.split("/") if name).removesuffix(".git")
    return _name(host.lower(), path) if host and path else None


def _name(host: str, path: str) -> str:
    # Over ssh it has the parts of its address in another form: v3/organisation/project/repository.
    if host == f"ssh.{_AZURE}" and path.startswith("v3/"):
        project, _, repository = path.removeprefix("v3/").rpartition("/")
        return f"{_AZURE}/{project}/_git/{repository}"
    return f"{_OTHER_WAYS_IN.get(host, host)}/{path}"


def local_folder(url: str) -> str | None:
    """Give the folder that a remote is, as this system opens it, if it is one."""
    scheme, rest = _split_scheme(url)
    if scheme == "file":
        rest = _unquote(rest)
        rest = rest[len("localhost") :] if rest.lower().startswith("localhost/") else rest
        rest = rest[1:] if rest[2:3] == ":" and rest.startswith("/") else rest
        rest = f"//{rest}" if rest.lower().startswith(_OF_WSL) else rest
    elif scheme:
        return None
    return reach(rest) if is_absolute(rest) else None


def _split_scheme(url: str) -> tuple[str, str]:
    """Give an address's scheme in small letters, and what follows it; an address without one is all that follows."""
    url = url.strip()
    scheme, sign, rest = url.partition("://")
    known = sign and scheme[:1].isalpha() and scheme.translate(_SIGNS).isalnum()
    return (scheme.lower(), rest) if known else ("", url)


def _unquote(text: str) -> str:
    """Give the characters that `%20` and the like stand for."""
    first, *others = text.split("%")
    octets = first.encode("utf-8", "surrogateescape")
    for each in others:
        try:
            octets += bytes.fromhex(each[:2]) + each[2:].encode("utf-8", "surrogateescape")
        except ValueError:
            octets += f"%{each}".encode("utf-8", "surrogateescape")
    return octets.decode("utf-8", "surrogateescape")
