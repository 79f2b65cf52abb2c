"""What a probe finds of servers that do this and that, and how later runs know."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from commands import misled
from misled import models, probe
from misled.cli import runs
from misled.engines.http import World
from misled.engines.local import serving as embedded
from misled.errors import UserError
from misled.models import Model
from misled.probe import Finding
from servers import Handler, completion, fail, model, serving
from test_local import smollm2

__all__ = ["smollm2"]

WORDS = "alpha bravo charlie delta echo foxtrot"


@pytest.fixture(autouse=True)
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MISLED_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


def probed(handler: Handler, **table: Any) -> tuple[dict[str, Finding], dict[str, Any]]:
    """Findings by name, and what differs from what is declared."""

    async def run() -> tuple[dict[str, Finding], dict[str, Any]]:
        async with serving(handler) as server:
            asked = model(server.url, **table)
            found = await asyncio.to_thread(probe.probe, asked, World(environ={}))
            return {f.what: f for f in found}, probe.differing(found, asked.capabilities)

    return asyncio.run(run())


def server(
    *,
    prefill: str = "on",
    field: str = "reasoning",
    temperature: bool = True,
    history: bool = False,
    cached: bool = True,
) -> Handler:
    """A server that goes `on` with a prefill, `echo`es it, begins `anew` or `refuse`s it."""
    seen: set[str] = set()

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        texts = [m["content"] for m in body["messages"]]
        past = [m.get("reasoning_content", "") for m in body["messages"][:-1]] if history else []
        last = body["messages"][-1]
        content, message = "5", {field: "I count."}
        if "temperature" in body and not temperature:
            return await fail(400, '{"error": {"message": "temperature is not supported"}}')(
                request
            )
        if last["role"] == "assistant":
            if prefill == "refuse":
                return await fail(400, '{"error": {"message": "no prefill"}}')(request)
            rest = " delta echo foxtrot"
            content = {"on": rest, "echo": last["content"] + rest, "anew": WORDS}[prefill]
            message = {}
            if "reasoning_content" in last:  # a prefilled thinking
                closed = body.get("continue_final_message") == "content"
                content, message = "5", {} if closed else {field: " 5."}
        reply = completion(content, **message)
        reply["usage"]["prompt_tokens"] = len(" ".join([*texts, *past]).split()) + 4
        text = " ".join(texts)
        if cached:
            hit = reply["usage"]["prompt_tokens"] - 1 if text in seen else 0
            reply["usage"]["prompt_tokens_details"] = {"cached_tokens": hit}
        seen.add(text)
        return web.json_response(reply)

    return handler


def test_a_server_that_does_what_is_declared() -> None:
    found, other = probed(server(), prefill="content")
    assert other == {}
    assert found["reasoning comes in"].found == "reasoning"
    assert (found["prefill"].found, found["prefill"].declared) == ("goes on", "content")
    assert found["temperature"].found == "accepted"
    assert found["earlier thinking"].found == "left out"
    assert found["prefix cache"].found.endswith("tokens on a repeat")
    assert not found["prefix cache"].found.startswith("0 ")


@pytest.mark.parametrize(
    ("kind", "declared", "other"),
    [
        ("on", "none", {"prefill": "content"}),
        ("echo", "none", {"prefill": "content", "echoes_prefill": True}),
        ("echo", "content", {"echoes_prefill": True}),
        ("refuse", "content", {"prefill": "none"}),
        ("refuse", "none", {}),
        ("anew", "content", {"prefill": "none"}),
    ],
)
def test_what_a_server_does_with_a_prefill(kind: str, declared: str, other: dict[str, Any]) -> None:
    assert probed(server(prefill=kind), prefill=declared)[1] == other


def test_a_rejected_temperature_kept_thinking_and_an_uncounted_cache() -> None:
    table = {"prefill": "content"}
    found, other = probed(server(temperature=False, history=True, cached=False), **table)
    assert other == {"temperature": "rejected", "history_reasoning": "reasoning_content"}
    assert "temperature is not supported" in found["temperature"].detail
    assert found["prefix cache"].found == "unknown: cached tokens are not counted"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_the_field_that_reasoning_comes_in_is_named(field: str) -> None:
    assert probed(server(field=field))[0]["reasoning comes in"].found == field


def test_a_prefilled_thinking_that_goes_on_and_one_that_is_closed() -> None:
    spelled = {
        "open_body": {"continue_final_message": "reasoning_content"},
        "closed_body": {"continue_final_message": "content"},
        "arrival": "trusted",
    }
    found, other = probed(server(), prefill="thinking", **spelled)
    assert found["thinking prefill, open"].found == "goes on thinking"
    assert found["thinking prefill, closed"].found == "answers"
    assert other == {"thinking_prefill": "both"}


def test_a_server_that_fails_otherwise_shows_nothing() -> None:
    """A question that was not answered is no proof that it cannot be."""
    good = server()

    async def moody(request: web.Request) -> web.StreamResponse:
        if (await request.json())["messages"][-1]["role"] == "assistant":
            return await fail(404)(request)
        return await good(request)

    found, other = probed(moody, prefill="content")
    assert found["prefill"].found == "unknown: not_found"
    assert other == {}


def test_a_server_that_answers_nothing_is_one_line() -> None:
    with pytest.raises(UserError, match=r"test/m cannot be probed: .* answered 401"):
        probed(fail(401))


def test_what_was_found_is_kept_for_this_model_alone(own_config: Path) -> None:
    models.remember("vllm/Qwen[3]", {"prefill": "none"})
    models.remember("vllm/Qwen[3]", {"temperature": "rejected"})
    models.remember("openai/o9", {"prefill": "content", "prefill_message": {"prefix": True}})
    assert sorted(own_config.iterdir()) == [models.own_file()]
    found = models.resolve("vllm/Qwen[3]")
    assert (found.capabilities.prefill, found.capabilities.temperature) == ("none", "rejected")
    assert models.resolve("vllm/Qwen3").capabilities.prefill == "content"
    assert models.resolve("openai/o9").capabilities.prefill_message == {"prefix": True}
    assert models.resolve("openai/o9").capabilities.system_role == "developer"  # as built in


def test_a_run_says_where_found_and_declared_disagree() -> None:
    models.remember("vllm/m", {"prefill": "none", "temperature": "ok"})
    assert models.disagreeing(models.resolve("vllm/m")) == [
        "vllm/m: prefill is 'none' by your providers.toml, 'content' in the built-in table"
    ]
    assert models.disagreeing(models.resolve("vllm/other")) == []
    assert models.disagreeing(models.resolve("planted/mixed")) == []


def test_a_plan_has_the_last_word() -> None:
    models.remember("vllm/m", {"prefill": "none"})
    table = {"vllm": {"models": {"m": {"prefill": "content"}}}}
    assert models.resolve("vllm/m", providers=table).capabilities.prefill == "content"
    assert (
        models.resolve("vllm/m", overrides={"echoes_prefill": True}).capabilities.prefill == "none"
    )


@pytest.mark.parametrize("text", ["[vllm", "vllm = 3", "[vllm]\nprefil = 'none'"])
def test_a_file_that_is_none_is_one_line(own_config: Path, text: str) -> None:
    own_config.mkdir()
    models.own_file().write_text(text)
    with pytest.raises(UserError) as caught:
        models.resolve("vllm/m")
    assert "\n" not in str(caught.value)


def test_a_users_own_table_takes_no_key_to_another_host(own_config: Path) -> None:
    own_config.mkdir()
    models.own_file().write_text(
        '[mine]\nbase_url = "https://evil.example/v1"\nkey_env = "OPENAI_API_KEY"\n'
    )
    with pytest.raises(UserError, match="OPENAI_API_KEY belongs to https://api"):
        models.resolve("mine/m")


def test_the_command_reports_and_writes() -> None:
    async def run() -> tuple[subprocess.CompletedProcess[str], list[str]]:
        async with serving(server(prefill="echo", temperature=False)) as there:
            done = await asyncio.to_thread(
                misled,
                ["probe", "vllm/m", "--base-url", there.url, "--write", "--json"],
                Path.cwd(),
                env=os.environ | {"VLLM_API_KEY": "sk-canary"},
            )
            return done, [headers.get("Authorization", "") for _, headers, _ in there.seen]

    done, keys = asyncio.run(run())
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"what": "prefix cache"}.items() <= lines[-1].items()
    assert "echoes_prefill = True, not False as declared" in done.stderr
    assert str(models.own_file()) in done.stderr
    found: Model = models.resolve("vllm/m")
    assert found.capabilities.echoes_prefill
    assert found.capabilities.temperature == "rejected"
    assert set(keys) == {"Bearer sk-canary"}
    assert "sk-canary" not in done.stdout + done.stderr + models.own_file().read_text()


def test_a_plans_own_server_is_probed_as_the_plan_has_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"

    async def run() -> None:
        async with serving(server(temperature=False)) as there:
            plan.write_text(
                f'model = ["mine/m"]\nproviders.mine = {{base_url = "{there.url}"}}\n'
                'models."mine/m".capabilities = {prefill = "content"}\n'
                '[[cells]]\nproblems = ["small"]\n'
            )
            await asyncio.to_thread(runs.probe, "mine/m", plan=str(plan))

    asyncio.run(run())
    said = capfd.readouterr()
    assert "prefill: goes on (declared: content)" in said.out
    assert "temperature = 'rejected', not 'ok' as declared" in said.err


@pytest.mark.usefixtures("smollm2")
def test_the_embedded_model_echoes_a_prefill_and_caches_prefixes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "LONG", probe.LONG[:600])  # its cache takes prefixes of any length
    with embedded("smollm2", lambda _: None) as (found, world):
        findings = {f.what: f for f in probe.probe(found, world)}
        assert probe.differing(list(findings.values()), found.capabilities) == {}
    assert "repeating it" in findings["prefill"].found
    assert findings["prefix cache"].found.endswith("tokens on a repeat")
    assert findings["earlier thinking"].found == "left out"
