"""The library of Twilio for Python: as twilio.mjs."""

import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

from twilio.base.exceptions import TwilioRestException
from twilio.request_validator import RequestValidator
from twilio.rest import Client
from twilio.twiml.messaging_response import MessagingResponse

sid, token = os.environ["account_sid"], os.environ["auth_token"]
to, port = os.environ["TO"], int(os.environ["port"])
client = Client(sid, token)
client.api.base_url = os.environ["base_url"]
validator = RequestValidator(token)
statuses, inbound, refused = [], [], []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        parameters = dict(parse_qsl(body, keep_blank_values=True))
        url = f"http://127.0.0.1:{port}{self.path}"
        if not validator.validate(url, parameters, self.headers["x-twilio-signature"]):
            refused.append(f"{url} {body}")
        answer = ""
        if self.path.startswith("/status"):
            statuses.append(parameters["MessageStatus"])
        else:
            inbound.append(parameters["Body"])
            reply = MessagingResponse()
            reply.message(f"You wrote: {parameters['Body']}")
            answer = str(reply)
        self.send_response(500 if len(inbound) == 1 else 200)
        # As Flask answers in Twilio's own examples.
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_):
        pass


def until(what, is_there):
    for _ in range(600):
        if refused:
            sys.exit(f"The validator refuses {refused[0]}")
        if is_there():
            return
        time.sleep(0.1)
    sys.exit(f"Never: {what}")


server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()

number = client.messages.list(limit=1)
sent = client.messages.create(
    to=to,
    messaging_service_sid=sid.replace("AC", "MG"),
    body="from twilio-python",
    status_callback=f"http://127.0.0.1:{port}/status",
)
until("delivered", lambda: client.messages(sent.sid).fetch().status in ("delivered", "read"))
until("callbacks", lambda: "sent" in statuses and "delivered" in statuses)
again = client.messages.create(to=to, from_=sent.from_, body="by its number")
assert [one.sid for one in client.messages.stream(to=to, page_size=1)] == [again.sid, sent.sid]
assert client.messages(sent.sid).media.list() == []
assert client.messages.list(to=to, date_sent=sent.date_created.date())[-1].sid == sent.sid
try:
    client.messages.create(to="12", from_=sent.from_, body="x")
    sys.exit("12 is a number")
except TwilioRestException as error:
    assert (error.code, error.status) == (21211, 400), error
try:
    client.messages(sent.sid).delete()
    sys.exit("it was deleted")
except TwilioRestException as error:
    assert error.code == 20004, error

print("ready", flush=True)
until("a received message", lambda: len(inbound) >= 2)
until("its reply", lambda: any(m.body == "You wrote: ping" for m in client.messages.list(to=to)))
