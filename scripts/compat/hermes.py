"""hermes-agent's adapter of BlueBubbles: registers its webhook, writes to a new person, hears and answers, sends a file,
comes back after a crash with one webhook, and takes it away at the end."""

import asyncio
import json
import os
import socket
import tempfile
import urllib.request

from gateway.config import PlatformConfig
from gateway.platforms.bluebubbles import BlueBubblesAdapter

TO = os.environ["TO"]
heard = []


def ask(path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["RELAY"] + path, data=data, headers=headers or {})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def write_to_relay(text):
    owner = {"X-API-Key": os.environ["owner_key"], "X-API-Secret": os.environ["owner_secret"]}
    path = f"/api/v1/simulated/lines/{os.environ['line']}/events"
    body = {"type": "message", "from": TO, "text": text}
    ask(path, body, {**owner, "Content-Type": "application/json"})


def registered():
    password = os.environ["password"].replace(":", "%3A")
    return ask(f"/compat/bluebubbles/api/v1/webhook?password={password}")["data"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def adapter_at(port):
    extra = {
        "server_url": os.environ["server_url"],
        "password": os.environ["password"],
        "webhook_port": port,
    }
    adapter = BlueBubblesAdapter(PlatformConfig(enabled=True, extra=extra))

    async def answer(event):
        heard.append(event.text)
        return f"You wrote: {event.text}"

    adapter.set_message_handler(answer)
    return adapter


async def until(what, is_it):
    for _ in range(300):
        if await asyncio.to_thread(is_it):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(what)


async def main():
    port = free_port()
    crashed = adapter_at(port)
    assert await crashed.connect(), "no connection"
    await crashed._runner.cleanup()
    await crashed.client.aclose()
    adapter = adapter_at(port)
    assert await adapter.connect(), "no second connection"
    assert len(registered()) == 1, registered()

    first = await adapter.send(TO, "from hermes")
    assert first.success, first
    await asyncio.to_thread(write_to_relay, "Is it ready?")
    await until("nothing was heard", lambda: heard == ["Is it ready?"])
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(b"soup")
        file.flush()
        sent = await adapter.send_document(f"any;-;{TO}", file.name, file_name="menu.txt")
    assert sent.success, sent
    info = await adapter.get_chat_info(TO)
    assert (info["type"], info["participants"]) == ("dm", [TO]), info
    await until("no answer went out", lambda: answered())
    await adapter.disconnect()
    assert registered() == [], registered()


def answered():
    owner = {"X-API-Key": os.environ["owner_key"], "X-API-Secret": os.environ["owner_secret"]}
    page = ask("/api/v1/messages?direction=outbound&limit=50", headers=owner)
    return any(each["text"] == "You wrote: Is it ready?" for each in page["data"])


asyncio.run(main())
