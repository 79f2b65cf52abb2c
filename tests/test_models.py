"""Model names become endpoints, wires and capabilities, and keys stay at home."""

from __future__ import annotations

from typing import Any

import pytest

from misled import models
from misled.errors import UserError
from misled.models import Capabilities, resolve
from misled.records import Prefill, Sampling


def test_a_name_is_cut_at_the_first_slash() -> None:
    model = resolve("vllm/Qwen/Qwen3-8B")
    assert (model.provider, model.name) == ("vllm", "Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai/gpt-4.1", {"temperature": "ok", "system_role": "system"}),
        ("openai/o3-mini", {"temperature": "rejected", "system_role": "developer"}),
        ("openai/gpt-5", {"temperature": "rejected"}),
        ("openai/omni", {"temperature": "ok"}),
        ("openrouter/openai/o3-mini", {"temperature": "ok", "system_role": "system"}),
        ("deepseek/any", {"prefill": "thinking", "prefill_root": "/beta"}),
        ("ark/any", {"prefill": "none"}),
        ("ark/doubao-seed-1-6-251015", {"prefill": "content", "prefill_needs_thinking_off": True}),
        ("local/smollm2", {"prefill": "content", "echoes_prefill": True}),
        ("planted/mixed", {"prefill": "content"}),
    ],
)
def test_capabilities_come_from_the_table_and_its_patterns(
    model: str, expected: dict[str, Any]
) -> None:
    found = resolve(model).capabilities
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_models_own_overrides_are_laid_over_all_tables() -> None:
    providers = {"openai": {"temperature": "ignored"}}
    model = resolve("openai/gpt-4.1", providers=providers)
    assert model.capabilities.temperature == "ignored"
    overrides = {"temperature": "ok", "prefill": "content"}
    found = resolve("openai/o3-mini", providers=providers, overrides=overrides).capabilities
    assert (found.temperature, found.prefill) == ("ok", "content")
    assert found.token_parameter == "max_completion_tokens"


def test_a_provider_of_the_users_own() -> None:
    table = {
        "base_url": "https://llm.example.org/v1/",
        "key_env": "EXAMPLE_KEY",
        "prefill": "content",
        "models": {"big-*": {"temperature": "rejected"}},
    }
    model = resolve("mine/big-1", providers={"mine": table})
    assert model.base_url == "https://llm.example.org/v1"
    assert (model.key_env, model.wire) == ("EXAMPLE_KEY", "openai")
    assert model.capabilities == Capabilities(prefill="content", temperature="rejected")


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("gpt-4.1", {}, "write it as PROVIDER/MODEL"),
        ("/m", {}, "write it as PROVIDER/MODEL"),
        ("openai/", {}, "write it as PROVIDER/MODEL"),
        ("opnai/gpt-4.1", {}, "unknown provider 'opnai'; did you mean 'openai'?"),
        ("local/smolm2", {}, "did you mean 'smollm2'?"),
        ("local/weights.bin", {}, "unknown model local/"),
        ("anthropic/claude", {}, "wire 'anthropic' is not spoken yet"),
        ("mine/m", {"providers": {"mine": {"key_env": "K"}}}, "is no http(s) address"),
        ("vllm/m", {"base_url": "localhost:8000"}, "is no http(s) address"),
        ("vllm/m", {"base_url": "http://"}, "is no http(s) address"),
        ("vllm/m", {"base_url": "http://[::1"}, "is no http(s) address"),
        ("vllm/m", {"base_url": "http://h:99999"}, "is no http(s) address"),
        ("vllm/m", {"base_url": "file:///etc/passwd"}, "is no http(s) address"),
        ("vllm/m", {"base_url": "https://me:secret@h/v1"}, "named by key_env"),
        ("vllm/m", {"base_url": "https://h/v1?key=secret"}, "named by key_env"),
        ("vllm/m", {"providers": {"vllm": {"prefil": "none"}}}, "did you mean 'prefill'?"),
        ("vllm/m", {"providers": {"vllm": {"prefill": "maybe"}}}, "[providers.vllm]"),
        ("vllm/m", {"providers": {"vllm": {"base_url": 5}}}, "[providers.vllm]"),
        ("vllm/m", {"providers": {"vllm": {"models": {"*": 5}}}}, "[providers.vllm]"),
        ("vllm/m", {"overrides": {"temprature": "ok"}}, "did you mean 'temperature'?"),
        ("vllm/m", {"overrides": {"temperature": "hot"}}, "vllm/m: "),
    ],
)
def test_what_cannot_be_resolved_is_one_line_that_helps(
    model: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError) as caught:
        resolve(model, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_key_is_read_from_its_variable_and_missed_by_name() -> None:
    model = resolve("openai/gpt-4.1")
    assert models.key(model, {"OPENAI_API_KEY": " k\n"}) == "k"
    for environ in ({}, {"OPENAI_API_KEY": " "}):
        with pytest.raises(UserError, match="set the variable OPENAI_API_KEY"):
            models.key(model, environ)


def test_a_server_of_the_users_own_may_do_without_a_key() -> None:
    model = resolve("vllm/m", base_url="http://10.0.0.7:8000/v1")
    assert models.key(model, {}) is None
    assert models.key(model, {"VLLM_API_KEY": "k"}) == "k"
    assert models.key(resolve("planted/mixed"), {}) is None
    assert models.key(resolve("local/smollm2"), {}) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/v1",
        "http://api.openai.com/v1",  # in the clear
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "http://127.0.0.1:9/v1",
    ],
)
def test_another_server_does_not_get_a_hosted_providers_key(url: str) -> None:
    assert resolve("openai/gpt-4.1", base_url=url).key_env is None
    assert resolve("openai/gpt-4.1", providers={"openai": {"base_url": url}}).key_env is None
    for name in ("openai", "mine"):
        table = {"base_url": url, "key_env": "OPENAI_API_KEY"}
        with pytest.raises(UserError, match=r"OPENAI_API_KEY belongs to https://api\.openai\.com"):
            resolve(f"{name}/m", providers={name: table})


def test_a_key_goes_to_every_address_of_its_provider() -> None:
    assert resolve("openai/m", base_url="https://API.openai.com/v2").key_env == "OPENAI_API_KEY"
    assert resolve("moonshot/m", base_url="https://api.moonshot.cn/v1").key_env is not None
    mine = {"base_url": "https://llm.example.org/v1", "key_env": "EXAMPLE_KEY"}
    providers = {"mine": mine}
    other = resolve("mine/m", providers=providers, base_url="https://elsewhere.example/v1")
    assert other.key_env is None
    beside = resolve("mine/m", providers=providers, base_url="https://llm.example.org/v2")
    assert beside.key_env == "EXAMPLE_KEY"


def test_models_in_this_process_have_no_address() -> None:
    for name in ("local/smollm2", "local/weights/m.gguf", "local//tmp/m.gguf", "planted/mixed"):
        assert resolve(name, base_url="https://api.openai.com/v1").base_url == ""


def test_a_prefill_goes_to_the_path_that_takes_it_on_the_same_host() -> None:
    model, opened = resolve("deepseek/m"), Prefill("content", "So:")
    assert models.endpoint(model, None) == "https://api.deepseek.com/chat/completions"
    assert models.endpoint(model, opened) == "https://api.deepseek.com/beta/chat/completions"
    elsewhere = resolve("deepseek/m", base_url="http://127.0.0.1:9/deepseek/")
    assert models.endpoint(elsewhere, opened) == "http://127.0.0.1:9/deepseek/chat/completions"
    for root in ("//evil.example", "https://evil.example", "@evil.example"):
        crooked = resolve("deepseek/m", overrides={"prefill_root": root})
        assert models.host(models.endpoint(crooked, opened)) == "api.deepseek.com"


@pytest.mark.parametrize(
    ("can", "sampling", "prefill", "words"),
    [
        ({}, Sampling(), None, None),
        ({}, Sampling(temperature=0.5, top_k=3), None, None),
        ({}, Sampling(effort="low"), None, "no effort parameter"),
        ({"effort": "reasoning_effort"}, Sampling(effort="low"), None, None),
        ({}, Sampling(thinking=True), None, "cannot be turned on"),
        ({"thinking_on": {"t": 1}}, Sampling(thinking=True), None, None),
        ({"thinking_on": {"t": 1}}, Sampling(thinking=False), None, "cannot be turned off"),
        ({}, Sampling(), Prefill("content", "So"), "prefill of its content"),
        ({"prefill": "content"}, Sampling(), Prefill("content", "So"), None),
        ({"prefill": "content"}, Sampling(), Prefill("thinking", "So"), "of its thinking"),
        ({"prefill": "thinking"}, Sampling(), Prefill("content", "So"), None),
        ({"prefill": "thinking"}, Sampling(), Prefill("thinking", "So"), None),
    ],
)
def test_what_a_model_lacks_is_said_before_it_is_asked(
    can: dict[str, Any], sampling: Sampling, prefill: Prefill | None, words: str | None
) -> None:
    found = Capabilities(**can).lacks(sampling, prefill)
    assert found is None if words is None else words in (found or "")


def test_parameters_that_are_set_and_not_heeded_are_named() -> None:
    can = Capabilities(temperature="rejected", top_k="ignored")
    assert can.unheeded(Sampling(temperature=0.0, top_k=20)) == ["temperature", "top_k"]
    assert can.unheeded(Sampling(max_tokens=20)) == []


def test_the_listing_names_every_provider_once() -> None:
    names = [entry["provider"] for entry in models.listing()]
    assert len(set(names)) == len(names)
    assert {"openai", "anthropic", "deepseek", "local", "planted"} <= set(names)
