// The owner's changes of boxes, and the use of an invitation.

import type * as api from '../api/boxes.ts'
import { RELAY_ITSELF, type Origin, type Thing } from '../domain/audit.ts'
import { INVITED_NAME, isBoxName } from '../domain/box.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp, type BoxId } from '../domain/ids.ts'
import { MINUTE_MS } from '../domain/time.ts'
import {
  findBox,
  findLiveBox,
  insertBox,
  insistOnSignature,
  listBoxes,
  updateBox,
  type Box,
} from '../storage/boxes.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'
import {
  decideJoin,
  writeToken,
  type Invitation,
  type JoinAnswer,
  type JoinRequest,
} from './enrolment.ts'
import type { Fleet } from './fleet.ts'
import type { HeadBroker } from './head-broker.ts'
import { makeKey } from './nkeys.ts'
import type { Rollouts } from './rollouts.ts'

const INVITATION_MS = 30 * MINUTE_MS
/** Prefix of an invitation's id. An invitation and its box are two users of the broker, each with its own key. */
export const INVITATION_PREFIX = 'join-'

export class BoxActions {
  readonly rollout: Rollouts
  readonly #core: Core
  readonly #broker: HeadBroker
  readonly #fleet: Fleet
  readonly #apply: () => Promise<boolean>

  constructor(
    core: Core,
    given: {
      readonly broker: HeadBroker
      readonly fleet: Fleet
      readonly rollout: Rollouts
      /** Lets the current boxes and invitations connect, and cuts off all others; false if that fails. */
      readonly apply: () => Promise<boolean>
    },
  ) {
    this.#core = core
    this.#broker = given.broker
    this.#fleet = given.fleet
    this.rollout = given.rollout
    this.#apply = given.apply
  }

  /** Boxes and invitations, oldest first. */
  list(): readonly api.Box[] {
    const live = listBoxes(this.#core.db).filter(({ removedAt }) => removedAt === null)
    return live.map((box) => this.#resource(box))
  }

  brokerUsers(): Promise<string> {
    return this.#broker.users()
  }

  /** Invites a machine; replaces an earlier invitation with this name. */
  async add(name: string, origin: Origin): Promise<api.InvitedBox> {
    const { writer, ids, audit } = this.#core
    requireName(name)
    const way = await this.#broker.prepare()
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
      // Every version that can read such a token signs.
      if (isDirect) insistOnSignature(tx, box.id, publicKey)
      audit.record(tx, origin, { action: 'box.invited', about: thing(box.id), after: { name } })
      return box
    })
    if (!(await this.#apply())) {
      throw new RelayError('broker_unavailable', 'The broker did not start. See: hookline doctor')
    }
    const token = writeToken({ ...way, id: isDirect ? id : INVITATION_PREFIX + id, seed })
    return {
      ...this.#require(id),
      command: `hookline join ${token}`,
      expires_at: isoTimeOrNull(invitedUntil),
      needs_user: isDirect,
    }
  }

  async rename(text: string, name: string, origin: Origin): Promise<api.Box> {
    const { writer, audit } = this.#core
    requireName(name)
    const id = await writer.write((tx) => {
      const box = requireBox(tx, text)
      if (box.name !== name && findLiveBox(tx, name) !== null) throw nameTaken(name)
      updateBox(tx, box.id, { name })
      const [before, after] = [{ name: box.name }, { name }]
      audit.record(tx, origin, { action: 'box.renamed', about: thing(box.id), before, after })
      return box.id
    })
    await this.#apply()
    return this.#require(id)
  }

  /** Cuts a box off at once and returns its id. Its lines stay, and may continue on other machines. */
  async remove(text: string, origin: Origin): Promise<BoxId> {
    const { writer, ids, audit } = this.#core
    const removed = await writer.write((tx) => {
      const { id, name } = requireBox(tx, text)
      updateBox(tx, id, { removedAt: ids.now(), invitationKey: null, invitedUntil: null })
      audit.record(tx, origin, { action: 'box.removed', about: thing(id), before: { name } })
      return id
    })
    await this.#apply()
    return removed
  }

  #require(id: BoxId): api.Box {
    return this.#resource(requireBox(this.#core.db, id))
  }

  #resource(box: Box): api.Box {
    const { id } = box
    const hasJoined = box.joinedAt !== null
    const reason = hasJoined ? this.#fleet.absence(id) : null
    const whenJoined = reason === null ? 'online' : 'offline'
    const heard = this.#fleet.snapshot(id)
    return {
      id,
      name: box.name,
      status: hasJoined ? whenJoined : 'invited',
      status_reason: reason?.code ?? null,
      version: box.version,
      platform: box.platform,
      free_bytes: heard?.health.freeBytes ?? null,
      last_heard_at: isoTimeOrNull(heard?.lastHeardAt ?? box.lastHeardAt),
      joined_at: isoTimeOrNull(box.joinedAt),
      created_at: isoTime(box.createdAt),
      upgrade: this.rollout.upgradeOf(id),
    }
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

/** Makes a machine a box, in one transaction. The same machine gets the same answer if it asks again. */
export function acceptJoin(
  { writer, ids, audit }: Core,
  request: JoinRequest,
): Promise<JoinAnswer> {
  return writer.write((tx) => {
    const id = request.invitation.slice(INVITATION_PREFIX.length)
    const box = findBox(tx, id as BoxId) // Only compared with stored ids.
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

/** All users of the broker. A used invitation is still one, because its machine may not have received the answer. */
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

function requireName(name: string): void {
  if (isBoxName(name)) return
  const message = 'must be letters, digits, ".", "_" and "-" only, 40 at most, and not "here"'
  throw invalidRequest({ path: 'name', message })
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
