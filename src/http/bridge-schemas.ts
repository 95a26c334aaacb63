// The shapes of bridges: what their owner sees, and what shortcuts send and get.

import { Type } from 'typebox'

import { BRIDGE_LABEL_LENGTH_MAX } from '../domain/bridge.ts'
import { TEXT_LENGTH_MAX } from '../domain/message.ts'
import { id, listOf, nullable, shape, time } from './schema-parts.ts'

const PHONE_ID_LENGTH_MAX = 200
const HANDLE_LENGTH_MAX = 255
const NUMBER_LENGTH_MAX = 30

// For the owner

const BRIDGE_FIELDS = {
  id: id('brg', 'Identifies the bridge.'),
  phone_number: Type.String({ description: 'Of the line that it is.', example: '+12025550147' }),
  label: nullable(Type.String({ description: 'What the owner calls it.' })),
  token_hint: Type.String({ description: 'The first characters.', example: 'hlb_p0mY2d' }),
  created_by: Type.String({ description: "A key's id, `cli` or `dashboard`." }),
  created_at: time('When the bridge was made.'),
  token_created_at: time('When its token was made.'),
  last_heard_at: nullable(time('When a shortcut last called, right to the minute.')),
  revoked_at: nullable(time('Since when the bridge is removed.')),
}
const TOKEN = Type.String({
  description: 'Goes into `Authorization: Bearer …` of the shortcuts. Told in this answer only.',
  example: 'hlb_3q2-7wAAzN5Gk1m0dJYw4uS8bqXcT9eRfV6hLpZ2iKo',
})

export const BridgeCreation = shape('BridgeCreation', {
  phone_number: Type.String({ maxLength: NUMBER_LENGTH_MAX, example: '+12025550147' }),
  label: Type.Optional(
    nullable(Type.String({ maxLength: BRIDGE_LABEL_LENGTH_MAX, example: 'Phone of the shop' })),
  ),
})

export const CreatedBridge = shape('CreatedBridge', { ...BRIDGE_FIELDS, token: TOKEN })

export const BridgeList = listOf('BridgeList', shape('Bridge', BRIDGE_FIELDS))

export const BridgeToken = shape('BridgeToken', { id: BRIDGE_FIELDS.id, token: TOKEN })

// For shortcuts

export const PhoneMessage = shape('PhoneMessage', {
  id: Type.String({
    minLength: 1,
    maxLength: PHONE_ID_LENGTH_MAX,
    description: 'Made by the shortcut; a repeat with the same one changes nothing.',
    example: '20261121100000-48151',
  }),
  from: Type.String({
    minLength: 1,
    maxLength: HANDLE_LENGTH_MAX,
    description: 'A number or an e-mail address; the name of a contact is refused.',
    example: '+12025550123',
  }),
  text: Type.String({ maxLength: TEXT_LENGTH_MAX, example: 'Is my table ready?' }),
  at: Type.Optional(
    nullable(
      Type.String({
        maxLength: 100,
        description: 'When it came; what is no time of the last 30 days is passed over.',
        example: '2026-11-21T10:00:00Z',
      }),
    ),
  ),
})

export const StoredMessage = shape('StoredMessage', { stored: Type.Literal(true) })

export const NextMessage = shape('NextMessage', {
  message: nullable(
    shape('MessageToSend', {
      id: id('msg', 'Goes into `done`.'),
      to: Type.String({ example: '+12025550123' }),
      text: Type.String({ example: 'Your table is ready.' }),
    }),
  ),
})

export const PhoneReport = shape('PhoneReport', {
  id: Type.String({
    minLength: 1,
    maxLength: PHONE_ID_LENGTH_MAX,
    description: 'Of the message that `next` gave.',
    example: 'msg_01k5c3qv7yfxn8t2w9r4d6m0ab',
  }),
  sent: Type.Boolean({ description: 'Whether the iPhone sent it.' }),
  error: Type.Optional(nullable(Type.String({ description: 'Why not; it goes into the log.' }))),
})

export const NotedReport = shape('NotedReport', { noted: Type.Literal(true) })
