"""Home Assistant's own integration `signal_messenger`, unchanged, under the test harness of Home Assistant."""

import os

import pytest
from homeassistant.setup import async_setup_component
from pysignalclirestapi import SignalCliRestApiError

pytestmark = pytest.mark.usefixtures("socket_enabled")

TO = os.environ["TO"]
OTHER = TO[:-4] + "9999"


async def notify(hass, recipients, data):
    entry = {
        "platform": "signal_messenger",
        "name": "signal",
        "url": os.environ["url"],
        "number": os.environ["number"],
        "recipients": recipients,
    }
    assert await async_setup_component(hass, "notify", {"notify": [entry]})
    await hass.async_block_till_done()
    await hass.services.async_call("notify", "signal", data, blocking=True)


async def test_text(hass):
    await notify(hass, [TO], {"message": "from Home Assistant"})


async def test_file(hass, tmp_path):
    picture = tmp_path / "door.png"
    picture.write_bytes(bytes.fromhex("89504e470d0a1a0a"))
    data = {"message": "at the door", "data": {"attachments": [str(picture)]}}
    await notify(hass, [TO], data)


async def test_several_recipients(hass):
    await notify(hass, [TO, OTHER], {"message": "to both"})


async def test_refusal(hass):
    with pytest.raises(SignalCliRestApiError, match="12 is no number"):
        await notify(hass, [TO, "12"], {"message": "to nobody"})


async def test_other_line(hass, monkeypatch):
    monkeypatch.setitem(os.environ, "number", "+12025550000")
    with pytest.raises(SignalCliRestApiError, match="is not a line of this key"):
        await notify(hass, [TO], {"message": "by nobody"})
