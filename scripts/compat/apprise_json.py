"""Apprise's `json://` on the relay's own API, with the URL of the guide."""

import os
from urllib.parse import quote, urlsplit

import apprise

relay = urlsplit(os.environ["RELAY"])
url = (
    f"json://{relay.netloc}/api/v1/messages/send?+X-API-Key={os.environ['key']}"
    f"&+X-API-Secret={os.environ['secret']}&:message=text&:to={quote(os.environ['TO'], safe='')}"
    "&:title=&:type=&:version=&:attachments="
)
client = apprise.Apprise()
assert client.add(url), "Apprise refused the URL"
assert client.notify(body="from Apprise"), "Apprise reports a failure"
