// Sentences of the page that state what the relay does, beside what it does.

import { expect, test } from 'bun:test'

import { BUBBLE } from '../../src/dashboard/words/conversations.ts'
import { HOME } from '../../src/dashboard/words/home.ts'
import { ISSUES } from '../../src/dashboard/words/issues.ts'
import { LINES } from '../../src/dashboard/words/lines.ts'
import { PASSWORD } from '../../src/dashboard/words/password.ts'
import { PEOPLE } from '../../src/dashboard/words/people.ts'
import { sourceFiles } from '../support/source-files.ts'

const SENTENCES: readonly (readonly [why: string, sentence: string, untrue: RegExp])[] = [
  ['only issues are what needs attention', ISSUES.attention, /attention/i],
  ['the newest outgoing message may not be sent', LINES.lastOutgoing, /sent/i],
  ['an outgoing message in a list may have failed', HOME.to, /sent/i],
  ['an outgoing message in a thread may have failed', BUBBLE.outgoing, /sent/i],
  ['a line that is off refuses new messages', LINES.sendingHint, /Outgoing messages wait/],
  ['members have passwords of their own', PASSWORD.chooseLead, /everyone/i],
  ['members and keys see the names of people', PEOPLE.lead, /only you/i],
]

test.each(SENTENCES)('%s, and the page says nothing else', (_, sentence, untrue) => {
  expect(sentence).not.toMatch(untrue)
})

/** What no sentence of a view says. */
const VIEWS: readonly (readonly [why: string, view: string, untrue: RegExp])[] = [
  ['offline lines and failing webhooks stop no heartbeat', 'settings-fields', /everything/],
  ['a heartbeat tells a monitor, and nobody else', 'settings', /get notified/i],
  [
    'a webhook that the relay stopped is not failing',
    'webhook-issues',
    /webhooks? (?:is|are) failing/,
  ],
  ['keys read the metrics', 'settings-fields', /only this computer can/],
]

test.each(VIEWS)('%s, and no sentence of its view says else', (_, view, untrue) => {
  const [file] = sourceFiles(`src/dashboard/pages/${view}.tsx`)

  expect(file?.text.replaceAll(/\s+/g, ' ')).not.toMatch(untrue)
})
