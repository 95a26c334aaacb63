// Requests and answers of operations that only browsers may call.

import { Type } from 'typebox'

import type { HealthFinding } from './health.ts'
import { nullable, objectSchema } from './schema.ts'
import type { Attempt, Delivery, Webhook } from './webhooks.ts'

/** The state of the browser's session. The page asks for it first, and every change of it answers with it. */
export type SessionState = {
  readonly state: 'unclaimed' | 'signed_out' | 'signed_in'
  /** Until then the password isn't asked for again; null if it is asked for now. */
  readonly elevated_until: string | null
  /** Null while nobody is signed in: it would show strangers which known faults to try. */
  readonly version: string | null
  /** The next step of the setup; null once it is done, and while nobody is signed in. */
  readonly setup_step: string | null
  /** True if the browser is on the relay's own machine. */
  readonly is_local: boolean
  /** Left out for the owner. */
  readonly member?: { readonly id: string; readonly name: string } | undefined
  /** For the owner, if the sign-in takes two steps. */
  readonly second_factor?: { readonly recovery_codes_left: number } | undefined
  /** Set in `hookline fake`, where everybody is the owner. */
  readonly is_fake?: true | undefined
  /** Left out if only the owner can sign in. */
  readonly has_members?: true | undefined
}

/** A browser that is signed in. `last_seen_at` is accurate to the hour. */
export type BrowserSession = {
  readonly id: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly is_current: boolean
  /** Left out for the owner. */
  readonly member_name?: string | undefined
}

/** No password is longer, so a longer text doesn't count as an attempt. */
const password = Type.String({ minLength: 1, maxLength: 1_000 })

export const SignIn = objectSchema('SignIn', {
  /** The member's name; the owner signs in without one. */
  name: Type.Optional(Type.String({ maxLength: 200 })),
  password,
  /** Of the owner's authenticator app, or a recovery code. */
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
})
export const FactorCode = objectSchema('FactorCode', {
  code: Type.String({ minLength: 1, maxLength: 50, example: '123456' }),
})
/** `url` is for authenticator apps, and `qr_svg` its QR code. */
export type NewFactor = { readonly secret: string; readonly url: string; readonly qr_svg: string }
/** Nothing shows the codes again. */
export type FactorOn = { readonly recovery_codes: readonly string[] }
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

/** A kind of line, whether or not this relay has one. */
export type KindInfo = {
  /** The `driver` of its lines. */
  readonly name: string
  readonly title: string
  /** The way to a line of this kind in a sentence, and the name of the guide that shows it. */
  readonly start: { readonly words: string; readonly guide: string | null }
  /** False if its messages stay on this machine, and incoming messages can be simulated. */
  readonly is_real: boolean
  /** True if its lines need permissions of the operating system. */
  readonly needs_permissions: boolean
  /** The `status_reason` with which a line may be deleted; null if none may. */
  readonly deletable_reason: string | null
  /** The command that starts a relay with lines of this kind to try; null if there is none. */
  readonly trial_command: string | null
  /** Simulated contacts: one reads messages, the other also replies with the same text. */
  readonly practice_numbers: { readonly reader: string; readonly echo: string } | null
}

export type About = {
  readonly version: string
  readonly data_directory: string
  /** The URL that the relay listens on. */
  readonly address: string
  readonly public_url: string | null
  readonly trusted_proxies: readonly string[]
  /** A second folder for the daily backups. */
  readonly backup_folder: string | null
  /** True if an option sets the dashboard's password, which can then be changed only there. */
  readonly is_password_locked: boolean
  /** The kinds of device that the relay looks for, such as `mac`. */
  readonly drivers: readonly string[]
  /** All kinds of lines of this version. */
  readonly kinds: readonly KindInfo[]
  /** The formats of compatible APIs that webhooks may have, and the events that each supports. */
  readonly formats: readonly {
    readonly name: string
    readonly about: string
    readonly events: Webhook['events']
  }[]
}

/** A finding that no other finding explains, and the findings that follow from it. */
export type FindingBranch = {
  readonly cause: HealthFinding
  readonly consequences: readonly HealthFinding[]
  /** The page of the dashboard on which it can be fixed. */
  readonly place: { readonly name: string; readonly href: string }
  /** The path of the guide that explains the finding. */
  readonly guide: string | null
}

export type RelayState = {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  /** `lines` and `webhooks` start and end a sentence; between them the page says how busy the day is. */
  readonly lines: string
  readonly webhooks: string
  readonly findings: readonly FindingBranch[]
  readonly snoozed: readonly FindingBranch[]
}

/** The times of a message that `Message` doesn't have. */
export type MessageTimes = { readonly handed_over_at: string | null }

/** The number of unsent messages of the last 7 days and of all undecided ones; 1,000 means "or more". */
export type Attention = Readonly<
  Record<'approval' | 'failed' | 'expired' | 'uncertain' | 'queued', number>
>

/** A condition that a line needs to work. */
export type Check = {
  /** `unknown`: can't be checked until the failed checks above it are fixed. */
  readonly state: 'ok' | 'info' | 'warn' | 'bad' | 'unknown'
  readonly title: string
  readonly why: string | null
  readonly fix: string | null
}

export type LineChecks = {
  /** Null for the machine of the relay itself, whether or not it has a line yet. */
  readonly line_id: string | null
  /** Null while the line is online. */
  readonly offline_since: string | null
  readonly summary: string
  readonly checks: readonly Check[]
}

/** A sentence around the label of a line, `name`; without a line the whole sentence is in `after`. */
export type ContactCost = {
  readonly before: string
  readonly name: string | null
  readonly after: string
}

/** The reason why an attempt failed, and advice for the owner of the endpoint. */
export type DeliveryHint = { readonly title: string; readonly advice: string }

export type SeenAttempt = Attempt & {
  /** Null if the endpoint accepted the delivery. */
  readonly hint: DeliveryHint | null
  /** Such as "84 ms". */
  readonly duration: string
  /** The reason for the attempt, such as "scheduled". */
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
  /** The attempts of its schedule, without probes and manual attempts. */
  readonly schedule: { readonly made: number; readonly of: number }
}

/** The request of a delivery's latest attempt. The relay doesn't keep its signature. */
export type SentRequest = {
  readonly headers: string
  /** Null if its event is no longer kept. */
  readonly body: string | null
  readonly conversation_id: string | null
}

/** The progress of a webhook's deliveries. */
export type WebhookDay = {
  readonly webhook_id: string
  /** The number of pending deliveries. */
  readonly waiting: number
  /** The time of the first failure after the last success. */
  readonly failing_since: string | null
  /** The time of the next probe, which may be past, if it failed so often that only probes are sent; else null. */
  readonly next_probe_at: string | null
  /** The newest delivery that was tried, if it hasn't succeeded. */
  readonly failing: SeenDelivery | null
  readonly is_test_inbox: boolean
  /** The reason why the relay stopped delivering, and the next step; null while it delivers. */
  readonly stopped: string | null
}

/** A request that a test inbox received. */
export type InboxEntry = {
  readonly id: string
  readonly received_at: string
  /** Null if the body isn't an event. */
  readonly event: string | null
  /** The size of the body in bytes. */
  readonly size: number
  /** True if it was signed with the webhook's secret. */
  readonly is_verified: boolean
}

export type InboxRequest = { readonly headers: string; readonly body: string }
