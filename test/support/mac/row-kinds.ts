// Every kind of row that Messages writes of what comes in, or is typed on the device, and what a relay is to
// make of it.

import { toAppleSeconds } from '../../../src/lines/kinds/mac/apple-time.ts'
import {
  body,
  direct,
  genmoji,
  inGroup,
  lateJoin,
  own,
  reaction,
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
  'a body': { write: direct({}), expected: 'announced: hello' },
  'only the column text': {
    write: direct({ attributedBody: null, textColumn: 'plain' }),
    expected: 'announced: plain',
  },

  // Services.
  'an SMS': { write: direct({ service: 'SMS' }), expected: 'kept: hello', counts: 'sms' },
  'an SMS in another spelling': {
    write: direct({ service: 'sms' }),
    expected: 'kept: hello',
    counts: 'sms',
  },
  RCS: { write: direct({ service: 'rcs' }), expected: 'kept: hello', counts: 'rcs' },
  'iMessage by satellite': {
    write: direct({ service: 'iMessageLite' }),
    expected: 'announced: hello',
  },
  'an unknown service': { write: direct({ service: 'Telegraph' }), expected: 'announced: hello' },
  'no service': { write: direct({ service: null }), expected: 'announced: hello' },

  // Senders.
  'a short code': {
    write: ({ file, at }) =>
      void file.receive({ from: '22395(smsft)', text: 'code', at, values: { service: 'SMS' } }),
    handle: '22395',
    expected: 'kept: code',
    counts: 'sms',
  },
  'an alphanumeric sender': {
    write: ({ file, at }) =>
      void file.receive({
        from: 'AXISBK-S(smsft_fi)',
        text: 'code',
        at,
        values: { service: 'SMS' },
      }),
    handle: 'AXISBK-S',
    expected: 'kept: code',
    counts: 'sms',
  },
  'business chat': {
    write: ({ file, at }) => void file.receive({ from: 'urn:biz:5af3', text: 'hello', at }),
    handle: 'urn:biz:5af3',
    expected: 'announced: hello',
  },
  'a mail address': {
    write: ({ file, at }) => void file.receive({ from: 'Ann@Example.com', text: 'hello', at }),
    handle: 'ann@example.com',
    expected: 'announced: hello',
  },
  'no handle in a direct chat': {
    write: ({ file, from, at }) => {
      const { rowId } = file.addMessage({ at, text: 'hello' })
      file.joinChat(rowId, file.directChat(from))
    },
    expected: 'announced: hello',
  },

  // Junk.
  'junk by is_spam': { write: direct({ is_spam: 1 }), expected: 'kept: hello', counts: 'spam' },
  'junk by category': {
    write: direct({ filter_action: 2 }),
    expected: 'kept: hello',
    counts: 'spam',
    since: 'macos27',
  },
  'junk by the category of its place in the chat': {
    write: ({ file, from, at }) => {
      const { rowId } = file.receive({ from, text: 'hello', at })
      file.db.run(`UPDATE chat_message_join SET filter_action = 2 WHERE message_id = ${rowId}`)
    },
    expected: 'kept: hello',
    counts: 'spam',
    since: 'macos27',
  },
  'a transaction is no junk': { write: direct({ filter_action: 4 }), expected: 'announced: hello' },

  'a ghost of what the device sends': { write: unjoined({ is_from_me: 1, attributedBody: null }) },

  // Types.
  'type 2': { write: direct({ associated_message_type: 2 }), expected: 'announced: hello' },
  'type 3': { write: direct({ associated_message_type: 3 }), expected: 'announced: hello' },
  'a sticker': reaction(1_000),
  'a reaction': reaction(2_000),
  'a reaction with an emoji': reaction(2_006),
  'a sticker as a reaction': reaction(2_007),
  'a reaction that is taken back': reaction(3_007),
  'a vote': reaction(4_000),
  'a further option of a poll': reaction(0, { balloon_bundle_id: POLL }),
  'an unknown type': {
    write: direct({ associated_message_type: 2_008 }),
    counts: 'not_understood',
  },
  'an unknown item': { write: direct({ item_type: 7 }), counts: 'not_understood' },
  'a corrupt row': { write: direct({ is_corrupt: 1 }), counts: 'not_understood' },
  'a location': { write: direct({ item_type: 4 }) },
  'kept audio': { write: direct({ item_type: 5 }) },
  'a note of the service': { write: direct({ is_service_message: 1 }) },
  'a note of the system': { write: direct({ is_system_message: 1 }) },
  FaceTime: { write: direct({ item_type: 6 }) },
  'a reply in a thread': {
    write: direct({ thread_originator_guid: 'some-message' }),
    expected: 'announced: hello',
  },
  'an answer while driving': { write: direct({ is_auto_reply: 1 }), expected: 'announced: hello' },

  // Text.
  'a subject': { write: direct({ subject: 'Lunch' }), expected: 'announced: Lunch\nhello' },
  'only a subject': {
    write: direct({ subject: 'Lunch', attributedBody: null }),
    expected: 'announced: Lunch',
  },
  'a subject whose text comes a second later': {
    write: ({ file, from, at, after }) => {
      const values = { subject: 'Lunch', attributedBody: null }
      const { rowId } = file.receive({ from, text: '', at, values })
      after(1_000, () => file.set(rowId, { text: 'at noon' }))
    },
    expected: 'announced: Lunch\nat noon',
  },
  'a photo': { write: direct(body('\uFFFC', ['a'])), expected: 'announced: ' },
  'a photo and text': { write: direct(body('\uFFFClook', ['a'])), expected: 'announced: look' },
  'text on both sides of a photo': {
    write: direct(body('one\uFFFCtwo', ['a'])),
    expected: 'announced: one\ntwo',
  },
  'text, two photos and text': {
    write: direct(body('one \uFFFC\uFFFC\ntwo ', ['a', 'b'])),
    expected: 'announced: one\ntwo ',
  },
  'a Genmoji': {
    write: ({ file, from, at }) => {
      const values = { attributedBody: genmoji('genmoji'), cache_has_attachments: 1 }
      const { rowId } = file.receive({ from, text: '', at, values })
      file.addAttachment(rowId, {
        guid: 'genmoji',
        emoji_image_short_description: 'cat with a hat',
      })
    },
    expected: 'announced: hi (cat with a hat) there',
    since: 'macos15',
  },
  'a Genmoji without words': {
    write: direct({ attributedBody: genmoji('unknown'), cache_has_attachments: 1 }),
    expected: 'announced: hi  there',
  },
  'a game': {
    write: direct({ attributedBody: null, textColumn: '\uFFFD', balloon_bundle_id: GAME }),
    expected: 'announced: ',
  },
  'a game in a body': {
    write: direct({ ...body('\uFFFD'), balloon_bundle_id: GAME }),
    expected: 'announced: ',
  },
  'a poll': {
    write: direct({ ...body('\uFFFD'), balloon_bundle_id: POLL }),
    expected: 'announced: ',
  },
  'a typed U+FFFD': { write: direct(body('a \uFFFD b')), expected: 'announced: a \uFFFD b' },
  'a link and a typed U+FFFD': {
    write: direct({ ...body('https://example.com \uFFFD'), balloon_bundle_id: LINK }),
    expected: 'announced: https://example.com \uFFFD',
  },
  'unsent before it was read': {
    write: ({ file, from, at }) => {
      const edited = { date_edited: file.date(at), attributedBody: null }
      file.receive({ from, text: '', at, values: edited })
    },
    since: 'macos13',
  },

  // Places.
  'a group message': { write: inGroup(), counts: 'group' },
  'a group SMS': { write: inGroup({ service: 'SMS' }), counts: 'group' },
  'a group is renamed': { write: inGroup({ item_type: 2 }) },
  'a chat that comes after 12 s': {
    write: (place) => {
      unjoined()(place)
      lateJoin(place, place.file.directChat(place.from))
    },
    expected: 'announced: hello',
  },
  'a group that comes after 12 s': {
    write: (place) => {
      place.file.directChat(place.from)
      unjoined({ text: 'secret of the group' })(place)
      lateJoin(place, place.file.addChat({ identifier: `chat${place.from}`, style: 43 }))
    },
    counts: 'group',
  },
  'never joined, of somebody with a chat': {
    write: (place) => {
      place.file.directChat(place.from)
      unjoined()(place)
    },
    expected: 'kept: hello',
    counts: 'unplaced',
  },
  'never joined, of somebody without a chat': {
    write: unjoined(),
    expected: 'kept: hello',
    counts: 'unplaced',
  },
  'never joined, with the room of a group': {
    write: (place) => {
      place.file.directChat(place.from)
      unjoined({ cache_roomnames: 'chat831' })(place)
    },
    counts: 'unplaced',
  },
  'never joined, of nobody': {
    write: ({ file, at }) => void file.addMessage({ at, text: 'hello' }),
    counts: 'unplaced',
  },
  'never joined, an SMS code': {
    write: (place) => {
      place.file.directChat(place.from)
      unjoined({ service: 'SMS' })(place)
    },
    expected: 'kept: hello',
    counts: 'unplaced',
  },
  'deleted in Messages before it was read': {
    write: ({ file, from, at }) => {
      const { rowId, chatRowId } = file.receive({ from, text: 'hello', at })
      file.deleteRecoverably(rowId, chatRowId)
    },
    since: 'macos13',
  },
  'in two chats': {
    write: ({ file, from, at }) => {
      const { rowId } = file.receive({ from, text: 'hello', at })
      file.joinChat(rowId, file.addChat({ identifier: `${from}-too` }))
    },
    expected: 'announced: hello',
  },

  // Time, and what is ours.
  'a date in seconds, from before macOS 10.13': {
    write: ({ file, from, at }) => {
      file.receive({ from, text: 'hello', at, values: { date: toAppleSeconds(at) } })
    },
    expected: 'announced: hello',
  },
  'a message to oneself, and its echo': {
    write: ({ file, at }) => {
      for (const is_from_me of [1, 0]) {
        const values = { is_from_me, is_sent: is_from_me, destination_caller_id: OWN_NUMBER }
        file.receive({ from: OWN_NUMBER, text: 'note to self', at, values })
      }
    },
    handle: OWN_NUMBER,
  },
  '15 days old': { write: direct({}, 15 * DAY_MS), expected: 'kept: hello' },
  'an SMS of 15 days ago': {
    write: direct({ service: 'SMS' }, 15 * DAY_MS),
    expected: 'kept: hello',
  },
  'typed on the device': { write: own({}), expected: 'kept: hello' },
  'a reaction of ours': {
    write: own({ associated_message_type: 2_001, associated_message_guid: 'p:0/some-message' }),
  },
  'scheduled for later': {
    write: own({ is_sent: 0, is_finished: 0, schedule_type: 2 }),
    since: 'macos15',
  },
  'scheduled, and gone out since': {
    write: ({ file, from, at, after }) => {
      const waiting = { is_from_me: 1, is_delivered: 0, is_finished: 0, schedule_type: 2 }
      const { rowId } = file.receive({ from, text: 'hello', at, values: waiting })
      after(1_000, () => file.set(rowId, { is_sent: 1, is_finished: 1 }))
    },
    expected: 'kept: hello',
    since: 'macos15',
  },
}
