"""Apprise's `signal://`, with and without a file. It has no place for a path in its URL."""

import os
import tempfile
from urllib.parse import urlsplit

import apprise

host = urlsplit(os.environ["RELAY"]).netloc
credentials = f"{os.environ['key']}:{os.environ['secret']}"
url = f"signal://{credentials}@{host}/{os.environ['number']}/{os.environ['TO']}"
client = apprise.Apprise()
assert client.add(url), "Apprise refused the URL"
assert client.notify(body="from signal://"), "Apprise reports a failure"
with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    file.write(b"the file")
    file.flush()
    assert client.notify(body="with a file", attach=file.name), "Apprise reports a failure"

wrong = apprise.Apprise()
wrong.add(url.replace(os.environ["secret"], "hl_secret_wrong"))
assert not wrong.notify(body="with a wrong secret"), "Apprise takes a refusal as success"
