// Messages that lines sent, in the state in which people on the simulated network see them on their phones.

import type { DeviceGroup } from '../../driver.ts'
import type { ChangeDetails } from './events.ts'
import type { FileRef } from './files.ts'
import type { NetworkEvent, PendingEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'

type Reaction = Extract<ChangeDetails, { readonly kind: 'reaction' }>
type Edit = Extract<ChangeDetails, { readonly kind: 'edited' }>

export type PhoneMessage = {
  readonly id: string
  readonly guid: string
  /** The number of the line. */
  readonly line: string
  /** A person, or the identifier of a group. */
  readonly to: string
  readonly group: DeviceGroup | null
  /** The present text. */
  readonly text: string
  /** Earlier texts, oldest first. */
  readonly earlierTexts: readonly string[]
  readonly isUnsent: boolean
  readonly service: string
  readonly files: readonly FileRef[]
  readonly reactions: readonly Reaction[]
  readonly sentAt: number
  /** Null while the line's device is still trying to send it. */
  readonly acceptedAt: number | null
  readonly deliveredAt: number | null
  readonly readAt: number | null
}

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
const PARTS = `SELECT guid, filename, mime_type AS declaredType, size, sha256 FROM parts
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
  const parts = network.query<FileRef & { readonly guid: string }>(PARTS).all({ id })
  const receipts = network.query<Pick<PendingEvent, 'kind' | 'at'>>(RECEIPTS).all({ line, guid })
  const timeOf = (kind: PendingEvent['kind']) => {
    return receipts.find((one) => one.kind === kind && one.at <= now)?.at ?? null
  }
  const readAt = timeOf('read')
  const isHeld = receipts.some((one) => one.kind === 'sent' && one.at > now)
  const guids = [guid, ...parts.map((part) => part.guid)]
  const changes = guids
    .flatMap((target) => network.changesOf(line, target))
    .filter((change) => change.at <= now)
    .map(
      ({ details }: Pick<NetworkEvent, 'details'>) => JSON.parse(details ?? '{}') as ChangeDetails,
    ) // This network wrote it.
  const edits = changes.filter((change): change is Edit => change.kind === 'edited')
  // Of a cut message, only files were sent.
  const texts = [isCut === 1 ? '' : sent.text, ...edits.map(({ text }) => text)]
  return {
    id,
    guid,
    line,
    to,
    group: group === null ? null : (JSON.parse(group) as DeviceGroup), // `saveGroup` wrote it.
    text: texts.at(-1) ?? '',
    earlierTexts: texts.slice(0, -1),
    isUnsent: changes.some(({ kind }) => kind === 'unsent'),
    service: service ?? 'iMessage',
    files: parts,
    reactions: standing(changes.filter((change) => change.kind === 'reaction')),
    sentAt: at,
    acceptedAt: isHeld ? null : (timeOf('sent') ?? at),
    // A read message was delivered.
    deliveredAt: timeOf('delivered') ?? readAt,
    readAt,
  }
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
