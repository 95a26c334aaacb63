// Requests and answers for the owner alone: on the control socket, most of them in the dashboard too.

import { Type } from 'typebox'

import type { SettingName } from '../domain/setting.ts'
import { nullable, objectSchema } from './schema.ts'

/** A setting, with its value in the words of `hookline config set`. */
export type Setting = {
  readonly name: SettingName
  readonly value: string
  readonly from: 'default' | 'database' | 'environment'
  /** True where the environment decides it. */
  readonly is_locked: boolean
}

export const NewValue = objectSchema('NewValue', { value: Type.String({ maxLength: 1_000 }) })

export type MadeBackup = {
  readonly path: string
  readonly size_bytes: number
  /** Of the files beside a whole backup. */
  readonly attachment_bytes?: number | undefined
}

/** A backup of the data directory, as it is listed. */
export type Backup = Omit<MadeBackup, 'attachment_bytes'> & {
  readonly name: string
  readonly kind: 'daily' | 'before_migration'
  readonly created_at: string
}

export const NewBackup = objectSchema('NewBackup', {
  to: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 4_096 }))),
  without_attachments: Type.Optional(Type.Boolean()),
})

/** A backup by what is in it. */
export type BackupContents = {
  /** The version that wrote it; null where that is unknown. */
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
  /** False where it cannot open the secrets of webhooks of another relay. */
  readonly has_secret_key: boolean
}

/** An uploaded backup that was checked, and waits to be restored. */
export type UploadedBackup = BackupContents & {
  readonly id: string
  readonly name: string
  readonly size_bytes: number
  /** The number of attachments whose files are neither in it nor here. */
  readonly missing_files: number
}

/** The state of a restore by the page. */
export type RestoreState = {
  readonly uploaded: UploadedBackup | null
  /** The outcome of the restore before this start; null where there was none. */
  readonly outcome: RestoreOutcome | null
}

/** `problem` is null where the backup is in place. */
export type RestoreOutcome = { readonly name: string; readonly problem: string | null }

export const UploadId = objectSchema('UploadId', { id: Type.String({ maxLength: 100 }) })

/** The result of the latest look for a newer release. */
export type UpdateState = {
  /** The version that runs. */
  readonly version: string
  /** The folder or URL that is looked at; null where nothing is. */
  readonly source: string | null
  readonly latest: string | null
  readonly is_newer: boolean
  readonly checked_at: string | null
  /** The way to install it, with the command. */
  readonly fix: string | null
  readonly problem: string | null
}

/** A line of the log, with its fields by name. */
export type LogLine = {
  /** Counts up from 1 at the start of the relay. */
  readonly seq: number
  readonly time: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The newest lines, and a sentence about the place of all of them. */
export type RecentLog = { readonly data: readonly LogLine[]; readonly place: string }

/** The link that sets the owner's password of the dashboard, or a member's. */
export type SetupLink = {
  readonly url: string
  /** The same for another machine of the network; null where the relay does not listen there. */
  readonly lan_url: string | null
  readonly expires_at: string
}

/** A person who reads and answers in the dashboard, and may do nothing else there. */
export type Member = {
  readonly id: string
  readonly name: string
  readonly created_at: string
  /** False until one is chosen with the first link. */
  readonly has_password: boolean
  /** End of the link that was not used yet; null where there is none. */
  readonly link_expires_at: string | null
  /** Right to the hour; null while no browser is signed in. */
  readonly last_seen_at: string | null
}

/** `link` is shown this once. */
export type InvitedMember = Member & { readonly link: SetupLink }

export const NewMember = objectSchema('NewMember', {
  name: Type.String({ minLength: 1, maxLength: 80 }),
})

/** An option, its value and its source: `--port`, `HOOKLINE_PORT`, `hookline.env`, `default`. */
export type OptionRow = { readonly name: string; readonly value: string; readonly from: string }

/** An iPhone on the cable, and how far it is on its way to a line. */
export type Phone = {
  readonly key: string
  readonly name: string | null
  readonly ios_version: string | null
  readonly battery_percent: number | null
  /** In the order in which they are reached. */
  readonly states: readonly { readonly state: string; readonly is_reached: boolean }[]
  readonly stop: {
    readonly code: string
    readonly title: string
    readonly why: string
    readonly fix: string
  } | null
  readonly unknown_screen: string | null
}

/**
 * One run of the script for Messages, without text: `stage` and `number` are where it ended, null where it
 * reported nothing.
 */
export type ScriptCall = {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly mode: string
  readonly route: string | null
  /** Prefix of the chat's guid, all that is shown of a recipient: `iMessage;-;` or `any;-;`. */
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
