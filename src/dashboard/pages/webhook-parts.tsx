// Parts that webhook views share: the test inbox, the sample receiver, and the relay without network access.

import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ReadFailure } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useRelayState, useWebhookDays } from '../sources.ts'

/** Creates a URL of the relay's test inbox. */
export function UseInbox({ onUrl }: { readonly onUrl: (url: string) => void }) {
  const { api } = useDashboard()
  const { isBusy, failure, start } = useAction(
    () => api.call('newTestInbox'),
    ({ url }) => onUrl(url),
  )
  return (
    <div class="row">
      <Button isBusy={isBusy} onClick={start}>
        Use the test inbox
      </Button>
      <span class="field-hint">Part of this relay. Shows every event that arrives.</span>
      <FailureNote failure={failure} />
    </div>
  )
}

export const RECEIVER_URL = 'http://127.0.0.1:8080/'

/** Most computers have Python. */
const SCRIPT = `python3 - <<'END'
from http.server import *
class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers['content-length'])).decode())
        self.send_response(204); self.end_headers()
print('Waiting for events. Press Ctrl-C to stop.')
HTTPServer(('127.0.0.1', 8080), Hook).serve_forever()
END`

export function Receiver() {
  return (
    <div class="stack-tight">
      <p class="quiet">
        Tools such as n8n, Make and Zapier give you a webhook URL. To see events without one, use
        the test inbox, or print them in a terminal:
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

/** The finding that the relay can't reach the network, or a failed read. `webhookId` is null for all webhooks. */
export function OutOfReach({ webhookId }: { readonly webhookId: string | null }) {
  const days = useWebhookDays()
  const found = useRelayState().value?.findings.find(
    ({ cause: { code, about } }) =>
      code === 'webhook_out_of_reach' && (webhookId === null || about.id === webhookId),
  )?.cause
  if (found === undefined) return <ReadFailure of={days} />
  return (
    <Callout tone="bad" title={found.title}>
      {found.why} {found.fix}
    </Callout>
  )
}
