"""Home Assistant's integration BlueBubbles (helv-io/ha-bluebubbles), unchanged, under the test harness of Home Assistant."""

import os

import pytest
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.exceptions import HomeAssistantError

pytestmark = pytest.mark.usefixtures("socket_enabled")

TO = os.environ["TO"]
OTHER = TO[:-4] + "9999"
DOMAIN = "bluebubbles"


async def send(hass, **data):
    await hass.services.async_call(DOMAIN, "send_message", data, blocking=True)


async def test_integration(hass, tmp_path):
    # The harness has a folder of its own for such integrations.
    import custom_components

    custom_components.__path__.insert(0, os.path.join(os.environ["checkout"], "custom_components"))
    hass.data.pop("custom_components", None)
    flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": "user"})
    entered = {"host": os.environ["server_url"], "password": os.environ["password"], "ssl": False}
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], entered)
    assert done["type"] is FlowResultType.CREATE_ENTRY, done
    await hass.async_block_till_done()

    await send(hass, addresses=TO, message="from Home Assistant")
    picture = tmp_path / "door.png"
    picture.write_bytes(bytes.fromhex("89504e470d0a1a0a"))
    hass.config.allowlist_external_dirs = {str(tmp_path)}
    await send(hass, addresses=TO, message="at the door", attachment=str(picture))
    with pytest.raises(HomeAssistantError, match="No group has exactly these members"):
        await send(hass, addresses=f"{TO}, {OTHER}", message="to both")

    [entry] = hass.config_entries.async_entries(DOMAIN)
    client = hass.data[DOMAIN][entry.entry_id].api
    made = await client.async_create_webhook("http://127.0.0.1:9/api/webhook/x", ["new-message"])
    assert [each["id"] for each in await client.async_list_webhooks()] == [made["data"]["id"]]
    await client.async_delete_webhook(made["data"]["id"])
    assert await client.async_list_webhooks() == []
