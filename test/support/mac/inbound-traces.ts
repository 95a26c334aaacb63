import { arrives, FRIEND, inboundRow, insert, join, update } from './trace-steps.ts'
import type { RowValues, Trace, TraceStep } from './trace.ts'

const SOMEBODY = '+15550002222'
const BY_MAIL = 'friend@example.com'
const GROUP = 'chat831234567890123456'

/** What other people's messages look like on their way in, and rows that are no messages. */
export const INBOUND_TRACES = {
  inbound: {
    expects: 'One message, live.',
    steps: arrives(0, 'a', 'hello'),
  },
  two_identical_texts: {
    expects: 'Two messages, live: the same text ten seconds later is another message.',
    steps: [...arrives(0, 'a', 'ok'), ...arrives(10_000, 'b', 'ok')],
  },
  join_3s_late: {
    // The row comes before chat_message_join (photon, imsg).
    expects: 'One message, live, once.',
    steps: [insert(0, 'a', inboundRow(0, 'hello')), join(3_000, 'a')],
  },
  join_never: {
    // Seen with codes that services send (beeper).
    expects: 'One message, kept and not announced: nobody can say whether it is of a group.',
    steps: [insert(0, 'a', inboundRow(0, 'your code is 123456'))],
  },
  text_late: {
    expects: 'One message, live, with its text; never one without.',
    steps: [
      insert(0, 'a', inboundRow(0, null, { is_finished: 0 })),
      join(0, 'a'),
      update(900, 'a', { body: 'hello', is_finished: 1 }),
    ],
  },
  text_column_only: {
    // Up to macOS 12 the text is in both; a blob that is missing leaves the column.
    expects: 'One message, live, with the text of the column.',
    steps: [insert(0, 'a', inboundRow(0, null, { text: 'plain' })), join(0, 'a')],
  },
  edited: {
    expects: 'One message, live, with its first text; the edit is a change of it.',
    steps: [
      ...arrives(0, 'a', 'see you at eigth'),
      update(5_000, 'a', { body: 'see you at eight', date_edited: { at: 5_000 } }),
    ],
  },
  unsent_in_part: {
    // The text column is NULL, and attributedBody holds the parts that are left (beeper).
    expects: 'One message, live, as it was; taking a part back changes its text.',
    steps: [
      ...arrives(0, 'a', 'first part, second part'),
      update(5_000, 'a', { body: 'first part,', date_edited: { at: 5_000 } }),
    ],
  },
  unsent: {
    expects: 'One message, live, as it was; taking it back is a change of it.',
    steps: [
      ...arrives(0, 'a', 'wrong window'),
      update(5_000, 'a', { body: null, is_empty: 1, date_edited: { at: 5_000 } }),
    ],
  },
  tapback: {
    expects: 'One message, live; the tapback and its removal are changes of it.',
    steps: [
      ...arrives(0, 'a', 'lunch?'),
      ...arrives(2_000, 'b', 'Loved a message', reaction(2_000)),
      ...arrives(4_000, 'c', 'Removed a heart from a message', reaction(3_000)),
    ],
  },
  sticker: {
    expects: 'One message, live; the sticker on it is a reaction.',
    steps: [...arrives(0, 'a', 'lunch?'), ...arrives(2_000, 'b', '\uFFFC', reaction(1_000))],
  },
  group: {
    // Adding, renaming, leaving: item types 1, 2 and 3 (BlueBubbles).
    expects: 'One message of the group, and three changes of it; none of a person.',
    steps: [
      insert(0, 'text', inboundRow(0, 'hello all')),
      join(0, 'text', GROUP),
      ...inGroup(1_000, 'add', { item_type: 1, group_action_type: 0 }),
      ...inGroup(2_000, 'rename', { item_type: 2, group_title: 'Picnic' }),
      ...inGroup(3_000, 'leave', { item_type: 3, group_action_type: 0 }),
    ],
  },
  two_chats: {
    // A message may be joined to several chats (imsg).
    expects: 'One message, live, once.',
    steps: [...arrives(0, 'a', 'hello'), join(0, 'a', SOMEBODY)],
  },
  from_mail: {
    expects: 'One message, live, from an e-mail address in lower case.',
    steps: [
      insert(0, 'a', inboundRow(0, 'hello', { handle: 'Friend@Example.com' })),
      join(0, 'a', BY_MAIL),
    ],
  },
  sms: {
    expects: 'One message by SMS, live; whether it is kept is for the core to say.',
    steps: [
      insert(0, 'a', inboundRow(0, 'hello', { handle: SOMEBODY, service: 'SMS' })),
      join(0, 'a', SOMEBODY),
    ],
  },
  attachment_only: {
    expects:
      'One message with an empty text, live: U+FFFC, the mark of an attachment, is never told.',
    steps: arrives(0, 'a', '\uFFFC', { cache_has_attachments: 1 }),
  },
  spam: {
    expects: 'One message, kept and not announced.',
    steps: arrives(0, 'a', 'you have won', { is_spam: 1 }),
  },
  system_row: {
    expects: 'Nothing.',
    steps: arrives(0, 'a', 'FRIEND kept an audio message', { is_system_message: 1, item_type: 5 }),
  },
} satisfies Readonly<Record<string, Trace>>

/** A row about the first one: 2000 is a heart, 3000 its removal, 1000 a sticker. */
function reaction(associatedType: number): RowValues {
  const target = { guidOf: 'a', before: 'p:0/' }
  return { associated_message_type: associatedType, associated_message_guid: target }
}

function inGroup(t: number, row: string, set: RowValues): TraceStep[] {
  return [insert(t, row, inboundRow(t, null, { handle: FRIEND, ...set })), join(t, row, GROUP)]
}
