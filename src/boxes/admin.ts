// The owner's changes of boxes, and the use of an invitation.

import type * as api from '../api/boxes.ts'
import { RELAY_ITSELF, type Origin, type Thing } from '../domain/audit.ts'
import { INVITED_NAME, isBoxName } from '../domain/box.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp, type BoxId } from '../domain/ids.ts'
import type { OfflineReason } from '../domain/line.ts'
import { MINUTE_MS } from '../domain/time.ts'
import type { Audit } from '../storage/audit.ts'
import {
  findBox,
  findLiveBox,
  insertBox,
  insistOnSignature,
  listBoxes,
  updateBox,
  type Box,
} from '../storage/boxes.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { Writer } from '../storage/writer.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import {
  decideJoin,
  writeToken,
  type Invitation,
  type JoinAnswer,
  type JoinRequest,
  type JoinToken,
} from './enrolment.ts'
import { makeKey } from './nkeys.ts'
import type { RolloutActions, Rollouts } from './rollouts.ts'

export type BoxActions = {
  /** Boxes and invitations, oldest first. */
  list(): readonly api.Box[]
  add(name: string, origin: Origin): Promise<api.InvitedBox>
  rename(box: string, name: string, origin: Origin): Promise<api.Box>
  /** Cuts it off at once; returns its id. */
  remove(box: string, origin: Origin): Promise<BoxId>
  brokerUsers(): Promise<string>
  readonly rollout: RolloutActions
}

export type BoxAdminTools = {
  readonly db: Db
  readonly writer: Writer
  readonly ids: LogicalClock
  readonly audit: Pick<Audit, 'record'>
  /** Throws `broker_unavailable` where no box could connect. */
  readonly prepare: () => Promise<Omit<JoinToken, 'id' | 'seed'>>
  /** Lets the boxes of now connect, and cuts off all others; false where the broker does not. */
  readonly apply: () => Promise<boolean>
  readonly brokerUsers: () => Promise<string>
  readonly absence: (box: BoxId) => OfflineReason | null
  readonly freeBytes: (box: BoxId) => number | null
  readonly lastHeardAt: (box: Box) => Box['lastHeardAt']
  readonly rollouts: Pick<Rollouts, 'actions' | 'upgradeOf'>
}

const INVITATION_MS = 30 * MINUTE_MS
/** Marks the id of an invitation, which the key of its token has, and not that of the box. */
export const INVITATION_PREFIX = 'join-'

export function createBoxActions(tools: BoxAdminTools): BoxActions {
  const { db, writer, audit } = tools
  return {
    brokerUsers: tools.brokerUsers,
    rollout: tools.rollouts.actions,
    list: () =>
      listBoxes(db)
        .filter(({ removedAt }) => removedAt === null)
        .map((box) => resourceOf(tools, box)),
    add: (name, origin) => addBox(tools, name, origin),
    async rename(text, name, origin) {
      requireName(name)
      const id = await writer.write((tx) => {
        const box = requireBox(tx, text)
        if (box.name !== name) requireFree(tx, name)
        updateBox(tx, box.id, { name })
        const [before, after] = [{ name: box.name }, { name }]
        audit.record(tx, origin, { action: 'box.renamed', about: thing(box.id), before, after })
        return box.id
      })
      await tools.apply()
      return resourceOf(tools, requireBox(db, id))
    },
    async remove(text, origin) {
      const id = await writer.write((tx) => removeBox(tools, tx, { text, origin }))
      await tools.apply()
      return id
    },
  }
}

/** An invitation in the place of an earlier one with this name. */
async function addBox(tools: BoxAdminTools, name: string, origin: Origin): Promise<api.InvitedBox> {
  const { db, writer, ids, audit } = tools
  requireName(name)
  const way = await tools.prepare()
  const { seed, publicKey } = await makeKey()
  const isDirect = way.kind === 'direct'
  const { id, invitedUntil } = await writer.write((tx) => {
    const known = findLiveBox(tx, name)
    if (known !== null && known.joinedAt !== null) throw nameTaken(name)
    const box: Box = {
      ...NEW_BOX,
      id: known?.id ?? ids.id('box'),
      name,
      createdAt: ids.now(),
      ...(isDirect
        ? { publicKey }
        : { invitationKey: publicKey, invitedUntil: timestamp(ids.now() + INVITATION_MS) }),
    }
    if (known === null) insertBox(tx, box)
    else updateBox(tx, box.id, box)
    // A version that can read its token signs.
    if (isDirect) insistOnSignature(tx, box.id, publicKey)
    audit.record(tx, origin, { action: 'box.invited', about: thing(box.id), after: { name } })
    return box
  })
  if (!(await tools.apply())) {
    throw new RelayError('broker_unavailable', 'The broker did not start. See: hookline doctor')
  }
  const token = writeToken({ ...way, id: isDirect ? id : INVITATION_PREFIX + id, seed })
  return {
    ...resourceOf(tools, requireBox(db, id)),
    command: `hookline join ${token}`,
    expires_at: isoTimeOrNull(invitedUntil),
    needs_user: isDirect,
  }
}

const NEW_BOX: Omit<Box, 'id' | 'name' | 'createdAt'> = {
  publicKey: null,
  invitationKey: null,
  invitedUntil: null,
  joinedAt: null,
  removedAt: null,
  version: null,
  platform: null,
  lastHeardAt: null,
}

/** Its lines stay, and may continue on other machines. */
function removeBox(
  { ids, audit }: BoxAdminTools,
  tx: Tx,
  { text, origin }: { readonly text: string; readonly origin: Origin },
): BoxId {
  const { id, name } = requireBox(tx, text)
  updateBox(tx, id, { removedAt: ids.now(), invitationKey: null, invitedUntil: null })
  audit.record(tx, origin, { action: 'box.removed', about: thing(id), before: { name } })
  return id
}

/** Makes a machine a box, in one transaction; asked again by the same machine, the same answer. */
export function acceptJoin(
  { writer, ids, audit }: Pick<BoxAdminTools, 'writer' | 'ids' | 'audit'>,
  request: JoinRequest,
): Promise<JoinAnswer> {
  return writer.write((tx) => {
    const id = request.invitation.slice(INVITATION_PREFIX.length)
    const box = findBox(tx, id as BoxId) // Only compared with ids.
    const answer = decideJoin(box === null ? null : invitationOf(box), request, ids.now())
    if (answer !== 'new' || box === null) return answer === 'new' ? { refused: GONE } : answer
    const { publicKey, version, platform } = request
    if (listBoxes(tx).some((other) => other.publicKey === publicKey)) {
      return { refused: 'This machine has joined with this key before. Create a new invitation.' }
    }
    const wanted = request.name === INVITED_NAME ? box.name : request.name
    const isFree = wanted === box.name || (isBoxName(wanted) && findLiveBox(tx, wanted) === null)
    if (!isFree) return { refused: `The name ${wanted} is in use, or no name of a box.` }
    const joinedAt = ids.now()
    updateBox(tx, box.id, { name: wanted, publicKey, version, platform, joinedAt })
    if (request.signs) insistOnSignature(tx, box.id, publicKey)
    const after = { name: wanted, platform, version }
    audit.record(tx, RELAY_ITSELF, { action: 'box.joined', about: thing(box.id), after })
    return { boxId: box.id }
  })
}

const GONE = 'The invitation was withdrawn.'

function invitationOf({ id, publicKey, ...box }: Box): Invitation | null {
  if (box.invitationKey === null || box.invitedUntil === null) return null
  const usedBy = publicKey === null ? null : { publicKey, boxId: id }
  return { expiresAt: box.invitedUntil, usedBy }
}

/** All that may connect to the broker. A used invitation lives on, for a machine that had no answer. */
export function brokerUsersOf(db: Db, now: number) {
  const live = listBoxes(db).filter(({ removedAt }) => removedAt === null)
  return {
    boxes: live.flatMap(({ id, publicKey }) =>
      publicKey === null ? [] : [{ id, nkey: publicKey }],
    ),
    invitations: live.flatMap(({ id, invitationKey, invitedUntil }) =>
      invitationKey === null || (invitedUntil ?? 0) <= now
        ? []
        : [{ id: INVITATION_PREFIX + id, nkey: invitationKey }],
    ),
  }
}

function resourceOf({ absence, ...tools }: BoxAdminTools, box: Box): api.Box {
  const hasJoined = box.joinedAt !== null
  const reason = hasJoined ? absence(box.id) : null
  const whenJoined = reason === null ? 'online' : 'offline'
  return {
    id: box.id,
    name: box.name,
    status: hasJoined ? whenJoined : 'invited',
    status_reason: reason?.code ?? null,
    version: box.version,
    platform: box.platform,
    free_bytes: tools.freeBytes(box.id),
    last_heard_at: isoTimeOrNull(tools.lastHeardAt(box)),
    joined_at: isoTimeOrNull(box.joinedAt),
    created_at: isoTime(box.createdAt),
    upgrade: tools.rollouts.upgradeOf(box.id),
  }
}

function requireName(name: string): void {
  if (isBoxName(name)) return
  const message = 'must be letters, digits, ".", "_" and "-" only, 40 at most, and not "here"'
  throw invalidRequest({ path: 'name', message })
}

function requireFree(db: Db, name: string): void {
  if (findLiveBox(db, name) !== null) throw nameTaken(name)
}

function nameTaken(name: string): RelayError {
  return new RelayError('name_taken', `The name ${name} is already in use.`)
}

function requireBox(db: Db, text: string): Box {
  const box = findLiveBox(db, text)
  if (box !== null) return box
  throw new RelayError('not_found', 'There is no box with this name or id.')
}

function thing(id: BoxId): Thing {
  return { kind: 'box', id }
}
