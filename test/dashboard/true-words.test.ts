// What no sentence of a view says, because the relay does something else.

import { expect, test } from 'bun:test'

import { sourceFiles } from '../support/source-files.ts'

const VIEWS: readonly (readonly [why: string, view: string, untrue: RegExp])[] = [
  ['offline lines and failing webhooks stop no heartbeat', 'settings-fields', /everything/],
  ['a heartbeat tells a monitor, and nobody else', 'settings', /get notified/i],
  ['a webhook that the relay stopped is not failing', 'to-do', /webhooks? (?:is|are) failing/],
  ['keys read the metrics', 'settings-fields', /only this computer can/],
  ['only issues are what needs attention', 'to-do', /title="[^"]*attention/i],
  ['the newest outgoing message may not be sent', 'line-figures', /Last sent/i],
  ['an outgoing message in a list may have failed', 'conversation-row', /Sent to/i],
  ['an outgoing message in a thread may have failed', 'bubble', /['"`]Sent:/i],
  ['a line that is off refuses new messages', 'lines', /Outgoing messages wait/],
  ['members have passwords of their own', 'new-password', /everyone/i],
  ['members and keys see the names of people', 'people', /only you/i],
]

test.each(VIEWS)('%s, and no sentence of its view says else', (_, view, untrue) => {
  const [file] = sourceFiles(`src/dashboard/pages/${view}.tsx`)

  expect(file?.text.replaceAll(/\s+/g, ' ')).not.toMatch(untrue)
})
