import { CodeBlock } from '../components/code-block.tsx'

/** Python is on most machines. */
const SCRIPT = `python3 - <<'END'
from http.server import *
class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers['content-length'])).decode())
        self.send_response(204); self.end_headers()
HTTPServer(('127.0.0.1', 8080), Hook).serve_forever()
END`

/** A receiver for whoever has none: it prints each event. */
export function Receiver() {
  return (
    <>
      <p class="quiet">
        This one prints what it is sent. Start it on the machine of the relay; its address is{' '}
        <code>http://127.0.0.1:8080/</code>.
      </p>
      <CodeBlock what="Receiver" text={SCRIPT} />
    </>
  )
}
