"""Where a hosted model is served: an address in its one form, and whether text stays on this machine. Pure.

A model is named NAME or, served at another address than its provider's own, NAME@http://host:port/v1.
"""

import ipaddress
import re
from urllib.parse import urlsplit

from recollect.core.errors import RecollectError

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434/v1"
BAD_ADDRESS = "The model's address cannot be read. Write it behind the model's name, as in @http://host:port/v1."

_ADDRESS = re.compile(r"@(?=https?://)", re.IGNORECASE)


def split_address(text: str, key_variable: str, error: type[RecollectError]) -> tuple[str, str]:
    """Split what names a model into its name and its address, if it has one."""
    name, *address = _ADDRESS.split(text, maxsplit=1)
    if not name or "://" in name:
        raise error(BAD_ADDRESS)
    return name, _read_address(address[0], key_variable, error) if address else ""


def is_here(address: str) -> bool:
    """Whether text that is sent there stays on this machine: what its server does with it is its owner's business."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_address(text: str, key_variable: str, error: type[RecollectError]) -> str:
    """Bring an address into its one form. It is kept and shown, so nothing secret may be in it."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise error(BAD_ADDRESS) from None
    if not host:
        raise error(BAD_ADDRESS)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise error(
            f"The address on {host} holds more than a host, a port and a path. Leave the rest out; "
            f"a key belongs into the variable {key_variable}."
        )
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}{f':{port}' if port not in (None, default) else ''}{parts.path.rstrip('/')}"
