// Requests and answers of operations for the owner.

import { Type } from 'typebox'

import type { SettingName } from '../domain/setting.ts'
import type { HealthFinding } from './health.ts'
import { nullable, nullish, objectSchema, type Shape } from './schema.ts'

export type Setting = {
  readonly name: SettingName
  /** Written as for `hookline config set`. */
  readonly value: string
  readonly from: 'default' | 'database' | 'environment'
  /** True if the environment sets it. */
  readonly is_locked: boolean
}

export const NewValue = objectSchema('NewValue', { value: Type.String({ maxLength: 1_000 }) })

export type MadeBackup = {
  readonly path: string
  readonly size_bytes: number
  /** The size of the attachments beside a whole backup. */
  readonly attachment_bytes?: number | undefined
}

export type Backup = Omit<MadeBackup, 'attachment_bytes'> & {
  readonly name: string
  readonly kind: 'daily' | 'before_migration'
  readonly created_at: string
}

export const NewBackup = objectSchema('NewBackup', {
  to: nullish(Type.String({ minLength: 1, maxLength: 4_096 })),
  without_attachments: Type.Optional(Type.Boolean()),
})

export type BackupContents = {
  /** The version that wrote it; null if that is unknown. */
  readonly version: string | null
  readonly latest_message_at: string | null
  readonly counts: Readonly<
    Record<
      | 'messages'
      | 'conversations'
      | 'contacts'
      | 'phone_lines'
      | 'webhooks'
      | 'keys'
      | 'attachments',
      number
    >
  >
  /** True if it has the key that decrypts its webhook secrets. */
  readonly has_secret_key: boolean
}

/** An uploaded backup that was checked and can be restored. */
export type UploadedBackup = BackupContents & {
  readonly id: string
  readonly name: string
  readonly size_bytes: number
  /** The number of attachments whose files are neither in the backup nor on this machine. */
  readonly missing_files: number
}

export type RestoreState = {
  readonly uploaded: UploadedBackup | null
  /** The outcome of the restore before this start; null if there was none. */
  readonly outcome: RestoreOutcome | null
}

/** `problem` is null if the backup was restored. */
export type RestoreOutcome = { readonly name: string; readonly problem: string | null }

export const UploadId = objectSchema('UploadId', { id: Type.String({ maxLength: 100 }) })

/** The result of the latest check for a newer release. */
export type UpdateState = {
  readonly version: string
  /** The folder or URL that is checked; null if none is. */
  readonly source: string | null
  readonly latest: string | null
  readonly is_newer: boolean
  readonly checked_at: string | null
  /** Steps to install it, with the command. */
  readonly fix: string | null
  readonly problem: string | null
}

export type LogLine = {
  /** Counts up from 1 since the relay started. */
  readonly seq: number
  readonly time: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The newest lines, and a sentence that says where the whole log is. */
export type RecentLog = { readonly data: readonly LogLine[]; readonly place: string }

/** A link that sets the dashboard password of the owner or of a member. */
export type SetupLink = {
  readonly url: string
  /** The link for other machines of the network; null if the relay doesn't listen there. */
  readonly lan_url: string | null
  readonly expires_at: string
}

/** A person who may read and answer messages in the dashboard, and nothing else. */
export type Member = {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly has_password: boolean
  /** The time when the unused link expires; null if there is none. */
  readonly link_expires_at: string | null
  /** Accurate to the hour; null while no browser is signed in. */
  readonly last_seen_at: string | null
  /** The only sites whose lines the member sees; left out for all. */
  readonly site_ids?: readonly string[]
}

/** `link` is shown only in this answer. */
export type InvitedMember = Member & { readonly link: SetupLink }

const MEMBER_SITES = Type.Array(Type.String(), { minItems: 1, maxItems: 100 })

export const NewMember = objectSchema('NewMember', {
  name: Type.String({ minLength: 1, maxLength: 80 }),
  site_ids: Type.Optional(MEMBER_SITES),
})
export type NewMember = Shape<typeof NewMember>

/** Null for all sites. */
export const MemberChanges = objectSchema('MemberChanges', { site_ids: nullable(MEMBER_SITES) })
export type MemberChanges = Shape<typeof MemberChanges>

/** An option of the start. `from` is its source: `--port`, `HOOKLINE_PORT`, `hookline.env`, `default`. */
export type OptionRow = { readonly name: string; readonly value: string; readonly from: string }

/** An iPhone on the cable, and the states that it must reach to become a line. */
export type Phone = {
  readonly key: string
  readonly name: string | null
  readonly ios_version: string | null
  readonly battery_percent: number | null
  /** In the order in which a phone reaches them. */
  readonly states: readonly { readonly state: string; readonly is_reached: boolean }[]
  readonly stop: Pick<HealthFinding, 'code' | 'title' | 'why' | 'fix'> | null
  readonly unknown_screen: string | null
}

/** One run of the script for Messages. `stage` and `number` say where it ended; null if it reported nothing. */
export type ScriptCall = {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly mode: string
  readonly route: string | null
  /** The start of the chat's guid, `iMessage;-;` or `any;-;`; the recipient is left out. */
  readonly key_prefix: string | null
  readonly stage: string | null
  readonly number: number | null
  readonly ms: number
  readonly accounts: readonly {
    readonly service: string
    readonly enabled: string
    readonly connection: string
  }[]
}
