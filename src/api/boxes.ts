// Boxes for the owner: on the control socket and in the dashboard.

import { Type } from 'typebox'

import type { HealthFinding } from './health.ts'
import { nullable, objectSchema, type Shape } from './schema.ts'

/** Another machine whose devices the relay uses. */
export type Box = {
  readonly id: string
  readonly name: string
  readonly status: 'invited' | 'online' | 'offline'
  /** Code of the reason for being offline; null for any other status. */
  readonly status_reason: string | null
  /** As the box last reported them; null before that. */
  readonly version: string | null
  readonly platform: string | null
  readonly free_bytes: number | null
  readonly last_heard_at: string | null
  readonly joined_at: string | null
  readonly created_at: string
  /** An upgrade from the head that is under way, or has failed; null for neither. */
  readonly upgrade: BoxUpgrade | null
}

export type BoxUpgrade = {
  readonly to: string
  readonly state: 'waiting' | 'downloading' | 'installing' | 'failed' | 'rolled_back'
  readonly problem: string | null
}

/** The upgrade of several boxes, one after the other. */
export type Rollout = {
  readonly version: string
  /** Paused until the owner resumes or cancels it, since the first failure. */
  readonly status: 'running' | 'paused'
  readonly boxes: number
  readonly upgraded: number
  /** Of the first box that failed, with its name. */
  readonly problem: string | null
}

/** The executables lie in the folder `rollout` of the data directory. */
export const NewRollout = objectSchema('NewRollout', {
  version: Type.String({ minLength: 1, maxLength: 100 }),
  boxes: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1_000 }),
  /** Those that there is an executable for, as `linux-x64`. */
  platforms: Type.Array(Type.String({ pattern: '^[a-z0-9-]{1,50}$' }), { maxItems: 20 }),
  is_unverified: Type.Boolean(),
})
export type NewRollout = Shape<typeof NewRollout>

/** `command` is shown this once: it joins the machine that it runs on. */
export type InvitedBox = Box & {
  readonly command: string
  readonly expires_at: string | null
  /** True where its user is to be added to the owner's own cluster first. */
  readonly needs_user: boolean
}

const NAME = Type.String({ minLength: 1, maxLength: 40 })

export const NewBox = objectSchema('NewBox', { name: NAME })

/** The account of the relay and its boxes, for the configuration of a cluster of the owner's. */
export type BrokerUsersBlock = { readonly users: string }

/** For the owner: `to` is `here`, the name or id of a box, or null to stay. */
export const LineMove = objectSchema('LineMove', {
  to: nullable(Type.String({ minLength: 1, maxLength: 100 })),
})

export type BoxFinding = Pick<HealthFinding, 'code' | 'severity' | 'title' | 'why' | 'fix'>

/** The state of a box, on its own control socket. */
export type BoxReport = {
  readonly id: string
  readonly version: string
  readonly head: {
    readonly name: string | null
    /** The head has answered within the last seconds. */
    readonly is_reached: boolean
    /** `host:port` of the broker that it is connected to; null while there is no connection. */
    readonly address: string | null
    /** Last change of the connection; null before the first one. */
    readonly since: string | null
    /** Reason for having no connection, or that the head gives; null while it is reached. */
    readonly problem: string | null
    /** SHA-256 of the certificate that vouches for the broker; null for a public authority. */
    readonly ca_fingerprint: string | null
  }
  readonly lines_running: number
  readonly devices: readonly { readonly kind: string; readonly number: string | null }[]
  /** Of its own drivers, and one where the head is not reached. */
  readonly findings: readonly BoxFinding[]
}
