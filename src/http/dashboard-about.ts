// What the settings page tells of the relay itself: what runs, and what it was started with.

import { Elysia } from 'elysia'

import type { About } from '../api/dashboard.ts'
import { plainCall } from './operation.ts'

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
export function aboutRoutes({ about }: { readonly about: () => About }) {
  return new Elysia().onBeforeHandle(plainCall).get('/dashboard/about', () => about())
}

export function aboutResource(start: Start): About {
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
