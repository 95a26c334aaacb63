// Boxes: other machines whose devices the relay uses.

import { Type } from 'typebox'

import type { HealthFinding } from './health.ts'
import { nullable, objectSchema, type Shape } from './schema.ts'

export type Box = {
  readonly id: string
  readonly name: string
  readonly status: 'invited' | 'online' | 'offline'
  /** The reason for being offline, as a code; null for any other status. */
  readonly status_reason: string | null
  /** This and the next two fields are as the box last reported them; null before its first report. */
  readonly version: string | null
  readonly platform: string | null
  readonly free_bytes: number | null
  readonly last_heard_at: string | null
  readonly joined_at: string | null
  readonly created_at: string
  /** The upgrade by the head that is under way or has failed; null if there is none. */
  readonly upgrade: BoxUpgrade | null
}

export type BoxUpgrade = {
  readonly to: string
  readonly state: 'waiting' | 'downloading' | 'installing' | 'failed' | 'rolled_back'
  readonly problem: string | null
}

/** An upgrade of several boxes, one after the other. */
export type Rollout = {
  readonly version: string
  /** Paused since the first failure, until the owner resumes or cancels. */
  readonly status: 'running' | 'paused'
  readonly boxes: number
  readonly upgraded: number
  /** The name of the first box that failed, and why. */
  readonly problem: string | null
}

/** Its executables are in the folder `rollout` of the data directory. */
export const NewRollout = objectSchema('NewRollout', {
  version: Type.String({ minLength: 1, maxLength: 100 }),
  boxes: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1_000 }),
  /** Platforms with an executable, such as `linux-x64`. */
  platforms: Type.Array(Type.String({ pattern: '^[a-z0-9-]{1,50}$' }), { maxItems: 20 }),
  is_unverified: Type.Boolean(),
})
export type NewRollout = Shape<typeof NewRollout>

export type InvitedBox = Box & {
  /** Joins the machine that it runs on. Shown only in this answer. */
  readonly command: string
  readonly expires_at: string | null
  /** True if the owner must first add the user of the box to their own NATS cluster. */
  readonly needs_user: boolean
}

export const NewBox = objectSchema('NewBox', {
  name: Type.String({ minLength: 1, maxLength: 40 }),
})

/** The account of the relay and its boxes, for the configuration of the owner's own NATS cluster. */
export type BrokerUsersBlock = { readonly users: string }

/** `to` is `here`, the name or id of a box, or null to stay. */
export const LineMove = objectSchema('LineMove', {
  to: nullable(Type.String({ minLength: 1, maxLength: 100 })),
})

export type BoxFinding = Pick<HealthFinding, 'code' | 'severity' | 'title' | 'why' | 'fix'>

/** The state of a box, which answers it on its own control socket. */
export type BoxReport = {
  readonly id: string
  readonly version: string
  readonly head: {
    readonly name: string | null
    /** True if the head answered within the last seconds. */
    readonly is_reached: boolean
    /** `host:port` of the broker; null while there is no connection. */
    readonly address: string | null
    /** The time of the last change of the connection; null before the first change. */
    readonly since: string | null
    /** The reason for having no connection, or the problem that the head reports; null while the head is reached. */
    readonly problem: string | null
    /** SHA-256 of the certificate that signed the broker's; null for a public authority. */
    readonly ca_fingerprint: string | null
  }
  readonly lines_running: number
  readonly devices: readonly { readonly kind: string; readonly number: string | null }[]
  /** Findings of its own drivers, and one if the head isn't reached. */
  readonly findings: readonly BoxFinding[]
}
