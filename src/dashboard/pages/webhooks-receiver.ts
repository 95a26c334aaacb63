// A receiver for whoever has none: it prints each event. Python is on most machines.

export const RECEIVER_URL = 'http://127.0.0.1:8080/'

export const RECEIVER = `python3 - <<'END'
from http.server import *
class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers['content-length'])).decode())
        self.send_response(204); self.end_headers()
HTTPServer(('127.0.0.1', 8080), Hook).serve_forever()
END`
