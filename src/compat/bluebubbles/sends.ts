// Sends: a text, a file, and the first message to a person.

import type { Conversation } from '../../api/messages.ts'
import type { ConversationType } from '../../domain/conversation.ts'
import { RelayError, invalidRequest } from '../../domain/errors.ts'
import { commonHome, personOf } from '../../domain/handle.ts'
import { findChat, isGroupNamed, personNamed } from '../chats.ts'
import type { CompatHandler, CompatMessage, CompatRelay, Fields } from '../compat-api.ts'
import { recipientsIn, textIn } from '../fields.ts'
import { answered } from './envelope.ts'
import { chatView, messageView, personChat } from './views.ts'

/** The target of a message: a person or a group. */
type Place =
  | { readonly to: string; readonly group: null }
  | { readonly to: { readonly conversationId: string }; readonly group: Conversation }

export const sendText: CompatHandler = async ({ fields, relay }) => {
  const place = await placeIn(relay, fields)
  const text = textIn(fields, ['message']) ?? ''
  return answered(await send(relay, fields, { place, text }), 'Message sent!')
}

export const sendAttachment: CompatHandler = async ({ fields, relay }) => {
  const place = await placeIn(relay, fields)
  const file = fields['attachment']
  if (!(file instanceof Blob)) {
    throw invalidRequest({ path: 'attachment', message: 'must be a file in a multipart form' })
  }
  const name = textIn(fields, ['name']) ?? (file instanceof File ? file.name : 'file')
  const bytes = new Uint8Array(await file.arrayBuffer())
  const type = file.type === '' ? null : file.type
  const id = await relay.upload({ bytes, name, type }, requestIdIn(fields))
  const text = textIn(fields, ['message']) ?? ''
  const sent = await send(relay, fields, { place, text, attachmentIds: [id] })
  return answered(sent, 'Attachment sent!')
}

export const newChat: CompatHandler = async ({ fields, relay }) => {
  const place = await placeOf(relay, recipientsIn(fields, ['addresses']))
  const text = textIn(fields, ['message']) ?? ''
  const chat = place.group === null ? personChat(place.to) : chatView(place.group)
  const messages = text === '' ? [] : [await send(relay, fields, { place, text })]
  return answered({ ...chat, messages }, 'Successfully created chat!')
}

async function placeIn(relay: CompatRelay, fields: Fields): Promise<Place> {
  const guid = textIn(fields, ['chatGuid'])
  if (guid === undefined) throw invalidRequest({ path: 'chatGuid', message: 'is required' })
  const person = personNamed(guid)
  if (person !== undefined) return { to: person, group: null }
  const group = await chatWith(pagesOf(relay, GROUPS), isGroupNamed(guid))
  return { to: { conversationId: group.id }, group }
}

/** The person with this address, or the group whose members have these addresses. */
async function placeOf(relay: CompatRelay, addresses: readonly string[]): Promise<Place> {
  const home = commonHome(relay.lines.map(({ number }) => number))
  const [first = '', ...others] = addresses.map((address) => personOf(address, home))
  if (others.length === 0) return { to: first, group: null }
  const wanted = new Set([first, ...others])
  const found = await findChat(
    pagesOf(relay, GROUPS),
    ({ participants = [], state = 'active' }) => {
      const members = new Set<string>(participants.map(({ handle }) => handle))
      return state === 'active' && members.size === wanted.size && members.isSubsetOf(wanted)
    },
  )
  if (found !== undefined) return { to: { conversationId: found.id }, group: found }
  const message =
    'No group has exactly these members, and a line cannot start one: start it on a phone.'
  throw new RelayError('not_supported', message)
}

export async function chatWith(
  pages: ReturnType<typeof pagesOf>,
  isIt: (conversation: Conversation) => boolean,
): Promise<Conversation> {
  const found = await findChat(pages, isIt)
  if (found === undefined) throw new RelayError('not_found', 'Chat does not exist!')
  return found
}

export const GROUPS = { type: 'group' } as const

type Choice = { readonly type: ConversationType; readonly handle?: string }

export function pagesOf(relay: CompatRelay, choice: Choice) {
  return (page: { readonly limit: string; readonly cursor: string | undefined }) =>
    relay.call('listConversations', { query: { ...choice, ...page } })
}

/** Once the message is accepted, only its own failure may throw: after any error a client sends again. */
async function send(
  relay: CompatRelay,
  fields: Fields,
  { place, ...content }: Pick<CompatMessage, 'text' | 'attachmentIds'> & { readonly place: Place },
): Promise<object> {
  refuseEffects(fields)
  const replyTo = textIn(fields, ['selectedMessageGuid'])
  const asked = { ...content, to: place.to, replyTo, requestId: requestIdIn(fields) }
  const [state] = await relay.send([asked])
  // `relay.send` returns one state per message.
  if (state === undefined) throw new Error('A send has no outcome.')
  if (state.failure !== null) throw new RelayError('send_failed', state.failure)
  const tempGuid = textIn(fields, ['tempGuid']) ?? null
  const chat = place.group === null ? undefined : chatView(place.group)
  return { tempGuid, ...messageView(state.message, chat) }
}

/** The client's id of a send, which is the same in its repeats. */
function requestIdIn(fields: Fields): string | undefined {
  const id = textIn(fields, ['tempGuid'])
  return id === '' ? undefined : id
}

const HELPER = 'needs the private API, whose helper is not connected'

function refuseEffects(fields: Fields): void {
  for (const path of ['effectId', 'subject']) {
    if ((textIn(fields, [path]) ?? '') !== '') throw invalidRequest({ path, message: HELPER })
  }
}

/** Refuses calls that would need a modified Messages app on a Mac. */
export const needsHelper: CompatHandler = async () => {
  throw new RelayError('not_supported', `This ${HELPER}: a line can't do it.`)
}
