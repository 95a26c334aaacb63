// A message as the terminal shows it.

import { expect, test } from 'bun:test'

import { excerptOf, messageLines } from '../../src/cli/message-lines.ts'
import { laidOut } from '../../src/cli/table.ts'
import { message } from '../dashboard/samples.ts'
import { IN_PIPE } from './recorded-output.ts'

const AT = '2026-11-21T10:00:00.000Z'
const FILE = {
  id: 'att_1',
  filename: 'menu\u001B[2J\u202Egpj.pdf',
  mime_type: 'application/pdf',
  size: 245_760,
  state: 'available',
  url: '/api/v1/attachments/att_1/content',
} as const

function linesOf(shown: Parameters<typeof messageLines>[0]): string {
  return laidOut(messageLines(shown), IN_PIPE).join('\n')
}

test('a text message is shown with its facts, and without parts that it does not have', () => {
  const text = linesOf(message())

  expect(text).toContain('text          On my way.')
  expect(text).not.toMatch(/Attachments|Reactions|Earlier|reply|unsent|asked/)
})

test('a rich message is shown with all that belongs to it', () => {
  const text = linesOf(
    message({
      conversation_type: 'group',
      sender: { handle: '+12025550147', name: null },
      attachments: [FILE, { ...FILE, id: 'att_2', state: 'pending', size: null, sent: false }],
      reactions: [
        {
          type: 'love',
          emoji: null,
          handle: '+12025550148',
          is_from_me: false,
          part: 0,
          created_at: AT,
        },
        {
          type: 'emoji',
          emoji: '🎉',
          handle: '+12025550101',
          is_from_me: true,
          part: 0,
          created_at: AT,
        },
      ],
      reply_to: { message_id: 'msg_0', guid: 'G', part: 0, text_excerpt: 'Where are you?' },
      edits: [{ text: 'On my whey.', at: AT }],
      service_requested: 'auto',
      downgraded_at: AT,
    }),
  )

  for (const part of [
    '+1 202 555 0147 in a group',
    'Where are you?',
    'auto',
    '246 kB',
    'pending, not sent',
    'love',
    '🎉',
    'On my whey.',
  ]) {
    expect(text).toContain(part)
  }
})

test('the name of a file cannot steer the terminal', () => {
  const text = linesOf(message({ attachments: [FILE] }))

  expect(text).not.toContain('\u001B')
  expect(text).not.toContain('\u202E')
})

test('a message in a list is its first words, its files, or that it was unsent', () => {
  expect(excerptOf(message({ text: 'a\nb' }))).toBe('a b')
  expect(excerptOf(message({ text: 'x'.repeat(100) }))).toHaveLength(100)
  expect(excerptOf(message({ text: '', attachments: [{ ...FILE, filename: 'a.pdf' }] }))).toBe(
    '[a.pdf]',
  )
  expect(excerptOf(message({ text: '', unsent_at: AT }))).toBe('(unsent)')
})
