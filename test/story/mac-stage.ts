// A relay on a Mac with a webhook for all events and a line that relays groups, on each of three databases.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import type { Json } from '../support/test-relay.ts'
import type { MacBox } from './mac-relay.ts'

const HOOK = 'https://receiver.example/hook'
export const SCHEMAS = ['macos15', 'macos26a', 'macos26b'] as const

export async function startBox(box: MacBox) {
  const { relay, sink } = await box.start()
  await relay.clock.advance(1_000)
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  await relay.post('/api/v1/webhooks', { url: HOOK, events: EVENT_NAMES })
  const posted = (): readonly Json[] => sink.to(HOOK).map(({ body }) => JSON.parse(body))
  /** What the receiver got: the event, and the text or the change. */
  const news = () =>
    posted().map(({ event, message, change }) => `${event}: ${message?.text ?? change}`)
  const conversation = async (): Promise<Json> => (await relay.get('/api/v1/conversations')).data[0]
  return { relay, posted, news, conversation, [Symbol.asyncDispose]: relay[Symbol.asyncDispose] }
}

/** A file below the folder of Messages, as a row of `attachment` names it. */
export function photo(box: MacBox, guid: string) {
  const name = 'Attachments/ab/photo.jpg'
  mkdirSync(join(box.folder, 'Attachments/ab'), { recursive: true })
  writeFileSync(join(box.folder, name), 'jpeg?')
  const filename = `~/Library/Messages/${name}`
  return { guid, filename, transfer_name: 'photo.jpg', total_bytes: 5 }
}
