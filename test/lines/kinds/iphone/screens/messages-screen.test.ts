// Trees as WebDriverAgent writes them, and what is seen in them. All of it is pure.

import { describe, expect, test } from 'bun:test'

import {
  parseTree,
  skeletonOf,
  type UiNode,
} from '../../../../../src/lines/kinds/iphone/agent/ui-tree.ts'
import {
  readScreen,
  type TranscriptScreen,
} from '../../../../../src/lines/kinds/iphone/screens/messages-screen.ts'
import { type JsonNode, node } from '../../../../support/iphone/messages-tree.ts'
import { FRIEND } from '../../../../support/iphone/ui-rig.ts'

const NUMBER = '+1 (202) 555-0123'

function tree(json: unknown): UiNode {
  const root = parseTree(json)
  if (root === null) throw new Error('The tree of the test is none.')
  return root
}

function screenOf(json: unknown) {
  return readScreen(tree(json))
}

function transcriptOf(json: unknown): TranscriptScreen {
  const screen = screenOf(json)
  if (screen.screen !== 'transcript') throw new Error(`It is ${screen.screen}.`)
  return screen
}

function application(...children: readonly JsonNode[]): JsonNode {
  return node('Application', null, { children })
}

/** A chat with the given rows in it. */
function chatOf(rows: readonly JsonNode[], ...more: readonly JsonNode[]): JsonNode {
  return application(
    node('Button', 'ConversationTitle', { label: NUMBER }),
    node('CollectionView', 'TranscriptCollectionView', { children: rows }),
    ...more,
  )
}

function bubble(label: string, side: 'left' | 'right', ...more: readonly JsonNode[]): JsonNode {
  const rect = { x: side === 'left' ? 20 : 273, y: 0, width: 100, height: 40 }
  return node('Cell', null, { children: [node('Other', null, { label, rect }), ...more] })
}

function caption(label: string): JsonNode {
  return node('Cell', null, { children: [node('StaticText', null, { label, value: label })] })
}

function field(value: string | null, placeholderValue: string): JsonNode {
  return node('TextField', 'messageBodyField', { value, placeholderValue })
}

const SEND = node('Button', 'sendButton', { label: 'Send' })

function textsOf({ bubbles }: TranscriptScreen): readonly string[] {
  return bubbles.map(({ isFromMe, text }) => `${isFromMe ? '>' : '<'} ${text}`)
}

test('an alert hides what is below it, and a screen that nobody knows is unknown', () => {
  const alert = node('Alert', null, { label: 'Software Update' })

  expect(screenOf(chatOf([], alert))).toEqual({ screen: 'alert' })
  expect(screenOf(application(node('Sheet', null), SEND))).toEqual({ screen: 'alert' })
  expect(screenOf(application(node('Other', 'Something')))).toEqual({ screen: 'unknown' })
})

const GREY = node('Button', 'sendButton', { isEnabled: '0' })

/** The value of an empty field is its placeholder; words that nobody knows name no service. */
test.each([
  ['iMessage', 'iMessage', null, { draft: '', service: 'iMessage', canSend: false }],
  ['iMessage', 'iMessage', SEND, { draft: 'iMessage', service: 'iMessage', canSend: true }],
  ['hello', 'iMessage', SEND, { draft: 'hello', service: 'iMessage', canSend: true }],
  ['hello', 'iMessage', GREY, { draft: 'hello', service: 'iMessage', canSend: false }],
  ['hello', 'Text Message', SEND, { draft: 'hello', service: 'SMS', canSend: true }],
  ['hello', 'Text Message • RCS', SEND, { draft: 'hello', service: 'SMS', canSend: true }],
  ['hello', 'Nachricht', SEND, { draft: 'hello', service: null, canSend: true }],
  ['hello', '', SEND, { draft: 'hello', service: null, canSend: true }],
] as const)(
  'the composer with %j over %j is read with its button',
  (value, placeholder, button, composer) => {
    const nodes = [field(value, placeholder), ...(button === null ? [] : [button])]

    expect(transcriptOf(chatOf([], ...nodes)).composer).toEqual(composer)
  },
)

describe('the rows of a transcript', () => {
  test('a status belongs to the own bubble above it, and text that looks like one to nobody', () => {
    const chat = transcriptOf(
      chatOf([
        bubble('Your iMessage, one, 1:30 PM', 'right'),
        bubble('Your iMessage, two, 1:31 PM', 'right'),
        bubble(`${NUMBER}, Delivered, 1:31 PM`, 'left'),
        caption('Read 1:32\u202FPM'),
      ]),
    )

    expect(chat.bubbles.map(({ text, status }) => [text, status])).toEqual([
      ['one', null],
      ['two', { kind: 'read', minutes: 812 }],
      ['Delivered', null],
    ])
  })

  test('a bubble has failed by its mark or by the words below it', () => {
    const mark = node('Button', null, { label: 'Not Delivered' })
    const chat = transcriptOf(
      chatOf([
        bubble('Your iMessage, marked, 1:30 PM', 'right', mark),
        caption('Delivered'),
        bubble('Your iMessage, told, 1:31 PM', 'right'),
        caption('Not Delivered'),
        bubble(`${NUMBER}, theirs, 1:32 PM`, 'left', mark),
      ]),
    )

    expect(chat.bubbles.map(({ status }) => status?.kind ?? null)).toEqual([
      'not_delivered',
      'not_delivered',
      null,
    ])
  })

  test('dates, typing and system rows are no bubbles', () => {
    const chat = transcriptOf(
      chatOf([
        caption('Fri, Nov 20, 3:12 PM'),
        node('Cell', null, { label: 'Sat, Nov 21, 9:00 AM' }),
        bubble(`${NUMBER}, hello, 9:00 AM`, 'left'),
        caption('You unsent a message'),
        bubble(`${NUMBER} is typing`, 'left'),
      ]),
    )

    expect(textsOf(chat)).toEqual(['< hello'])
    expect(chat.bubbles[0]?.under).toEqual({
      name: { day: 'date', year: null, month: 11, date: 21 },
      minutes: 540,
    })
  })

  test('a message that is worded like a date is a message', () => {
    const words = node('StaticText', null, { label: 'Today 9:00 AM' })
    const chat = transcriptOf(chatOf([bubble(`${NUMBER}, Today 9:00 AM, 9:05 AM`, 'left', words)]))

    expect(textsOf(chat)).toEqual(['< Today 9:00 AM'])
  })

  test('a message that is worded like a recipient, or like a page of details, names nobody', () => {
    const rows = ['To: +1 (202) 555-0177', 'Hide Alerts'].map((label) =>
      bubble(`${NUMBER}, ${label}, 9:05 AM`, 'left', node('Cell', null, { label })),
    )
    const chat = application(node('CollectionView', 'TranscriptCollectionView', { children: rows }))

    expect(transcriptOf(chat)).toMatchObject({ title: '', chat: { kind: 'named' } })
  })

  test('an attachment is known by what the phone calls it', () => {
    const labels = ['Includes picture', '2 Photos', 'Photo of my cat', 'a photo']
    const chat = transcriptOf(
      chatOf(labels.map((label) => bubble(`${NUMBER}, ${label}, 1:30 PM`, 'left'))),
    )

    expect(chat.bubbles.map(({ isAttachment }) => isAttachment)).toEqual([true, true, false, false])
  })

  test('the shape of a macOS transcript is read as well', () => {
    // A group as wide as the chat with the label, the bubble in it without one: seen on macOS 27.2.
    const rect = { x: 273, y: 0, width: 100, height: 40 }
    const row = (label: string, children: readonly JsonNode[]) =>
      node('Other', null, { label, children })
    const chat = transcriptOf(
      chatOf([
        row('Your iMessage, mine, 4:35 PM', [node('Link', 'Sticker', { rect })]),
        row(`${NUMBER}, Your iMessage, 4:36 PM`, [
          node('Link', 'Sticker', { rect: { ...rect, x: 20 } }),
        ]),
      ]),
    )

    expect(textsOf(chat)).toEqual(['> mine', '< Your iMessage'])
  })

  test('the sheet for a new message is a chat with its recipient', () => {
    const sheet = application(
      node('NavigationBar', 'New Message'),
      node('StaticText', null, { label: 'To:' }),
      node('TextField', null, { value: NUMBER }),
      field(null, 'iMessage'),
    )

    expect(transcriptOf(sheet)).toMatchObject({ chat: { kind: 'direct', handle: FRIEND } })
  })
})

describe('a tree', () => {
  test('that is too deep is cut, and one that is too large is none', () => {
    let deep: unknown = node('Other', 'deepest')
    for (let i = 0; i < 200; i += 1) deep = { type: 'Other', children: [deep] }
    const wide = {
      type: 'Other',
      children: Array.from({ length: 20_001 }, () => ({ type: 'Cell' })),
    }

    expect(skeletonOf(tree(deep)).split('\n')).toHaveLength(100)
    expect(parseTree(wide)).toBeNull()
  })

  test('with broken parts is read without them', () => {
    const broken = {
      type: 'XCUIElementTypeOther',
      label: 7,
      rect: { x: 'a', width: Number.NaN },
      children: [null, 'text', { label: 'no type' }, { type: 'Cell', label: 'kept' }],
    }

    expect(parseTree(broken)).toMatchObject({
      type: 'Other',
      label: null,
      rect: { x: 0, y: 0, width: 0, height: 0 },
      children: [{ type: 'Cell', label: 'kept' }],
    })
    expect([null, 'text', [], {}].map(parseTree)).toEqual([null, null, null, null])
  })

  test('in diagnostics has nothing of what anybody wrote, nor a number', () => {
    const secret = node('Other', null, { label: `${NUMBER}, a secret, 1:30 PM` })
    const json = node('Application', null, {
      children: [
        node('Button', 'ConversationTitle', { label: NUMBER }),
        node('Cell', null, { children: [secret] }),
        node('Other', NUMBER),
        node('Other', 'Anna'),
        node('Other', 'lockscreen-date-view'),
        node('NavigationBar', 'AuntEm'),
      ],
    })

    const skeleton = skeletonOf(tree(json))

    expect(skeleton).toBe(
      [
        'Application',
        ` Button #ConversationTitle label:${NUMBER.length}`,
        ' Cell',
        `  Other label:${NUMBER.length + 19}`,
        ` Other #(${NUMBER.length})`,
        ' Other #(4)',
        ' Other #lockscreen-date-view',
        ' NavigationBar #(6)',
      ].join('\n'),
    )
  })
})
