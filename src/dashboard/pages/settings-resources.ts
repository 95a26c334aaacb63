// What the owner's routes answer about settings, back-ups and the relay itself.

export type SettingName =
  | 'webhook_targets'
  | 'announce_device_messages'
  | 'enforce_automation_pause'
  | 'open_metrics'
  | 'message_retention_days'
  | 'backups_kept'
  | 'heartbeat_url'

/** A setting, with its value in the words of `hookline config set`. */
export type Setting = {
  readonly name: SettingName
  readonly value: string
  /** Whether a variable of the environment decides it. */
  readonly is_locked: boolean
}

export type Backup = {
  readonly name: string
  readonly kind: 'daily' | 'before_migration'
  readonly created_at: string
  readonly size_bytes: number
}

/** The relay itself, and what it was started with. */
export type About = {
  readonly version: string
  readonly data_directory: string
  /** Where it listens. */
  readonly address: string
  readonly public_url: string | null
  readonly trusted_proxies: readonly string[]
  readonly backup_folder: string | null
  /** Whether the options set the password, which then can be changed there only. */
  readonly is_password_locked: boolean
  /** The kinds of device that it looks for. */
  readonly drivers: readonly string[]
}

/** A browser that is signed in. */
export type BrowserSession = {
  readonly created_at: string
  readonly last_seen_at: string
  readonly is_current: boolean
}

export type Data<T> = { readonly data: readonly T[] }
