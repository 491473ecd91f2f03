"""Text in, the kinds of secrets that are found in it out: detect-secrets' detectors, and rules for what they miss.

The detectors were made for source files, so those that a sentence sets off are left out: any long hexadecimal number (a
commit is no secret) and any public address. What they look past is how people say a secret in a sentence ("the password
is hunter2"), and keys that are newer than they are. Nothing is verified, so nothing leaves the machine.

Importing detect-secrets takes a quarter of a second: only what learns or imports does, and never a prompt hook.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, cast

from recollect.core.errors import SecretsUnchecked

Detector = tuple[str, Callable[[str], Iterator[str]]]

_DETECTORS: Final = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("basic_auth", "BasicAuthDetector"),
    ("cloudant", "CloudantDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("high_entropy_strings", "Base64HighEntropyString"),
    ("ibm_cloud_iam", "IbmCloudIamDetector"),
    ("ibm_cos_hmac", "IbmCosHmacDetector"),
    ("jwt", "JwtTokenDetector"),
    ("keyword", "KeywordDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("private_key", "PrivateKeyDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("softlayer", "SoftlayerDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
"""Module and class. Left out: HexHighEntropyString and IPPublicDetector, which ordinary sentences set off."""
_ENTROPY: Final = "Base64 High Entropy String"
_TOLD: Final = "password or key that is said"
_SHORTEST_RANDOM: Final = 20
_MOST_SLASHES: Final = 2
"""What has more of them is a path."""
_LEAST_ENTROPY: Final = 4.5
"""Bits a character from which detect-secrets by default takes what stands in quotes for random."""

_NAMED: Final = r"(?:pass[- ]?(?:word|wd|phrase|code)|pwd|pw|pin(?: code)?|secrets?(?: key)?|credentials?|api[-_ ]?(?:key|secret|token)|access[-_ ]?(?:key|token)|auth[-_ ]?token|private[-_ ]?key|client[-_ ]?secret|token|\w+[-_](?:key|token|secret)|\w+(?:password|passwd|pwd))"  # noqa: E501
_RULES: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("private key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|AGE-SECRET-KEY-1|PuTTY-User-Key-File-\d"),
        ("address with a password", r"(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@<{$]*:(?!\*+@|<|\{|\$)[^\s/@]+@"),
        ("bearer token", r"(?i)\bbearer\s+(?=[\w.~+/-]*\d)[\w.~+/-]{16,}"),
        ("Anthropic key", r"\bsk-ant-[\w-]{16,}"),
        ("OpenAI key", r"\bsk-(?!ant-)(?=[\w-]*\d)[\w-]{20,}"),
        ("GitHub token", r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,})"),
        ("GitLab token", r"\bgl(?:pat|ptt|rt|dt)-[\w-]{16,}"),
        ("Slack token", r"\bxox[a-z]-[\w-]{10,}|\bxapp-[\w-]{20,}|hooks\.slack\.com/services/\w+/\w+/\w+"),
        ("AWS key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        ("Google key", r"\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{20,}"),
        ("Hugging Face token", r"\bhf_[A-Za-z0-9]{24,}"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
        ("Stripe key", r"\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}"),
        ("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{32,}"),
        ("JSON web token", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}"),
    )
)
_SAID: Final = re.compile(
    rf"(?i)(?<![\w-])(?P<name>{_NAMED})(?:[\"'`\]]{{0,2}}\s*(?P<sign>[:=]>?|=>)\s*|"
    r"(?: (?:for|of|on|to) [\w.@/-]+(?: [\w.@/-]+){0,3}?)? "
    r"(?:is|was|are|will be|to|should be)(?: now| just| still)?:? )"
    r"(?P<quote>[\"'`\u201c]?)(?P<value>[^\s\"'`\u201d]{4,})(?P<rest>[^\n.;]{0,12})"
)
"""A secret that is called one, with what is said to be its value."""
_CARRIED_ON: Final = re.compile(r"(?i)([:=]>?|=>|\b(?:is|was|are|be|to|now))[ \t]*\r?\n\s*")
"""Where a sentence about a secret may go over into the next line, with the value."""
_LONG_RANDOM: Final = re.compile(r"(?<![\w/+.@:-])[A-Za-z0-9+/_-]{24,}={0,2}(?![\w/])")
_CALLED_SECRET: Final = re.compile(
    r"(?i)\b(?:passwords?|secrets?|tokens?|credentials?|api[-_ ]?keys?|access[-_ ]?keys?)\b"
)
_HASH: Final = re.compile(r"(?i)\bsha\d{1,3}[-:=]$")

_PLACEHOLDER: Final = re.compile(r"^(?:[<{$%]|\*+$|(?i:x{3,}$|your[-_]|example|redacted))|\.{3}")
_NO_VALUES: Final = frozenset(
    (
        "required",
        "optional",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "string",
        "missing",
        "empty",
        "invalid",
        "expired",
        "unset",
        "undefined",
        "wrong",
        "correct",
        "valid",
        "there",
        "here",
        "yes",
        "unknown",
        "hashed",
        "encrypted",
        "hidden",
        "masked",
        "removed",
        "rotated",
        "stored",
    )
)
_HYPHENATED: Final = re.compile(r"[a-z]+(?:-[a-z]+){2,}", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]+(?:-[a-z]+)?", re.IGNORECASE)
_PERSONAL: Final = re.compile(r"(?i)^(?:pass|pwd|pw|pin)")


def find_secrets(text: str) -> tuple[str, ...]:
    """Give the kinds of secrets in a text, each once; none if there are none.

    Raises `SecretsUnchecked` where detect-secrets cannot be had: then nobody knows, and nothing may be kept unasked.
    """
    detectors = _load()
    found: dict[str, None] = {}
    for kind, pattern in _RULES:
        if pattern.search(text):
            found[kind] = None
    if any(map(_is_value_alone, _SAID.finditer(_CARRIED_ON.sub(r"\1 ", text)))):
        found[_TOLD] = None
    for line in text.splitlines():
        if any(map(_is_value, _SAID.finditer(line))) or _names_random(line):
            found[_TOLD] = None
        for kind, analyse in detectors:
            if any(kind != _ENTROPY or _is_random(value) for value in analyse(line)):
                found[kind] = None
    return tuple(found)


@cache
def _load() -> Sequence[Detector]:
    from importlib import import_module

    try:
        made = [getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in _DETECTORS]
        return [(str(each.secret_type), cast("Callable[[str], Iterator[str]]", each.analyze_string)) for each in made]
    except (ImportError, AttributeError) as error:
        raise SecretsUnchecked(
            f"Nobody can say whether there are secrets in it: detect-secrets cannot be used ({error}). "
            "Run: pip install 'detect-secrets>=1.5'"
        ) from error


def _is_value(said: re.Match[str]) -> bool:
    """Whether what follows a secret's name is its value, and not a sentence about it."""
    value = said["value"].rstrip(".,;:!?)]}")
    if len(value) < 4 or _PLACEHOLDER.search(said["value"]) or value.lower() in _NO_VALUES:  # noqa: PLR2004
        return False
    if value.isdigit():
        # "The token is 4096 bits long" is no PIN.
        return _PERSONAL.search(said["name"]) is not None and not re.match(r"\s+[a-z]", said["rest"])
    if not _WORD.fullmatch(value):
        if _HYPHENATED.fullmatch(value):
            return _PERSONAL.search(said["name"]) is not None
        # Punctuation alone makes no secret of a path or a call: a digit in it, or capitals inside, do.
        return re.search(r"\d|[^\w./()\[\],:-]", value) is not None and not value.startswith(("/", "./", "~/", "http"))
    # A plain word is a secret where it stands in quotes or behind a sign, and nothing goes on behind it.
    return bool(said["quote"] or said["sign"]) and not re.match(r"[\"'`\u201d]?\s+\w", said["rest"])


def _is_value_alone(said: re.Match[str]) -> bool:
    """Whether it is a value wherever it stands: a plain word in the next line begins something else."""
    return _is_value(said) and _WORD.fullmatch(said["value"].rstrip(".,;:!?)]}")) is None


def _names_random(line: str) -> bool:
    """Whether a line speaks of a secret and has something in it that looks drawn at random."""
    if not _CALLED_SECRET.search(line):
        return False
    return any(
        _is_random(each.group()) and not _HASH.search(line[: each.start()]) for each in _LONG_RANDOM.finditer(line)
    )


def _is_random(value: str) -> bool:
    """Whether a run of letters is no path, no name and no number: capitals, small letters and digits without order."""
    if len(value) < _SHORTEST_RANDOM or value.count("/") > _MOST_SLASHES:
        return False
    if not all(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit)):
        return False
    shares = [value.count(each) / len(value) for each in set(value)]
    return -sum(share * math.log2(share) for share in shares) >= min(_LEAST_ENTROPY, 0.85 * math.log2(len(value)))
