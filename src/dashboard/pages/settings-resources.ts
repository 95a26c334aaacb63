// The answers about settings, backups and the relay itself.

import type { Setting } from '../../api/owner.ts'

export type { About, BrowserSession } from '../../api/dashboard.ts'
export type { Backup, Setting } from '../../api/owner.ts'

export type SettingName = Setting['name']

export type Data<T> = { readonly data: readonly T[] }
