"""pysignalclirestapi, which Home Assistant's `signal_messenger` uses, in the way that it does."""

import os

from pysignalclirestapi import SignalCliRestApi, SignalCliRestApiError

client = SignalCliRestApi(os.environ["url"], os.environ["number"])
versions, _build = client.api_info()
assert "v2" in versions, versions
client.send_message("from the client", [os.environ["TO"]])
client.send_message("a picture", [os.environ["TO"]], attachments_as_bytes=[bytearray(b"\x89PNG\r\n\x1a\n" + b"0" * 64)])
try:
    client.send_message("to nobody", ["12"])
    raise AssertionError("a refusal is taken as success")
except SignalCliRestApiError as error:
    assert "12" in str(error), error
