import { typedOnTheMac, type CarriedText } from './messages-behaviours.ts'
import { FRIEND, insert, join, OWN_NUMBER, update } from './trace-steps.ts'
import type { Trace } from './trace.ts'

const LETTER: CarriedText = { from: OWN_NUMBER, to: FRIEND, text: 'typed on the Mac' }
const WITH_LINK: CarriedText = { ...LETTER, text: 'look at https://example.com/page' }
const HOUR_MS = 3_600_000

/** Messages that a person typed on the Mac, or on another device of the same account. */
export const OWN_TRACES = {
  happy: {
    expects: 'One message from us; then sent, delivered and read, each once and in this order.',
    steps: typedOnTheMac('happy', LETTER),
  },
  delivered_without_date: {
    // BlueBubbles handles is_delivered without date_delivered.
    expects: 'One message from us, and delivered although the row has no date of it.',
    steps: [
      ...typedOnTheMac('stuck', LETTER),
      update(300, 'sent', { is_sent: 1, is_finished: 1 }),
      update(700, 'sent', { is_delivered: 1 }),
    ],
  },
  read_before_delivered_seen: {
    expects: 'The steps between that no look has seen are told too: sent, delivered, read.',
    steps: [
      ...typedOnTheMac('stuck', LETTER),
      update(300, 'sent', {
        is_sent: 1,
        is_finished: 1,
        is_delivered: 1,
        date_delivered: { at: 300 },
        is_read: 1,
        date_read: { at: 300 },
      }),
    ],
  },
  failed22_at_once: {
    expects: 'Nothing, once its time of grace is over: nobody got it.',
    steps: typedOnTheMac('failed22_at_once', LETTER),
  },
  failed22_after_2s: {
    expects: 'Nothing, once its time of grace is over: nobody got it.',
    steps: typedOnTheMac('failed22_after_2s', LETTER),
  },
  fails_then_clears: {
    expects:
      'One message from us, then sent, delivered, read; never failed, for the error went in time.',
    steps: typedOnTheMac('fails_then_clears', LETTER),
  },
  downgraded_to_sms: {
    expects: 'One message from us, and sent; it is SMS now: never delivered, never read.',
    steps: typedOnTheMac('downgraded_to_sms', LETTER),
  },
  rcs: {
    expects:
      'One message from us by RCS, with its receipts; whether it is kept is for the core to say.',
    steps: typedOnTheMac('rcs', LETTER),
  },
  ghost_row: {
    expects: 'Nothing: a row without chat, body and text is no message.',
    steps: typedOnTheMac('ghost_row', LETTER),
  },
  misrouted: {
    expects: 'One message from us to somebody else, as the row says.',
    steps: typedOnTheMac('misrouted', LETTER),
  },
  url_split_in_two_rows: {
    expects: 'Two messages from us, the text and the link, each with its receipts.',
    steps: typedOnTheMac('url_split_in_two_rows', WITH_LINK),
  },
  own_join_3s_late: {
    expects: 'One message from us with its receipts, once.',
    steps: typedOnTheMac('join_3s_late', LETTER),
  },
  scheduled: {
    // Send Later writes its row long before, with schedule_type 2 and the date to come.
    expects: 'Nothing: it is not sent yet.',
    steps: [
      insert(0, 'later', {
        handle: FRIEND,
        body: 'see you tomorrow',
        date: { at: HOUR_MS },
        service: 'iMessage',
        is_from_me: 1,
        is_delivered: 0,
        is_finished: 0,
        schedule_type: 2,
        schedule_state: 1,
      }),
      join(0, 'later'),
    ],
  },
  self_chat_echo: {
    // A message to oneself is there twice, once from us and once to us.
    expects: 'Nothing: neither the row from us nor its echo to us is a message with somebody.',
    steps: [
      ...typedOnTheMac('happy', { ...LETTER, to: OWN_NUMBER, text: 'note to self' }),
      insert(500, 'echo', {
        handle: OWN_NUMBER,
        body: 'note to self',
        date: { at: 26 },
        service: 'iMessage',
        destination_caller_id: OWN_NUMBER,
        is_from_me: 0,
        is_delivered: 1,
        is_finished: 1,
      }),
      join(500, 'echo', OWN_NUMBER),
    ],
  },
  bogus_date_read: {
    // Beeper drops dates near 2^63 in two places.
    expects: 'One message from us, sent and delivered; never read.',
    steps: [
      ...typedOnTheMac('stuck', LETTER),
      update(300, 'sent', { is_sent: 1, is_finished: 1 }),
      update(700, 'sent', { is_delivered: 1, date_delivered: { at: 700 } }),
      update(900, 'sent', { date_read: '9223372036854775800' }),
    ],
  },
} satisfies Readonly<Record<string, Trace>>
