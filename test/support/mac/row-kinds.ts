// Every kind of row that Messages writes of what comes in, or is typed on the device, and what a relay is to
// make of it.

import { toAppleSeconds } from '../../../src/lines/kinds/mac/apple-time.ts'
import {
  announced,
  body,
  direct,
  from,
  genmoji,
  inGroup,
  kept,
  lateJoin,
  own,
  reaction,
  silent,
  unjoined,
  type RowKind,
} from './row-writers.ts'
import { OWN_NUMBER } from './trace-steps.ts'

const POLL =
  'com.apple.messages.MSMessageExtensionBalloonPlugin:0000000000:com.apple.messages.Polls'
const GAME =
  'com.apple.messages.MSMessageExtensionBalloonPlugin:EWFNLB79LQ:com.gamerdelights.gamepigeon.ext'
const LINK = 'com.apple.messages.URLBalloonProvider'
const DAY_MS = 86_400_000

export const ROW_KINDS: Readonly<Record<string, RowKind>> = {
  'a body': announced({}),
  'only the column text': announced({ attributedBody: null, textColumn: 'plain' }, 'plain'),

  // Services.
  'an SMS': kept({ service: 'SMS' }, 'sms'),
  'an SMS in another spelling': kept({ service: 'sms' }, 'sms'),
  RCS: kept({ service: 'rcs' }, 'rcs'),
  'iMessage by satellite': announced({ service: 'iMessageLite' }),
  'an unknown service': announced({ service: 'Telegraph' }),
  'no service': announced({ service: null }),

  // Senders.
  'a short code': from('22395(smsft)', { handle: '22395', service: 'SMS' }),
  'an alphanumeric sender': from('AXISBK-S(smsft_fi)', { handle: 'AXISBK-S', service: 'SMS' }),
  'business chat': from('urn:biz:5af3', { handle: 'urn:biz:5af3' }),
  'a mail address': from('Ann@Example.com', { handle: 'ann@example.com' }),
  'no handle in a direct chat': announced(({ file, from, at }) => {
    const { rowId } = file.addMessage({ at, text: 'hello' })
    file.joinChat(rowId, file.directChat(from))
  }),

  // Junk.
  'junk by is_spam': kept({ is_spam: 1 }, 'spam'),
  'junk by category': kept({ filter_action: 2 }, 'spam', { since: 'macos27' }),
  'junk by the category of its place in the chat': kept(
    ({ file, from, at }) => {
      const { rowId } = file.receive({ from, text: 'hello', at })
      file.db.run(`UPDATE chat_message_join SET filter_action = 2 WHERE message_id = ${rowId}`)
    },
    'spam',
    { since: 'macos27' },
  ),
  'a transaction is no junk': announced({ filter_action: 4 }),

  'a ghost of what the device sends': silent(unjoined({ is_from_me: 1, attributedBody: null })),

  // Types.
  'type 2': announced({ associated_message_type: 2 }),
  'type 3': announced({ associated_message_type: 3 }),
  'a sticker': reaction(1_000),
  'a reaction': reaction(2_000),
  'a reaction with an emoji': reaction(2_006),
  'a sticker as a reaction': reaction(2_007),
  'a reaction that is taken back': reaction(3_007),
  'a vote': reaction(4_000),
  'a further option of a poll': reaction(0, { balloon_bundle_id: POLL }),
  'an unknown type': silent({ associated_message_type: 2_008 }, 'not_understood'),
  'an unknown item': silent({ item_type: 7 }, 'not_understood'),
  'a corrupt row': silent({ is_corrupt: 1 }, 'not_understood'),
  'a location': silent({ item_type: 4 }),
  'kept audio': silent({ item_type: 5 }),
  'a note of the service': silent({ is_service_message: 1 }),
  'a note of the system': silent({ is_system_message: 1 }),
  FaceTime: silent({ item_type: 6 }),
  'a reply in a thread': announced({ thread_originator_guid: 'some-message' }),
  'an answer while driving': announced({ is_auto_reply: 1 }),

  // Text.
  'a subject': announced({ subject: 'Lunch' }, 'Lunch\nhello'),
  'only a subject': announced({ subject: 'Lunch', attributedBody: null }, 'Lunch'),
  'a subject whose text comes a second later': announced(({ file, from, at, after }) => {
    const values = { subject: 'Lunch', attributedBody: null }
    const { rowId } = file.receive({ from, text: '', at, values })
    after(1_000, () => file.set(rowId, { text: 'at noon' }))
  }, 'Lunch\nat noon'),
  'a photo': announced(body('\uFFFC', ['a']), ''),
  'a photo and text': announced(body('\uFFFClook', ['a']), 'look'),
  'text on both sides of a photo': announced(body('one\uFFFCtwo', ['a']), 'one\ntwo'),
  'text, two photos and text': announced(body('one \uFFFC\uFFFC\ntwo ', ['a', 'b']), 'one\ntwo '),
  'a Genmoji': announced(
    ({ file, from, at }) => {
      const values = { attributedBody: genmoji('genmoji'), cache_has_attachments: 1 }
      const { rowId } = file.receive({ from, text: '', at, values })
      file.addAttachment(rowId, {
        guid: 'genmoji',
        emoji_image_short_description: 'cat with a hat',
      })
    },
    'hi (cat with a hat) there',
    { since: 'macos15' },
  ),
  'a Genmoji without words': announced(
    { attributedBody: genmoji('unknown'), cache_has_attachments: 1 },
    'hi  there',
  ),
  'a game': announced({ attributedBody: null, textColumn: '\uFFFD', balloon_bundle_id: GAME }, ''),
  'a game in a body': announced({ ...body('\uFFFD'), balloon_bundle_id: GAME }, ''),
  'a poll': announced({ ...body('\uFFFD'), balloon_bundle_id: POLL }, ''),
  'a typed U+FFFD': announced(body('a \uFFFD b'), 'a \uFFFD b'),
  'a link and a typed U+FFFD': announced(
    { ...body('https://example.com \uFFFD'), balloon_bundle_id: LINK },
    'https://example.com \uFFFD',
  ),
  'unsent before it was read': silent(
    ({ file, from, at }) => {
      const edited = { date_edited: file.date(at), attributedBody: null }
      file.receive({ from, text: '', at, values: edited })
    },
    undefined,
    { since: 'macos13' },
  ),

  // Places.
  'a group message': silent(inGroup(), 'group'),
  'a group SMS': silent(inGroup({ service: 'SMS' }), 'group'),
  'a group is renamed': silent(inGroup({ item_type: 2 })),
  'a chat that comes after 12 s': announced((place) => {
    unjoined()(place)
    lateJoin(place, place.file.directChat(place.from))
  }),
  'a group that comes after 12 s': silent((place) => {
    place.file.directChat(place.from)
    unjoined({ text: 'secret of the group' })(place)
    lateJoin(place, place.file.addChat({ identifier: `chat${place.from}`, style: 43 }))
  }, 'group'),
  'never joined, of somebody with a chat': kept((place) => {
    place.file.directChat(place.from)
    unjoined()(place)
  }, 'unplaced'),
  'never joined, of somebody without a chat': kept(unjoined(), 'unplaced'),
  'never joined, with the room of a group': silent((place) => {
    place.file.directChat(place.from)
    unjoined({ cache_roomnames: 'chat831' })(place)
  }, 'unplaced'),
  'never joined, of nobody': silent(
    ({ file, at }) => void file.addMessage({ at, text: 'hello' }),
    'unplaced',
  ),
  'never joined, an SMS code': kept((place) => {
    place.file.directChat(place.from)
    unjoined({ service: 'SMS' })(place)
  }, 'unplaced'),
  'deleted in Messages before it was read': silent(
    ({ file, from, at }) => {
      const { rowId, chatRowId } = file.receive({ from, text: 'hello', at })
      file.deleteRecoverably(rowId, chatRowId)
    },
    undefined,
    { since: 'macos13' },
  ),
  'in two chats': announced(({ file, from, at }) => {
    const { rowId } = file.receive({ from, text: 'hello', at })
    file.joinChat(rowId, file.addChat({ identifier: `${from}-too` }))
  }),

  // Time, and what is ours.
  'a date in seconds, from before macOS 10.13': announced(({ file, from, at }) => {
    file.receive({ from, text: 'hello', at, values: { date: toAppleSeconds(at) } })
  }),
  'a message to oneself, and its echo': {
    write: ({ file, at }) => {
      for (const is_from_me of [1, 0]) {
        const values = { is_from_me, is_sent: is_from_me, destination_caller_id: OWN_NUMBER }
        file.receive({ from: OWN_NUMBER, text: 'note to self', at, values })
      }
    },
    handle: OWN_NUMBER,
    counts: ['own', 'own'],
  },
  '15 days old': kept(direct({}, 15 * DAY_MS)),
  'an SMS of 15 days ago': kept(direct({ service: 'SMS' }, 15 * DAY_MS)),
  'typed on the device': kept(own({})),
  'a reaction of ours': silent(
    own({ associated_message_type: 2_001, associated_message_guid: 'p:0/some-message' }),
  ),
  'scheduled for later': silent(own({ is_sent: 0, is_finished: 0, schedule_type: 2 }), undefined, {
    since: 'macos15',
  }),
  'scheduled, and gone out since': kept(
    ({ file, from, at, after }) => {
      const waiting = { is_from_me: 1, is_delivered: 0, is_finished: 0, schedule_type: 2 }
      const { rowId } = file.receive({ from, text: 'hello', at, values: waiting })
      after(1_000, () => file.set(rowId, { is_sent: 1, is_finished: 1 }))
    },
    undefined,
    { since: 'macos15' },
  ),
}
