// Requests and answers of the dashboard's own routes.

import { Type } from 'typebox'

import type { HealthFinding } from './health.ts'
import { nullable, objectSchema } from './schema.ts'
import type { Attempt, Delivery } from './webhooks.ts'

/** The state of the browser's session: the page's first question, and the answer to every change of it. */
export type SessionState = {
  readonly state: 'unclaimed' | 'signed_out' | 'signed_in'
  /** End of the time without another question for the password; null where it is asked for now. */
  readonly elevated_until: string | null
  /** Null while nobody is signed in: it would show a stranger which faults to try. */
  readonly version: string | null
  /** The next step of the setup; null once it is done, and while nobody is signed in. */
  readonly setup_step: string | null
  /** True for a browser on the relay's own machine. */
  readonly is_local: boolean
  /** The member who is signed in; left out for the owner. */
  readonly member?: { readonly id: string; readonly name: string } | undefined
  /** Left out where only the owner can sign in. */
  readonly has_members?: true | undefined
}

/** A browser that is signed in; `last_seen_at` is right to the hour. */
export type BrowserSession = {
  readonly id: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly is_current: boolean
  /** Left out for the owner. */
  readonly member_name?: string | undefined
}

/** A longer text is no attempt: no password is longer. */
const password = Type.String({ minLength: 1, maxLength: 1_000 })

export const SignIn = objectSchema('SignIn', {
  /** A member's; the owner signs in without one. */
  name: Type.Optional(Type.String({ maxLength: 200 })),
  password,
})
export const Elevation = objectSchema('Elevation', { password })
export const Claim = objectSchema('Claim', { token: Type.String({ maxLength: 100 }), password })
export const NewPassword = objectSchema('NewPassword', { current: password, password })
export const SetupStep = objectSchema('SetupStep', {
  step: nullable(Type.String({ pattern: '^[a-z_-]{1,40}$' })),
})
export const WantedBackup = objectSchema('WantedBackup', {
  /** Null for everything, as one archive. */
  backup: nullable(Type.String({ maxLength: 200 })),
})

/** The facts of a kind of line, whether or not this start has one. */
export type KindInfo = {
  /** `driver` of its lines. */
  readonly name: string
  readonly title: string
  /** False for practice: messages stay on this machine, and incoming ones can be simulated. */
  readonly is_real: boolean
  /** True where its lines need permissions of this machine. */
  readonly needs_permissions: boolean
  /** `status_reason` with which a line may be deleted; null where none may. */
  readonly deletable_reason: string | null
  /** Starts a relay with lines to try without a device; null where it has none. */
  readonly trial_command: string | null
  /** Contacts of practice lines: one reads messages, the other also replies with the same text. */
  readonly practice_numbers: { readonly reader: string; readonly echo: string } | null
}

/** The relay itself, and the options of its start. */
export type About = {
  readonly version: string
  readonly data_directory: string
  /** The URL on which the relay listens. */
  readonly address: string
  readonly public_url: string | null
  readonly trusted_proxies: readonly string[]
  /** The second folder for the daily backups. */
  readonly backup_folder: string | null
  /** True where the options set the dashboard's password, which can then be changed only there. */
  readonly is_password_locked: boolean
  /** The kinds of device that the relay looks for, as `mac`. */
  readonly drivers: readonly string[]
  /** Every kind of line that this version has. */
  readonly kinds: readonly KindInfo[]
}

/** A finding that follows from no other, and those that follow from it. */
export type FindingBranch = {
  readonly cause: HealthFinding
  readonly consequences: readonly HealthFinding[]
  /** The part of the dashboard in which something can be done about it. */
  readonly place: { readonly name: string; readonly href: string }
  /** Path of the page of the manual that explains the finding. */
  readonly guide: string | null
}

/** "Is it working?" in one word and one sentence. */
export type RelayState = {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  /** The beginning of a sentence, and its end; between them the page says how busy the day is. */
  readonly lines: string
  readonly webhooks: string
  readonly findings: readonly FindingBranch[]
  readonly snoozed: readonly FindingBranch[]
}

/** Times of a message that its resource does not have. */
export type MessageTimes = { readonly handed_over_at: string | null }

/** Messages of the last 7 days that did not go out, and all that are undecided; 1,000 stand for more. */
export type Attention = Readonly<
  Record<'approval' | 'failed' | 'expired' | 'uncertain' | 'queued', number>
>

/** A condition for a line to work. */
export type Check = {
  /** `unknown`: undecided until the failed checks above it are fixed. */
  readonly state: 'ok' | 'info' | 'warn' | 'bad' | 'unknown'
  readonly title: string
  readonly why: string | null
  readonly fix: string | null
}

export type LineChecks = {
  /** Null for the Mac on which the relay runs, whether or not it has a line yet. */
  readonly line_id: string | null
  /** Null while the line is online. */
  readonly offline_since: string | null
  readonly summary: string
  readonly checks: readonly Check[]
}

/** A sentence around the label of a line; without one it is all in `after`. */
export type ContactCost = {
  readonly before: string
  readonly name: string | null
  readonly after: string
}

/** The reason for a failed attempt, and advice for the receiver's owner. */
export type DeliveryHint = { readonly title: string; readonly advice: string }

export type SeenAttempt = Attempt & {
  /** Null where the receiver took it. */
  readonly hint: DeliveryHint | null
  /** "84 ms". */
  readonly duration: string
  /** The occasion of the attempt, as "scheduled". */
  readonly cause: string
}

export type SeenDelivery = Delivery & {
  readonly attempts: readonly SeenAttempt[]
  /** Null for a test, and once the event is no longer kept. */
  readonly person: {
    readonly handle: string | null
    readonly name: string | null
    readonly is_group: boolean
  } | null
  /** Attempts of its schedule, probes and manual ones not counted. */
  readonly schedule: { readonly made: number; readonly of: number }
}

/** The request of a delivery's latest attempt; the relay does not keep its signature. */
export type SentRequest = {
  readonly headers: string
  /** Null where its event is no longer kept. */
  readonly body: string | null
  readonly conversation_id: string | null
}

/** The latest deliveries of a webhook. */
export type WebhookDay = {
  readonly webhook_id: string
  /** All deliveries that are pending. */
  readonly waiting: number
  /** Time of the first failure since the last success. */
  readonly failing_since: string | null
  /** Where it failed so often that only probes go out: the time of the next one, which may be past. */
  readonly next_probe_at: string | null
  /** The newest delivery that was tried, where that failed so far. */
  readonly failing: SeenDelivery | null
  readonly is_test_inbox: boolean
  /** The reason why the relay stopped delivering, with the next step; null while it delivers. */
  readonly stopped: string | null
}

/** A request that a test inbox received. */
export type InboxEntry = {
  readonly id: string
  readonly received_at: string
  /** Null where the body is no event. */
  readonly event: string | null
  /** Bytes of the body. */
  readonly size: number
  /** True where the webhook's secret signed it. */
  readonly is_verified: boolean
}

export type InboxRequest = { readonly headers: string; readonly body: string }
