// What the settings page reads.

import { useRead } from '../dashboard.ts'
import type { Read } from '../store.ts'
import type { About, Backup, BrowserSession, Data, Setting } from './settings-resources.ts'

export function useSettings(): Read<Data<Setting>> {
  return useRead('settings', 'setting')
}

export function useBackups(): Read<Data<Backup>> {
  return useRead('backups', 'backup')
}

export function useAbout(): Read<About> {
  return useRead('/dashboard/about')
}

export function useBrowsers(): Read<Data<BrowserSession>> {
  return useRead('/dashboard/sessions', 'session')
}
