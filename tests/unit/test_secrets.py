"""What is a secret in a sentence, and what only looks like one."""

import sys

import pytest

from recollect.core.errors import SecretsUnchecked
from recollect.secrets import detect
from recollect.secrets.detect import find_secrets

RANDOM = "q7Rz2LmX" + "9vTb4NcW8sKd" + "5HfJ3GpYq1Za6Ue0"
"""No key of anybody's; written in pieces, so that nothing takes this file for a leak."""

SECRETS = (
    "remember that the staging password is hunter2",
    "The db password for the replica is tr0ub4dor&3",
    "my password is `swordfish`",
    "password: swordfish",
    "PGPASSWORD=letmein",
    'the config has api_key = "' + RANDOM + '"',
    "the PIN is 4711",
    "the password is: hunter22",
    "The API key is now: abcd1234efgh",
    "The root password of the replica is\nS3cret!pass",
    "The API key is:\n\nabcd1234efgh",
    "password:\n  hunter22!x",
    "the new password is pa$$w0rd*",
    "passphrase is correct-horse-battery-staple",
    "Use postgres://app:s3cr3t!@db.internal:5432/app for the staging database.",
    "amqp://guest:gu3st@rabbit:5672",
    "redis://:p4ssw0rd@cache:6379/0",
    "send the header Authorization: Bearer " + RANDOM,
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA",
    "-----BEGIN " + "ENCRYPTED PRIVATE KEY-----",
    "always use " + "AKIA" + "IOSFODNN7QRSTUVW",
    "the token is " + "ghp_" + RANDOM,
    "github_pat_" + "11ABCDEFG0" + RANDOM,
    "glpat-" + "x9Y8z7W6v5U4t3S2r1Q0",
    "post with " + "xoxb-" + "123456789012-" + RANDOM,
    "OPENAI_API_KEY is " + "sk-proj-" + RANDOM,
    "sk-" + "ant-api03-" + RANDOM,
    "AIza" + "SyD4iE2xVSpkLLOXoyqT-KuPwAzgN3sV7f8",
    "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz123456",
    "sk_" + "live_" + "51H8xYzA2b3C4d5E6f7G8h9",
    "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "our deploy token changed to " + RANDOM + " yesterday",
    "the secret key is " + RANDOM,
    "log in as admin, password Summer2026! is the default: password is Summer2026!",
    "https://hooks.slack.com/services/" + "T00000000/B11111111/" + RANDOM,
    "set client_secret=" + RANDOM,
    "SECRET_KEY: 'django-insecure-" + RANDOM + "'",
)

NO_SECRETS = (
    "password:\n  secretKeyRef:\n    name: db",
    "token:\n  expires_in: 3600",
    "Token:\nUse the header of the gateway.",
    "The token is\n4096 bits long.",
    "The private key is\n~/.ssh/id_rsa",
    "The password is to\nbe changed every 90 days.",
    "Secret:\n<your-secret>",
    "The fix is in commit 3f786850e387550fdab836ed7e6dc881de23001b, reverted since.",
    "Commit a94a8fe is where the key regression began.",
    "The job 018f6c1e-7b5a-7c3d-9e2f-0a1b2c3d4e5f was stuck for an hour.",
    "The secret of the fast path is that 018f6c1e-7b5a-7c3d-9e2f-0a1b2c3d4e5f is cached.",
    "Memory [a1b2c3d4] says that deploys run on Tuesdays.",
    "The lock has sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==.",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 is the image's digest.",
    "Tokens are stored in /var/lib/app/tokens/current.json and rotated by cron.",
    "The password is stored in 1Password, under the name of the service.",
    "Passwords are hashed with argon2id, never with bcrypt.",
    "The token is short-lived and refreshed by the client.",
    "The token is 4096 bits long.",
    "The access token expires after 15 minutes.",
    "The API key is read from the environment variable OPENAI_API_KEY.",
    "Never log the Authorization header or a bearer token.",
    "The password must be at least 12 characters long.",
    "password: required, and at most 72 bytes",
    "Set PGPASSWORD=$STAGING_PASSWORD before the script runs.",
    "Use postgres://app:${DB_PASSWORD}@db.internal/app as the address.",
    "The database is at postgres://db.internal:5432/app, and needs no password.",
    "Connect with ssh deploy@10.0.0.12, port 2222.",
    "The public address of the bastion is 203.0.113.7.",
    "The primary key of orders is a ULID, and the secret_version column is an integer.",
    "We key the cache by tenant id and by the SHA-256 of the query.",
    "Read src/recollect/stores/postgres/migrations/versions/0001_first.py first.",
    "The design system's tokens are in packages/design-tokens/src/generated/ColorTokensLightTheme2024.ts.",
    "Our Kubernetes secret is called orders-api-credentials and lives in the namespace payments.",
    "The secret is to warm the cache before the load test.",
    "Use the function getUserAccessTokenFromRequestContext2 to read a token.",
    "I prefer tabs to spaces in Makefiles.",
    "The base64 of an empty object is e30=.",
    "The class is called AbstractSingletonProxyFactoryBean3WithTokens, in case you look for it.",
    "The build id 20260531T180000Z-7f3a is in the footer.",
    "The credentials are in the team's vault under kv/orders/prod.",
)


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_found(text: str) -> None:
    """A key, a token, a password, in code or said in a sentence, is found."""
    assert find_secrets(text)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_ordinary_sentences_have_none(text: str) -> None:
    """Commits, ids, hashes, paths, and sentences about secrets are none."""
    assert find_secrets(text) == ()


def test_every_line_is_read() -> None:
    """A secret is found wherever in a text it stands, and each kind is named once."""
    found = find_secrets("Deploys run on Tuesdays.\n" * 50 + "password=hunter2\npasswd=hunter3")
    assert found
    assert len(set(found)) == len(found)


def test_without_detectors_nothing_is_said_to_be_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where detect-secrets cannot be imported, the answer is an error and never that there is no secret."""
    detect._load.cache_clear()  # noqa: SLF001 - what a new process starts with
    monkeypatch.setitem(sys.modules, "detect_secrets.plugins.aws", None)
    with pytest.raises(SecretsUnchecked, match="pip install"):
        find_secrets("Deploys run on Tuesdays.")
    monkeypatch.undo()
    assert find_secrets("Deploys run on Tuesdays.") == ()
