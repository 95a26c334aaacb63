// Conversations with all that a message can have besides a text: files, reactions, replies, edits, groups.

import { eventually } from '../support/eventually.ts'
import { type ApiClient } from '../support/relay-process.ts'

/** People of the conversations below. */
export const FRIEND = '+12025550140'
const ANN = '+12025550141'
const BOB = '+12025550142'
const CAT = '+12025550143'

const GROUP = { identifier: 'chat4711', name: 'Book club', participants: [ANN, BOB, CAT] }

/** A picture in Base64. */
export const PICTURE = Buffer.from(
  await Bun.file(`${import.meta.dir}/../../src/guides/dashboard.png`).bytes(),
).toString('base64')

/** Lets something happen on the simulated line; gives the guid of it. */
export async function play(api: ApiClient, lineId: string, event: object): Promise<string> {
  const path = `/api/v1/simulated/lines/${lineId}/events`
  const { guid } = await api.ask<{ guid: string }>('POST', path, event)
  return guid
}

/** The id of the message with the text, once it is recorded. */
export function messageWith(
  api: ApiClient,
  text: string,
): Promise<{
  readonly id: string
  readonly conversation_id: string
}> {
  return eventually(`a message reads ${text}`, async () => {
    const { data } = await api.ask<{
      data: { id: string; text: string; conversation_id: string }[]
    }>('GET', '/api/v1/messages?type=all&limit=100')
    return data.find((message) => message.text === text) ?? null
  })
}

/** Fills a conversation with a person, and one with a group; gives their ids. */
export async function fillRichly(
  api: ApiClient,
  lineId: string,
): Promise<{ readonly personId: string; readonly groupId: string }> {
  await api.ask('PATCH', `/api/v1/phone-lines/${lineId}`, { relay_groups: true })
  const write = (event: object) => play(api, lineId, { type: 'message', from: FRIEND, ...event })
  const hello = await write({ text: 'Here is the table plan.' })
  const photo = { filename: 'table plan.png', content_base64: PICTURE }
  await write({ attachments: [photo, { kind: 'pdf' }, { kind: 'missing' }] })
  await write({
    attachments: [{ kind: 'never', after_seconds: 3_600 }],
    text: 'The video comes later.',
  })
  await write({ text: 'Does it suit you?', reply_to_guid: hello })
  await play(api, lineId, { type: 'reaction', from: FRIEND, target_guid: hello, reaction: 'love' })
  const typo = await write({ text: 'See you at seen.' })
  await play(api, lineId, { type: 'edit', target_guid: typo, text: 'See you at seven.' })
  const wrong = await write({ text: 'This was for someone else.' })
  await play(api, lineId, { type: 'unsend', target_guid: wrong })
  const { conversation_id: personId } = await messageWith(api, 'See you at seven.')

  const say = (from: string, text: string, more: object = {}) =>
    write({ from, text, group: GROUP, ...more })
  const book = await say(ANN, 'Shall we read this next?', { attachments: [photo] })
  await say(BOB, 'I have it already.')
  await say(CAT, 'Me too!', { reply_to_guid: book })
  for (const [from, reaction] of [
    [BOB, 'like'],
    [CAT, 'like'],
    [BOB, 'laugh'],
  ] as const) {
    await play(api, lineId, { type: 'reaction', from, target_guid: book, reaction })
  }
  const { conversation_id: groupId } = await messageWith(api, 'Me too!')
  return { personId, groupId }
}
