# Runs beside `openapi_client`, which openapi-generator makes.

import os

from openapi_client import (
    ApiClient,
    ApiException,
    Configuration,
    EventName,
    KeysApi,
    MessagesApi,
    SendRequest,
    WebhookCreation,
    WebhooksApi,
)


def check(what: str, is_right: bool) -> None:
    if not is_right:
        raise SystemExit(f"{what} went wrong")


keys = {"apiKey": os.environ["API_KEY"], "apiSecret": os.environ["API_SECRET"]}
client = ApiClient(Configuration(host=os.environ["API_URL"], api_key=keys))
messages = MessagesApi(client)

sent = messages.send_message(SendRequest(to="+12025550147", text="Hello"))
check("send", sent.id.startswith("msg_") and sent.status.actual_instance == "later")

listed = messages.list_messages(limit=10).data
check("list", any(one.id == sent.id and one.status.actual_instance == "later" for one in listed))

try:
    messages.send_message(SendRequest(to="nobody", text="Hello"))
    check("400", False)
except ApiException as error:
    code = error.data.error.code.actual_instance
    check("400", error.status == 400 and code == "invalid_recipient")

creation = WebhookCreation(url="http://127.0.0.1:9/hook", events=[EventName("message.received")])
webhook = WebhooksApi(client).create_webhook(creation)
check("webhook", webhook.secret.startswith("whsec_"))
check("events", "message.later" in [event.actual_instance for event in webhook.events])

key = KeysApi(client).create_key()
check("key", key.key.startswith("hl_live_"))
