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
        ("local/qwen3.gguf", {"prefill": "thinking", "thinking_prefill": "both"}),
        ("planted/mixed", {"prefill": "thinking"}),
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
        ("vllm/m", {"providers": {"vllm": {"wire": "antropic"}}}, "did you mean 'anthropic'?"),
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


BUDGET = {"thinking_on": {"thinking": {"type": "enabled", "budget_tokens": 8192}}}


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
        ({"prefill": "thinking"}, Sampling(), Prefill("thinking", "So"), "a probe has shown"),
        ({"prefill": "content"}, Sampling(), Prefill("content", "</think>So"), "as structure"),
        (
            {"prefill": "content", "prefill_needs_thinking_off": True},
            Sampling(),
            Prefill("content", "So"),
            None,
        ),
        (
            {"prefill": "content", "prefill_needs_thinking_off": True, "thinks": True},
            Sampling(),
            Prefill("content", "So"),
            "only with thinking turned off",
        ),
        (BUDGET, Sampling(thinking=True, max_tokens=8192), None, "8192 tokens does not fit"),
        (BUDGET, Sampling(thinking=True, max_tokens=8193), None, None),
        (BUDGET, Sampling(max_tokens=100), None, None),
        ({**BUDGET, "max_tokens": 4096}, Sampling(thinking=True), None, "max_tokens = 4096"),
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


@pytest.mark.parametrize(
    ("thinks", "thinking", "expected"),
    [(True, None, True), (True, False, False), (False, None, False), (False, True, True)],
)
def test_what_is_not_heeded_while_the_model_thinks_is_named_only_then(
    thinking: bool | None,  # noqa: FBT001 - a table's column
    *,
    thinks: bool,
    expected: bool,
) -> None:
    can = Capabilities(sampling_thinking="ignored", thinks=thinks, top_k="rejected")
    sampling = Sampling(temperature=0.6, top_k=20, thinking=thinking)
    assert can.unheeded(sampling) == [*(["temperature"] if expected else []), "top_k"]
    assert can.heed(sampling)["top_k"] == "rejected"


def claude(name: str) -> tuple[str, str, object, object]:
    """What its prefill and sampling are like, and how its thinking is turned on and off."""
    can = resolve(f"anthropic/{name}").capabilities
    on, off = (fragment.get("thinking", {}) for fragment in (can.thinking_on, can.thinking_off))
    return can.prefill, can.temperature, on.get("type"), off.get("type")


OLD = ("content", "ok", "enabled", "disabled")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-3-haiku-20240307", ("content", "ok", None, None)),
        ("claude-3-5-sonnet-20241022", ("content", "ok", None, None)),
        ("claude-3-7-sonnet-20250219", OLD),
        ("claude-sonnet-4-20250514", OLD),
        ("claude-opus-4-0", OLD),
        ("claude-opus-4-1-20250805", OLD),
        ("claude-haiku-4-5", OLD),
        ("claude-opus-4-5-20251101", OLD),
        ("claude-opus-4-6", ("none", "ok", "adaptive", "disabled")),
        ("claude-sonnet-4-6", ("none", "ok", "adaptive", "disabled")),
        ("claude-opus-4-7", ("none", "rejected", "adaptive", "disabled")),
        ("claude-opus-4-8", ("none", "rejected", "adaptive", "disabled")),
        ("claude-opus-5", ("none", "rejected", "adaptive", "disabled")),
        ("claude-sonnet-5", ("none", "rejected", "adaptive", "disabled")),
        ("claude-opus-5-5", ("none", "rejected", "adaptive", None)),
        ("claude-fable-5", ("none", "rejected", "adaptive", None)),
        ("claude-sonnet-5-5", ("none", "rejected", "adaptive", "between_tools")),
        ("claude-haiku-5-5", ("none", "rejected", "adaptive", "disabled")),
        ("claude-of-next-year", ("none", "rejected", "adaptive", None)),
    ],
)
def test_a_claude_that_nobody_knows_is_taken_for_one_of_the_newest(
    name: str, expected: tuple[str, str, object, object]
) -> None:
    """A list of models without a prefill would miss each newer one."""
    assert claude(name) == expected


def test_effort_belongs_to_the_models_that_have_it() -> None:
    names = ("claude-opus-4-5", "claude-opus-4-6", "claude-of-next-year")
    assert {resolve(f"anthropic/{n}").capabilities.effort for n in names} == {
        "output_config.effort"
    }
    for name in ("claude-sonnet-4-5", "claude-haiku-4-5", "claude-3-7-sonnet-20250219"):
        assert resolve(f"anthropic/{name}").capabilities.effort == ""


def test_a_user_can_give_a_model_its_prefill_back() -> None:
    found = resolve("anthropic/claude-opus-4-7", overrides={"prefill": "content"}).capabilities
    assert found.lacks(Sampling(), Prefill("content", "So:")) is None


def test_the_listing_names_every_provider_once() -> None:
    names = [entry["provider"] for entry in models.listing()]
    assert len(set(names)) == len(names)
    assert {"openai", "anthropic", "deepseek", "local", "planted"} <= set(names)
