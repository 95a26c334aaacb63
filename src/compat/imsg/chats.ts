// Chats, and how requests name them.

import type { Conversation } from '../../api/messages.ts'
import type { ConversationType } from '../../domain/conversation.ts'
import { homeOfCountry, personOf } from '../../domain/handle.ts'
import { chatOf, findChat, isGroupNamed, personNamed } from '../chats.ts'
import { chatNumber } from '../numbers.ts'
import { invalidParams } from './errors.ts'
import { numberParam, textParam, type Params } from './params.ts'
import type { ImsgRelay } from './relay.ts'

export function chatView(conversation: Conversation): object {
  const { number, identifier, guid, name, participants, isGroup, contactName } =
    chatOf(conversation)
  return {
    id: number,
    identifier,
    guid,
    name,
    ...(isGroup && { display_name: conversation.name ?? '' }),
    ...(contactName !== undefined && { contact_name: contactName }),
    service: conversation.service,
    last_message_at: conversation.updated_at,
    participants,
    is_group: isGroup,
    unread_count: conversation.unread_count ?? 0,
    last_addressed_handle: conversation.phone_number,
  }
}

const chatsOf =
  (relay: ImsgRelay, type: ConversationType) =>
  (page: { readonly limit: string; readonly cursor: string | undefined }) =>
    relay.ask('listConversations', { query: { type, ...page } })

export async function chatWithNumber(relay: ImsgRelay, params: Params): Promise<Conversation> {
  const number = numberParam(params, 'chat_id', { min: 1, max: Number.MAX_SAFE_INTEGER })
  if (number === undefined) throw invalidParams('chat_id is required')
  const found = await findChat(chatsOf(relay, 'all'), (each) => chatNumber(each) === number)
  if (found === undefined) throw invalidParams(`unknown chat_id ${number}`)
  return found
}

/** The target of a message: a conversation, or a person with whom there may be none yet. */
export type Place = { readonly conversation: Conversation } | { readonly to: string }

/** The target that the parameters name: exactly one of `to`, `chat_id`, `chat_guid` and `chat_identifier`. */
export async function placeIn(relay: ImsgRelay, params: Params): Promise<Place> {
  const to = textParam(params, 'to')
  const guid = textParam(params, 'chat_guid', 'chatGuid')
  const identifier = textParam(params, 'chat_identifier', 'chatIdentifier')
  const hasNumber = params['chat_id'] !== undefined && params['chat_id'] !== null
  const named = [to, guid, identifier].filter((each) => each !== undefined)
  if (named.length + (hasNumber ? 1 : 0) !== 1) {
    throw invalidParams('name exactly one of to, chat_id, chat_guid and chat_identifier')
  }
  if (hasNumber) return { conversation: await chatWithNumber(relay, params) }
  const name = named[0] ?? ''
  const person = to ?? personNamed(name)
  if (person !== undefined) return { to: handleIn(person, textParam(params, 'region')) }
  const found = await findChat(chatsOf(relay, 'group'), isGroupNamed(name))
  if (found === undefined) throw invalidParams('unknown chat')
  return { conversation: found }
}

/** The normalized handle of an address, or of a number as people write it in `region`. */
function handleIn(text: string, region = 'US'): string {
  return personOf(text, homeOfCountry(region))
}
