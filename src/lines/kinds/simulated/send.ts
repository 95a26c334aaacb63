// One send of a simulated line: everything that can fail, then the point of no return, then one transaction
// of the ledger with the message, its files and all that follows from them.

import type { AttachmentId } from '../../../domain/ids.ts'
import type { OutgoingMessage } from '../../../domain/message.ts'
import { hashFile } from '../../../system/hash.ts'
import {
  WITHDRAWN,
  isGranted,
  notSent,
  type DeviceGroup,
  type NotSent,
  type PointOfNoReturn,
  type SendOutcome,
  type Settlement,
} from '../../driver.ts'
import type { Behaviour, NetworkScript } from './behaviour.ts'
import type { Part, PendingEvent } from './ledger.ts'
import type { SimulatedNetwork } from './network.ts'
import { behaviourOf, eventsAfter, startsGroup, weekendGroupOf } from './people.ts'

type Sending = {
  readonly message: OutgoingMessage
  readonly line: string
  /** The network's id of the session. */
  readonly session: string
}

type Prepared = {
  readonly message: OutgoingMessage
  readonly behaviour: Behaviour
  readonly group: DeviceGroup | undefined
  readonly parts: readonly Part[]
}

/** The ledger's entries that prove which parts were sent. */
type Proof = {
  readonly guid: string
  readonly service: string | null
  readonly parts: readonly Pick<Part, 'guid' | 'attachmentId'>[]
}

const NO_ANSWER = { outcome: 'unknown', reason: 'no_answer' } as const

export async function sendMessage(
  network: SimulatedNetwork,
  sending: Sending,
  pointOfNoReturn: PointOfNoReturn,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { message, line, session } = sending
  const prepared = await prepare(network, line, message)
  if ('outcome' in prepared) return prepared
  if (signal.aborted || !(await isGranted(pointOfNoReturn, network.noteOf(session)))) {
    return WITHDRAWN
  }
  const { behaviour } = prepared
  if (behaviour.kind === 'line_refuses') return notSent('line_refused', 'line')
  const proof = await carry(network, prepared, sending)
  if (proof === null) return notSent('network_failed', 'line')
  if (behaviour.kind !== 'carried') return outcomeOf(behaviour, proof)
  if (behaviour.dropsLine) network.drop(line)
  if (behaviour.acceptMs > 0) await network.clock.sleep(behaviour.acceptMs, signal)
  // The network has the message in both cases; after an abort, a receipt reports when it was accepted.
  return provenAs(behaviour.acceptMs > 0 && signal.aborted ? 'held' : 'accepted', proof)
}

/**
 * The outcome of a message that a crash left open; null if it is unknown. `isComplete` is true if the ledger would
 * have the message, had it been carried.
 */
export function settledBy(
  network: SimulatedNetwork,
  line: string,
  message: OutgoingMessage,
  isComplete: boolean,
): Settlement | null {
  const scripted = network.script.lastBehaviourOf
  const behaviour = behaviourOfSend(network, line, message, scripted)
  if (behaviour.kind === 'nobody_knows') return null
  const carried = network.findCarried(message.id)
  const parts = message.attachments === undefined ? [] : network.partsOf(message.id)
  if (carried === null && parts.length === 0) {
    return isComplete ? { ...notSent('not_carried', 'line'), proof: true } : null
  }
  const proof = { guid: carried?.guid ?? '', service: carried?.service ?? null, parts }
  const isSlow = behaviour.kind === 'carried' && behaviour.acceptMs > 0
  return isSlow ? provenAs('held', proof) : outcomeOf(behaviour, proof)
}

async function prepare(
  network: SimulatedNetwork,
  line: string,
  message: OutgoingMessage,
): Promise<Prepared | NotSent> {
  const group = groupOfSend(network, line, message)
  if (group === null) return notSent('group_not_reachable', 'message')
  const behaviour = behaviourOfSend(network, line, message, network.script.behaviourOf)
  if (behaviour.kind === 'not_on_imessage' || behaviour.kind === 'no_sms') {
    return notSent(behaviour.kind, 'message')
  }
  const parts: Part[] = []
  for (const { id, path, mimeType, ...file } of message.attachments ?? []) {
    const hash = await hashFile(path).catch(() => null)
    if (hash !== file.sha256) return notSent('attachment_missing', 'message')
    parts.push({ ...file, declaredType: mimeType, guid: network.newGuid(), attachmentId: id })
  }
  return { message, behaviour, group, parts }
}

/** Carries the message. Returns the parts that the ledger has now; null if it has none. */
async function carry(
  network: SimulatedNetwork,
  { message, behaviour, group, parts: all }: Prepared,
  { line, session }: Sending,
): Promise<Proof | null> {
  const { id: messageId, to, text } = message
  const parts = behaviour.kind === 'first_part' ? all.slice(0, 1) : all
  // A message without a text is known by its last file.
  const guid = (text === '' ? parts.at(-1)?.guid : undefined) ?? network.newGuid()
  const service = message.service === 'SMS' ? 'SMS' : null
  const carried = { messageId, line, to, text, guid, service, at: network.now() }
  const isCut = behaviour.kind === 'first_part' && behaviour.rest === 'refused'
  if (behaviour.kind === 'nobody_knows' && !behaviour.arrives) return { guid, service, parts }
  try {
    const events = eventsAfter(network, { ...carried, group, files: parts }, behaviour)
    if (startsGroup(behaviour)) network.saveGroup(line, weekendGroupOf(to))
    keepForwarded(network, message, events)
    await network.carry({ carried, session, parts, isCut, events })
    return { guid, service, parts }
  } catch {
    return null
  }
}

function keepForwarded(
  { files }: SimulatedNetwork,
  { attachments = [] }: OutgoingMessage,
  events: readonly PendingEvent[],
): void {
  for (const { path, sha256 } of attachments) {
    if (events.some(({ details }) => details?.includes(sha256) === true)) files.keep(path, sha256)
  }
}

function outcomeOf(behaviour: Behaviour, proof: Proof) {
  const sent = proof.parts.map(({ attachmentId }) => attachmentId as AttachmentId) // The relay gave the ids.
  if (behaviour.kind === 'nobody_knows') return NO_ANSWER
  if (behaviour.kind !== 'first_part') return provenAs('accepted', proof)
  if (behaviour.rest === 'unknown') return { ...NO_ANSWER, sent }
  return { outcome: 'partly_sent', reason: 'partly_sent', sent } as const
}

function provenAs<Outcome extends 'accepted' | 'held'>(
  outcome: Outcome,
  { guid, service, parts }: Proof,
) {
  const partGuids = parts.map((part) => part.guid).filter((each) => each !== guid)
  return {
    outcome,
    guid,
    ...(service === null ? {} : { service }),
    ...(partGuids.length === 0 ? {} : { partGuids }),
  }
}

/** The group of a send. Undefined if the message is not for a group; null if the line has no such group. */
function groupOfSend(
  network: SimulatedNetwork,
  line: string,
  { chatGuid }: OutgoingMessage,
): DeviceGroup | null | undefined {
  return chatGuid === undefined ? undefined : network.findGroup(line, chatGuid)
}

function behaviourOfSend(
  network: SimulatedNetwork,
  line: string,
  message: OutgoingMessage,
  scripted: NetworkScript['behaviourOf'],
): Behaviour {
  const { to, service, text, attachments = [] } = message
  const group = groupOfSend(network, line, message) ?? undefined
  const addressed = { to, service, group, partCount: attachments.length + (text === '' ? 0 : 1) }
  return behaviourOf(addressed, network.lineCount, scripted(message, line))
}
