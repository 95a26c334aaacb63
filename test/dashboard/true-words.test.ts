// Sentences of the page that state what the relay does, beside what it does.

import { expect, test } from 'bun:test'

import { HOME } from '../../src/dashboard/words/home.ts'
import { ISSUES } from '../../src/dashboard/words/issues.ts'
import { LINES } from '../../src/dashboard/words/lines.ts'
import { PASSWORD } from '../../src/dashboard/words/password.ts'
import { FIELDS, SETTINGS } from '../../src/dashboard/words/settings.ts'
import { WEBHOOK_ISSUES } from '../../src/dashboard/words/webhook-issues.ts'

const SENTENCES: readonly (readonly [why: string, sentence: string, untrue: RegExp])[] = [
  ['offline lines and failing webhooks stop no heartbeat', FIELDS.heartbeat_url_hint, /everything/],
  ['a heartbeat tells a monitor, and nobody else', SETTINGS.health[1], /get notified/i],
  ['a webhook that the relay stopped is not failing', WEBHOOK_ISSUES.title(2), /failing/],
  ['only issues are what needs attention', ISSUES.attention, /attention/i],
  ['the newest outgoing message may not be sent', LINES.lastOutgoing, /sent/i],
  ['an outgoing message in a list may have failed', HOME.to, /sent/i],
  ['an outgoing message in a thread may have failed', 'Outgoing:', /sent/i],
  ['a line that is off refuses new messages', LINES.sendingHint, /Outgoing messages wait/],
  ['members have passwords of their own', PASSWORD.chooseLead, /everyone/i],
  [
    'members and keys see the names of people',
    'Names for the people you write with. People who answer see them here, and keys that may read contacts; webhooks never carry them.',
    /only you/i,
  ],
  ['keys read the metrics', FIELDS.open_metrics_hint, /only this computer can/],
]

test.each(SENTENCES)('%s, and the page says nothing else', (_, sentence, untrue) => {
  expect(sentence).not.toMatch(untrue)
})
