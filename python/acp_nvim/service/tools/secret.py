"""Files whose contents take the user's word even to be read: they leave this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from acp_nvim.session.ports import RequestError

from ..roots import resolve

_NAMES = ("credentials", "secret", "secrets")

#: By name, at any depth, whatever the case.
SECRET = (
    ".git/**",
    ".env*",
    "*.env",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc*",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".authinfo*",
    ".git-credentials",
    ".dockercfg",
    ".docker/config.json",
    ".ssh/**",
    ".gnupg/**",
    ".aws/**",
    ".azure/**",
    ".kube/**",
    ".config/gcloud/**",
    ".vault-token",
    ".terraform/**",
    "*.tfvars",
    "*.tfstate*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "*.asc",
    "*.gpg",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    *_NAMES,
    *(
        f"{name}.{end}"
        for name in _NAMES
        for end in ("json", "yml", "yaml", "toml", "ini", "txt", "xml", "cfg")
    ),
    "*.secret",
    "*.secrets",
    "service-account*.json",
)


def secret(path: str, roots: Sequence[str]) -> bool:
    """Whether its name, or that of the file it leads to, is one of those. Touches the disk."""
    return resolve(path, roots, SECRET).why == "protected"


def open_ones(paths: Iterable[str], roots: Sequence[str], protected: Sequence[str]) -> set[str]:
    """Of absolute paths those that may be told of without a word: inside, and of no such name."""
    found = set()
    for path in paths:
        try:
            if resolve(path, roots, (*SECRET, *protected)).why is None:
                found.add(path)
        except RequestError:
            continue
    return found
