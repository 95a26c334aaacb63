import { CodeBlock } from '../components/code-block.tsx'

export const RECEIVER_URL = 'http://127.0.0.1:8080/'

/** Python is on most machines. */
const SCRIPT = `python3 - <<'END'
from http.server import *
class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers['content-length'])).decode())
        self.send_response(204); self.end_headers()
print('Waiting for events. Press Ctrl-C to stop.')
HTTPServer(('127.0.0.1', 8080), Hook).serve_forever()
END`

/** A receiver for whoever has none: it prints each event. */
export function Receiver() {
  return (
    <div class="stack-tight">
      <p class="quiet">
        Tools such as n8n, Make and Zapier give you a webhook URL. To see events without one, print
        them in a terminal:
      </p>
      <ol class="receiver-steps">
        <li>
          Open a terminal on the computer that runs Hookline. On a Mac, that is the Terminal app.
        </li>
        <li>
          Copy this, paste it there, and press Enter. If Python is missing, a Mac offers to install
          it.
          <CodeBlock what="Receiver" text={SCRIPT} />
        </li>
        <li>
          Keep that window open. The URL is <code>{RECEIVER_URL}</code>
        </li>
      </ol>
    </div>
  )
}
