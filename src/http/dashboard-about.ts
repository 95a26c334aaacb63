// What the settings page tells of the relay itself: what runs, and what it was started with.

import { Elysia } from 'elysia'

import { plainCall } from './operation.ts'

export type AboutResource = {
  readonly version: string
  /** The folder in which everything is kept. */
  readonly data_directory: string
  /** Where the relay listens: a URL. */
  readonly address: string
  readonly public_url: string | null
  readonly trusted_proxies: readonly string[]
  /** The second folder for the daily back-ups. */
  readonly backup_folder: string | null
  /** Whether the options set the dashboard's password, which then can be changed there only. */
  readonly is_password_locked: boolean
  /** The kinds of device that the relay looks for, as `mac`. */
  readonly drivers: readonly string[]
}

/** What of a start it speaks of. */
type Start = {
  readonly version: string
  readonly address: string
  readonly drivers: readonly { readonly kind: string }[]
  readonly dataDir: string
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
  readonly backupFolder: string | null
  readonly adminPassword: string | null
}

/** Behind the door of the dashboard: whoever asks is signed in. */
export function aboutRoutes({ about }: { readonly about: () => AboutResource }) {
  return new Elysia().onBeforeHandle(plainCall).get('/dashboard/about', () => about())
}

export function aboutResource(start: Start): AboutResource {
  return {
    version: start.version,
    data_directory: start.dataDir,
    address: start.address,
    public_url: start.publicUrl,
    trusted_proxies: start.trustedProxies,
    backup_folder: start.backupFolder,
    is_password_locked: start.adminPassword !== null,
    drivers: start.drivers.map(({ kind }) => kind),
  }
}
