// The reads that several views share, each with the changes that make it stale.

import { useRead } from './dashboard.ts'
import type {
  About,
  Backup,
  BrowserSession,
  Key,
  KindInfo,
  LineChecks,
  Page,
  PhoneLine,
  RelayState,
  SeenDelivery,
  Setting,
  Webhook,
  WebhookDay,
} from './resources.ts'
import type { Read } from './store.ts'

type All<T> = Pick<Page<T>, 'data'>

/** A relay has a handful of lines, webhooks and keys: the longest page holds all of them. */
const ALL = '?limit=200'
export const CHECKS = '/dashboard/checks'

export const useLines = (): Read<All<PhoneLine>> => useRead(`phone-lines${ALL}`, 'line')
export const useWebhooks = (): Read<All<Webhook>> => useRead(`webhooks${ALL}`, 'webhook')
export const useKeys = (): Read<All<Key>> => useRead(`keys${ALL}`, 'key')
export const useSettings = (): Read<All<Setting>> => useRead('settings', 'setting')
export const useBackups = (): Read<All<Backup>> => useRead('backups', 'backup')
export const useAbout = (): Read<About> => useRead('/dashboard/about')
/** Empty until they are known: a view that depends on them waits for `useAbout`. */
export const useKinds = (): readonly KindInfo[] => useAbout().value?.kinds ?? []
export const useBrowsers = (): Read<All<BrowserSession>> =>
  useRead('/dashboard/sessions', 'session')
export const useChecks = (): Read<All<LineChecks>> => useRead(CHECKS, 'health', 'line')
export const useRelayState = (): Read<RelayState> =>
  useRead('/dashboard/state', 'health', 'line', 'webhook')
export const useWebhookDays = (): Read<All<WebhookDay>> =>
  useRead('/dashboard/webhook-days', 'delivery', 'webhook')
export const useDelivery = (id: string): Read<SeenDelivery> =>
  useRead(`/dashboard/webhook-deliveries/${id}`, id)

export function useWebhookDay(id: string): WebhookDay | null {
  return useWebhookDays().value?.data.find(({ webhook_id }) => webhook_id === id) ?? null
}

export function useLineChecks({ id }: PhoneLine): LineChecks | null {
  return useChecks().value?.data.find(({ line_id }) => line_id === id) ?? null
}
