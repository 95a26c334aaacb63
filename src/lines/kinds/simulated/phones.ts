// Messages that lines sent, in the state in which people on the simulated network see them on their phones.

import { Type } from 'typebox'

import { enumOf, nullable, objectSchema, time, type Shape } from '../../../api/schema.ts'
import { timestamp } from '../../../domain/ids.ts'
import { REACTION_TYPES } from '../../../domain/message-extras.ts'
import { isoTime } from '../../../system/iso-time.ts'
import type { DeviceGroup } from '../../driver.ts'
import type { ChangeDetails } from './events.ts'
import type { PendingEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'

type Reaction = Extract<ChangeDetails, { readonly kind: 'reaction' }>
type Edit = Extract<ChangeDetails, { readonly kind: 'edited' }>

const File = objectSchema('OutboxFile', {
  filename: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer({ description: 'In bytes.' }),
  sha256: Type.String(),
})

const Reaction = objectSchema('OutboxReaction', {
  from: Type.String(),
  reaction: enumOf('OutboxReactionType', REACTION_TYPES),
  emoji: nullable(Type.String()),
})

export const OutboxMessage = objectSchema('OutboxMessage', {
  id: Type.String({ description: 'The id of the message in the API.' }),
  guid: Type.String({ description: 'Its `platform_guid`.' }),
  line: Type.String({ description: 'The number of the line that sent it.' }),
  to: Type.String({ description: 'The person, or the identifier of the group.' }),
  participants: Type.Array(Type.String(), { description: 'The members of the group, else empty.' }),
  text: Type.String({ description: 'As it reads now.' }),
  earlier_texts: Type.Array(Type.String(), { description: 'Before it was edited, oldest first.' }),
  is_unsent: Type.Boolean(),
  service: Type.String(),
  files: Type.Array(File),
  reactions: Type.Array(Reaction),
  state: enumOf(
    'OutboxState',
    ['sending', 'sent', 'delivered', 'read'],
    'On the network, whatever the relay knows of it. SMS and groups stay `sent`: they have no receipts.',
  ),
  sent_at: time('When it left.'),
  delivered_at: nullable(time('When it was on the phone.')),
  read_at: nullable(time('When the person read it.')),
})

type PhoneMessage = Shape<typeof OutboxMessage>

type Sent = {
  readonly id: string
  readonly line: string
  readonly to: string
  readonly text: string
  readonly guid: string
  readonly service: string | null
  readonly at: number
  readonly isCut: number
  readonly device_group: string | null
}

const SHOWN_MAX = 1_000

// A message without a text is known by the guid of its last file; reactions may be to any of its parts.
const SENT = `SELECT message_id AS id, line, recipient AS "to", text, guid, service, carried_at AS at,
    is_cut AS isCut, device_group
  FROM (SELECT *, 0 AS is_cut FROM carried UNION ALL SELECT *, 1 FROM cut) AS sent
  LEFT JOIN (SELECT line AS of_line, device_group FROM chats)
    ON of_line = line AND device_group ->> 'identifier' = recipient
  ORDER BY at DESC, seq DESC LIMIT ${SHOWN_MAX}`
const PARTS = `SELECT guid, filename, mime_type, size, sha256 FROM parts
  WHERE message_id = $id ORDER BY seq`
const RECEIPTS = `SELECT kind, at FROM events WHERE line = $line AND guid = $guid
  UNION ALL SELECT kind, at FROM pending WHERE line = $line AND guid = $guid`

/** The newest 1,000 messages, or those of them to this person or group or of this line; oldest first. */
export function messagesOnPhones(
  network: SimulatedNetwork,
  { to, line }: { readonly to: string | undefined; readonly line: string | undefined },
): readonly PhoneMessage[] {
  return network
    .query<Sent>(SENT)
    .all({})
    .filter((sent) => (to ?? sent.to) === sent.to && (line ?? sent.line) === sent.line)
    .map((sent) => onPhone(network, sent))
    .toReversed()
}

function onPhone(network: SimulatedNetwork, sent: Sent): PhoneMessage {
  const { id, line, to, guid, service, at, isCut, device_group: group } = sent
  const now = network.now()
  const parts = network.query<Shape<typeof File> & { readonly guid: string }>(PARTS).all({ id })
  const receipts = network.query<Pick<PendingEvent, 'kind' | 'at'>>(RECEIPTS).all({ line, guid })
  const timeOf = (kind: PendingEvent['kind']) => {
    const found = receipts.find((one) => one.kind === kind && one.at <= now)
    return found === undefined ? null : isoTime(timestamp(found.at))
  }
  const readAt = timeOf('read')
  const isHeld = receipts.some((one) => one.kind === 'sent' && one.at > now)
  const changes = [guid, ...parts.map((part) => part.guid)]
    .flatMap((target) => network.changesOf(line, target))
    .filter((change) => change.at <= now)
    .map(({ details }) => JSON.parse(details ?? '{}') as ChangeDetails) // This network wrote it.
  const edits = changes.filter((change): change is Edit => change.kind === 'edited')
  // Of a cut message, only files were sent.
  const texts = [isCut === 1 ? '' : sent.text, ...edits.map(({ text }) => text)]
  const { participants = [] } = JSON.parse(group ?? '{}') as Partial<DeviceGroup> // From `saveGroup`.
  // A read message was delivered.
  const deliveredAt = timeOf('delivered') ?? readAt
  return {
    id,
    guid,
    line,
    to,
    participants,
    text: texts.at(-1) ?? '',
    earlier_texts: texts.slice(0, -1),
    is_unsent: changes.some(({ kind }) => kind === 'unsent'),
    service: service ?? 'iMessage',
    files: parts.map(({ filename, mime_type, size, sha256 }) => ({
      filename,
      mime_type,
      size,
      sha256,
    })),
    reactions: standing(changes.filter((change) => change.kind === 'reaction')).map(
      ({ handle, type, emoji }) => ({ from: handle, reaction: type, emoji }),
    ),
    state: stateOf(readAt, deliveredAt) ?? (isHeld ? 'sending' : 'sent'),
    sent_at: isoTime(timestamp(at)),
    delivered_at: deliveredAt,
    read_at: readAt,
  }
}

function stateOf(readAt: string | null, deliveredAt: string | null) {
  if (readAt !== null) return 'read'
  return deliveredAt === null ? null : 'delivered'
}

/** Reactions that are still there: a person's new one replaces the last, unless it was taken back. */
function standing(reactions: readonly Reaction[]): readonly Reaction[] {
  const left = new Map<string, Reaction>()
  for (const reaction of reactions) {
    const place = `${reaction.handle} ${reaction.part}`
    left.delete(place)
    if (reaction.action === 'added') left.set(place, reaction)
  }
  return [...left.values()]
}
