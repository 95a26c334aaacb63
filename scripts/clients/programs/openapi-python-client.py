# Runs beside `api`, which openapi-python-client makes.

import os

from api.api.keys import create_key
from api.api.messages import list_messages, send_message
from api.api.webhooks import create_webhook
from api.client import Client
from api.models import (
    CreatedKey,
    CreatedWebhook,
    ErrorAnswer,
    EventName,
    Message,
    MessageList,
    SendRequest,
    WebhookCreation,
)


def check(what: str, is_right: bool) -> None:
    if not is_right:
        raise SystemExit(f"{what} went wrong")


headers = {"X-API-Key": os.environ["API_KEY"], "X-API-Secret": os.environ["API_SECRET"]}
client = Client(base_url=os.environ["API_URL"], headers=headers)

sent = send_message.sync(client=client, body=SendRequest(to="+12025550147", text="Hello"))
assert isinstance(sent, Message)
check("send", sent.id.startswith("msg_") and sent.status == "later")

listed = list_messages.sync(client=client, limit=10)
assert isinstance(listed, MessageList)
check("list", any(one.id == sent.id and one.status == "later" for one in listed.data))

refused = send_message.sync_detailed(client=client, body=SendRequest(to="nobody", text="Hello"))
assert isinstance(refused.parsed, ErrorAnswer)
check("400", refused.status_code == 400 and refused.parsed.error.code == "invalid_recipient")

creation = WebhookCreation(url="http://127.0.0.1:9/hook", events=[EventName("message.received")])
webhook = create_webhook.sync(client=client, body=creation)
assert isinstance(webhook, CreatedWebhook)
check("webhook", webhook.secret.startswith("whsec_"))
check("events", "message.later" in webhook.events)

key = create_key.sync(client=client)
assert isinstance(key, CreatedKey)
check("key", key.key.startswith("hl_live_"))
