"""From "provider/model" to an endpoint, a key variable, a wire and capabilities.

    resolve("deepseek/deepseek-v4-pro")
    -> Model(base_url="https://api.deepseek.com", key_env="DEEPSEEK_API_KEY", wire="openai",
             capabilities=Capabilities(prefill="thinking", ...))

The table is `data/providers.toml`; over it are laid `providers.toml` of the user's
configuration (where `misled probe --write` puts what it found), a plan's
`[providers.NAME]` tables, and a model's own overrides. A key variable belongs to the
host of its provider: another base URL does not get it.

Knows nothing about requests, and reads the environment only in `key` and `own_file`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
import platformdirs
import tomli_w

from misled.errors import UserError, nearest
from misled.records import Prefill, Record
from misled.wire import WIRES, Capabilities

__all__ = [
    "Capabilities",
    "Endpoint",
    "Model",
    "disagreeing",
    "endpoint",
    "host",
    "key",
    "listing",
    "own_file",
    "remember",
    "resolve",
]

EMBEDDED = ("local", "planted")  # they run in this process
SMOLLM2 = "smollm2"

T = TypeVar("T")


class Model(Record, frozen=True):
    """A model and how to reach it; `key_env` names a variable and is never a key.

    `base_url` is "" for models that run in this process. A server of the user's
    own (`self_hosted`) may do without a key.
    """

    id: str
    provider: str
    name: str
    base_url: str
    key_env: str | None
    wire: str
    capabilities: Capabilities
    self_hosted: bool = False


class Endpoint(Record, frozen=True):
    """The part of a provider's table that is no capability.

    Attributes:
        base_url: the server's address.
        also: further base URLs that may have the key.
        key_env: the environment variable that holds the key.
        wire: the dialect, openai or anthropic.
        self_hosted: a server of the user's own: it may do without a key, wherever it is.
        models: capabilities of the models whose name matches a pattern; the last match wins.
    """

    base_url: str = ""
    also: list[str] = []
    key_env: str | None = None
    wire: str = "openai"
    self_hosted: bool = False
    models: dict[str, dict[str, Any]] = {}


_CAPABILITIES = tuple(field.name for field in msgspec.structs.fields(Capabilities))
_ENDPOINT = tuple(field.name for field in msgspec.structs.fields(Endpoint))


def resolve(
    model_id: str,
    *,
    base_url: str | None = None,
    providers: Mapping[str, Mapping[str, Any]] = {},
    overrides: Mapping[str, Any] = {},
) -> Model:
    """The model that `model_id` names; UserError, in one line, where it names none.

    Args:
        model_id: `provider/model`, cut at the first slash.
        base_url: another server for this provider; a hosted provider's key stays behind.
        providers: the user's `[providers.NAME]` tables.
        overrides: capabilities of this model, over all tables.
    """
    provider, name = _cut(model_id)
    providers = _own(providers)
    table, own = _table(provider, providers), providers.get(provider, {})
    home = table.get("base_url", "")
    model = Model(
        id=model_id,
        provider=provider,
        name=name,
        base_url="" if provider in EMBEDDED else (base_url or home).rstrip("/"),
        key_env=table.get("key_env"),
        wire=table.get("wire", "openai"),
        capabilities=_capabilities(model_id, table, overrides),
        self_hosted=table.get("self_hosted", False),
    )
    if provider in EMBEDDED:
        return model
    _check_address(model)
    if model.wire not in WIRES:
        raise UserError(f"{model_id}: {nearest('wire', model.wire, WIRES)}")
    return msgspec.structs.replace(model, key_env=_key_at_home(model, home, own.get("key_env")))


def _cut(model_id: str) -> tuple[str, str]:
    """Provider and name."""
    provider, _, name = model_id.partition("/")
    if not provider or not name:
        known = ", ".join(_builtin())
        raise UserError(f"model {model_id!r}: write it as PROVIDER/MODEL (providers: {known})")
    if provider == "local" and not name.endswith(".gguf"):
        _known("model local/", [name], [SMOLLM2, "PATH.gguf"])
    return provider, name


def _capabilities(
    model_id: str, table: Mapping[str, Any], overrides: Mapping[str, Any]
) -> Capabilities:
    """Those of the provider, of the patterns that match the model, and its own, in this order."""
    _, name = _cut(model_id)
    fields = {k: v for k, v in table.items() if k in _CAPABILITIES}
    for pattern, refined in table.get("models", {}).items():
        if fnmatchcase(name, pattern):
            fields |= refined
    fields |= overrides
    _known(f"capability of {model_id}", fields, _CAPABILITIES)
    return _convert(model_id, fields, Capabilities)


def _check_address(model: Model) -> None:
    """UserError where the base URL is no plain http(s) address."""
    try:
        parts = urlsplit(model.base_url)
        plain = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        plain = False
    if not plain:
        raise UserError(
            f"{model.id}: base_url {model.base_url!r} is no http(s) address; give one with "
            f"--base-url or in [providers.{model.provider}]"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError(
            f"{model.id}: base_url holds more than an address; a key belongs into a variable, "
            f"named by key_env in [providers.{model.provider}]"
        )


def _key_at_home(model: Model, own: str, named: str | None) -> str | None:
    """The key variable, if the model's server may have it (`named`: the user's table says so)."""
    homes = _homes().get(model.key_env or "")
    if homes is None:
        moved = _origin(model.base_url) != _origin(own) and not model.self_hosted
        return None if moved else model.key_env
    if _origin(model.base_url) in homes:
        return model.key_env
    if named is not None:
        raise UserError(
            f"[providers.{model.provider}]: {named} belongs to {', '.join(sorted(homes))} and is "
            f"sent nowhere else; put the key for {host(model.base_url)} into another variable"
        )
    return None


@cache
def _homes() -> dict[str, set[str]]:
    """The origins that each hosted provider's key variable belongs to."""
    return {
        table["key_env"]: {_origin(url) for url in (table["base_url"], *table.get("also", ()))}
        for table in _builtin().values()
        if "key_env" in table and not table.get("self_hosted")
    }


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


@cache
def _builtin() -> dict[str, dict[str, Any]]:
    text = (files("misled") / "data" / "providers.toml").read_text("utf-8")
    return tomllib.loads(text)


def _table(provider: str, providers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The provider's table, the user's laid over the built-in one; both checked."""
    builtin = _builtin()
    if provider not in builtin and provider not in providers:
        raise UserError(nearest("provider", provider, {*builtin, *providers}))
    table = _laid(builtin.get(provider, {}), providers.get(provider, {}))
    where = f"[providers.{provider}]"
    _known(f"key of {where}", table, (*_ENDPOINT, *_CAPABILITIES))
    _convert(where, {k: v for k, v in table.items() if k in _CAPABILITIES}, Capabilities)
    _convert(where, {k: v for k, v in table.items() if k not in _CAPABILITIES}, Endpoint)
    return table


def _laid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """One provider's table over another; patterns of models are added at the end."""
    mine, patterns = above.get("models", {}), {**below.get("models", {})}
    if not isinstance(mine, dict):
        return {**below, **above}
    for pattern, refined in mine.items():
        known = patterns.pop(pattern, {})
        patterns[pattern] = known | refined if isinstance(refined, dict) else refined
    return {**below, **above, "models": patterns}


def own_file() -> Path:
    """Where the user's own tables are; `MISLED_CONFIG` names another directory."""
    named = os.environ.get("MISLED_CONFIG")
    return Path(named or platformdirs.user_config_dir("misled")) / "providers.toml"


def _own(providers: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """A plan's tables over the user's."""
    tables = _read_own()
    return tables | {name: _laid(tables.get(name, {}), providers[name]) for name in providers}


def _read_own() -> dict[str, Any]:
    path = own_file()
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise UserError(f"{path}: {name} is no table of a provider")
    return tables


def remember(model_id: str, found: Mapping[str, Any]) -> Path:
    """Write capabilities of one model into the user's own file, over what it says of them."""
    provider, name = _cut(model_id)
    pattern = re.sub(r"([*?[])", r"[\1]", name)
    tables = _read_own()
    merged = _laid(tables.get(provider, {}), {"models": {pattern: dict(found)}})
    path = own_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tomli_w.dumps(tables | {provider: merged}), "utf-8")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def disagreeing(model: Model) -> list[str]:
    """One sentence for each capability in which the user's own file is not the built-in table."""
    builtin = _builtin()
    if model.provider not in builtin or model.provider not in _read_own():
        return []
    declared = _capabilities(model.id, builtin[model.provider], {})
    mine = _capabilities(model.id, _table(model.provider, _own({})), {})
    return [
        f"{model.id}: {name} is {getattr(mine, name)!r} by your {own_file().name}, "
        f"{getattr(declared, name)!r} in the built-in table"
        for name in _CAPABILITIES
        if getattr(mine, name) != getattr(declared, name)
    ]


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise UserError(nearest(what, name, known))


def _convert(where: str, value: Mapping[str, Any], type_: type[T]) -> T:
    """`value` as a record; UserError in one line where a field has another type."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise UserError(f"{where}: {error}") from None


def endpoint(model: Model, prefill: Prefill | None) -> str:
    """The URL that a request with this prefill goes to; its host is the base URL's.

    Only a provider's own server, which has its key, is known to have the other path.
    """
    base, root = model.base_url, model.capabilities.prefill_root
    if prefill is not None and root and model.key_env is not None:
        parts = urlsplit(base)
        base = f"{parts.scheme}://{parts.netloc}/{root.strip('/')}"
    return base + WIRES[model.wire](model.capabilities).path


def host(url: str) -> str:
    """`host:port` of a URL, "" where it has none."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def key(model: Model, environ: Mapping[str, str]) -> str | None:
    """The model's API key from `environ`; UserError where a needed variable is not set."""
    if model.key_env is None:
        return None
    value = environ.get(model.key_env, "").strip()
    if not value and not model.self_hosted:
        raise UserError(f"{model.id} needs an API key: set the variable {model.key_env}")
    return value or None


def listing() -> list[dict[str, Any]]:
    """The built-in providers, one flat object each, for `misled models`."""
    return [
        {
            "provider": name,
            "base_url": table.get("base_url"),
            "key_env": table.get("key_env"),
            "wire": table.get("wire", "openai"),
            "prefill": table.get("prefill", "none"),
            "thinking_prefill": table.get("thinking_prefill"),
            "temperature": table.get("temperature", "ok"),
        }
        for name, table in _builtin().items()
    ]
