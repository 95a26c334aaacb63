"""The program under test: it offers a table, and books for whoever says yes."""

import json
import re
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Bot:
    def __init__(self, url, key, secret):
        self.relay, self.headers = url, {"X-API-Key": key, "X-API-Secret": secret}
        self.seen = set()
        bot = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                bot.receive(self.headers["webhook-id"], body["message"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/"

    def receive(self, event_id, message):
        if event_id in self.seen:  # A delivery may come twice.
            return
        self.seen.add(event_id)
        if re.search(r"\byes\b", message["text"], re.I):
            self.send(message["handle"], "Booked.", f"booked-{event_id}")

    def offer(self, to):
        return self.send(to, "A table on Tuesday?", f"offer-{to}")

    def remind(self, to):
        return self.send(to, "Tomorrow at 8.", f"remind-{to}")

    def send(self, to, text, key):
        headers = {**self.headers, "Idempotency-Key": key, "Content-Type": "application/json"}
        body = json.dumps({"to": to, "text": text}).encode()
        request = urllib.request.Request(f"{self.relay}/api/v1/messages/send", body, headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            return json.load(refusal)
