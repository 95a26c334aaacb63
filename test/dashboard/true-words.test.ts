// Sentences of the page that state what the relay does, beside what it does.

import { expect, test } from 'bun:test'

import { BUBBLE } from '../../src/dashboard/words/conversations.ts'
import { PEOPLE } from '../../src/dashboard/words/people.ts'
import { FIELDS, SETTINGS } from '../../src/dashboard/words/settings.ts'
import { WEBHOOK_ISSUES } from '../../src/dashboard/words/webhook-issues.ts'
import { sourceFiles } from '../support/source-files.ts'

const SENTENCES: readonly (readonly [why: string, sentence: string, untrue: RegExp])[] = [
  ['offline lines and failing webhooks stop no heartbeat', FIELDS.heartbeat_url_hint, /everything/],
  ['a heartbeat tells a monitor, and nobody else', SETTINGS.health[1], /get notified/i],
  ['a webhook that the relay stopped is not failing', WEBHOOK_ISSUES.title(2), /failing/],
  ['only issues are what needs attention', shown('issues', 'Messages to look at'), /attention/i],
  ['the newest outgoing message may not be sent', shown('line-figures', 'Last outgoing'), /sent/i],
  ['an outgoing message in a list may have failed', shown('home', 'Outgoing to'), /sent/i],
  ['an outgoing message in a thread may have failed', BUBBLE.outgoing, /sent/i],
  [
    'a line that is off refuses new messages',
    shown(
      'lines',
      'When off, it still receives. New messages through it are refused; those already queued wait up to 24 hours.',
    ),
    /Outgoing messages wait/,
  ],
  [
    'members have passwords of their own',
    shown('new-password', 'You sign in to this dashboard with it.'),
    /everyone/i,
  ],
  ['members and keys see the names of people', PEOPLE.lead, /only you/i],
  ['keys read the metrics', FIELDS.open_metrics_hint, /only this computer can/],
]

test.each(SENTENCES)('%s, and the page says nothing else', (_, sentence, untrue) => {
  expect(sentence).not.toMatch(untrue)
})

/** The sentence, once this view is proven to have it. */
function shown(view: string, sentence: string): string {
  const [file] = sourceFiles(`src/dashboard/pages/${view}.tsx`)
  expect(file?.text.replaceAll(/\s+/g, ' ')).toContain(sentence)
  return sentence
}
