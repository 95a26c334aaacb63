// Calls made by the shortcuts of an iPhone. One shortcut posts incoming messages; another asks for messages to
// send and reports their outcome. Each call carries the token of its bridge.

import { NextMessage, NotedReport, PhoneMessage, PhoneReport, StoredMessage } from '../bridges.ts'
import { NO_BODY, rows } from '../operation.ts'

const SHARED = { callers: 'bridges', tag: 'Shortcuts', audit: null } as const

export const SHORTCUTS = rows({
  bridgeReceive: {
    ...SHARED,
    route: 'POST /receive',
    summary: 'Report an incoming message',
    description:
      'Stored once this answers 200; until then the shortcut should retry with the same `id`. As a ' +
      'form it may bring a file. The same `id` with another sender, text or file is another message. ' +
      'The same sender, text, file and `at` under another `id` within five seconds is an automation ' +
      'that ran twice: it is counted in `not_relayed` and stored once.',
    answers: { 200: StoredMessage },
    errors: ['invalid_sender'],
    body: PhoneMessage,
  },
  bridgeNext: {
    ...SHARED,
    route: 'POST /next',
    summary: 'Ask for a message to send',
    description:
      'Waits up to 25 s. Each message is handed out once: without its `done` within 5 minutes it is ' +
      '`uncertain`, and never handed out again.',
    answers: { 200: NextMessage },
    ...NO_BODY,
  },
  bridgeDone: {
    ...SHARED,
    route: 'POST /done',
    summary: 'Report the outcome of a message',
    description:
      'Counts whenever it arrives. The first one counts: repeating it changes nothing, and another outcome is logged.',
    answers: { 200: NotedReport },
    errors: ['not_found'],
    body: PhoneReport,
  },
})
