"""Which model is asked, and where. The key is never kept: only the name of the variable that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from grader.errors import UsageError

URL, MODEL, KEY_ENV = "SELFATTEND_JUDGE_URL", "SELFATTEND_JUDGE_MODEL", "SELFATTEND_JUDGE_KEY_ENV"
SETUP = "learn judge setup http://localhost:11434/v1 MODEL"
COMPLETIONS = "/chat/completions"


@dataclass(frozen=True)
class Settings:
    """`base_url` ends before `/chat/completions`; `key_env` names a variable of the environment, "" for none."""

    base_url: str
    model: str
    key_env: str = ""

    @property
    def host(self) -> str:
        """The host and port, as consent is given for."""
        return urlsplit(self.base_url).netloc

    @property
    def loopback(self) -> bool:
        """Whether the host is this machine by its very name; no name is looked up."""
        name = urlsplit(self.base_url).hostname or ""
        if name == "localhost":
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False

    @property
    def encrypted(self) -> bool:
        return self.base_url.startswith("https:")

    def to_dict(self) -> dict[str, str]:
        return asdict(self)

    def key(self, environment: Mapping[str, str]) -> str:
        """The key to send, "" where none is needed. Raises UsageError where it is not there."""
        if not self.key_env:
            return ""
        key = environment.get(self.key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            what = f"the variable {self.key_env} holds no key for {self.host}"
            raise UsageError(what, next_step=f"export {self.key_env}=...")
        return key


def settings(base_url: str, model: str, key_env: str = "") -> Settings:
    """Checked settings. Raises UsageError."""
    url = base_url.strip().rstrip("/").removesuffix(COMPLETIONS)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    plain = url.isascii() and url.isprintable() and " " not in url
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f'"{base_url}" is no address of a model', next_step=SETUP)
    if "@" in parts.netloc:
        raise UsageError("a name and password do not belong in the address", next_step=f"{SETUP} --key-env NAME")
    if not model.strip() or not model.isprintable() or len(model) > 200:
        raise UsageError("the model needs a name", next_step=SETUP)
    if key_env and not key_env.isidentifier():
        raise UsageError(
            f'"{key_env}" is no name of a variable; the key itself is never given here',
            next_step=f"{SETUP} --key-env NAME",
        )
    return Settings(url, model.strip(), key_env)


def from_environment(environment: Mapping[str, str]) -> Settings | None:
    """What the environment says; None where it says nothing. Raises UsageError."""
    if not environment.get(URL):
        return None
    return settings(environment[URL], environment.get(MODEL, ""), environment.get(KEY_ENV, ""))


def from_dict(data: Mapping[str, Any]) -> Settings:
    """What was kept. Raises UsageError."""
    return settings(str(data.get("base_url", "")), str(data.get("model", "")), str(data.get("key_env", "")))
