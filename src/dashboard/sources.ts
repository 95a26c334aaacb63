// The reads that several views share, each with the changes that make it stale.

import { useEffect } from 'preact/hooks'

import { useDashboard, useRead } from './dashboard.ts'
import type {
  About,
  Attention,
  Backup,
  Box,
  BrowserSession,
  HomePictures,
  Key,
  KindInfo,
  LineChecks,
  LinePictures,
  Page,
  PhoneLine,
  RelayState,
  SeenDelivery,
  Setting,
  Webhook,
  WebhookDay,
  WebhookPictures,
} from './resources.ts'
import type { Read } from './store.ts'

type All<T> = Pick<Page<T>, 'data'>

/** A relay has a handful of lines, webhooks and keys: the longest page holds all of them. */
const ALL = '?limit=200'
export const CHECKS = '/dashboard/checks'

export const useLines = (): Read<All<PhoneLine>> => useRead(`phone-lines${ALL}`, 'line')
export const useBoxes = (): Read<All<Box>> => useRead('boxes', 'box')
export const useWebhooks = (): Read<All<Webhook>> => useRead(`webhooks${ALL}`, 'webhook')
export const useKeys = (): Read<All<Key>> => useRead(`keys${ALL}`, 'key')
export const useSettings = (): Read<All<Setting>> => useRead('settings', 'setting')
/** Time zone of days and limits; null until it is known. */
export function useTimeZone(): string | null {
  return useSettings().value?.data.find(({ name }) => name === 'time_zone')?.value ?? null
}
export const useBackups = (): Read<All<Backup>> => useRead('backups', 'backup')
export const useAbout = (): Read<About> => useRead('/dashboard/about')
/** Empty until they are known: a view that depends on them waits for `useAbout`. */
export const useKinds = (): readonly KindInfo[] => useAbout().value?.kinds ?? []
export const useBrowsers = (): Read<All<BrowserSession>> =>
  useRead('/dashboard/sessions', 'session')
export const useChecks = (): Read<All<LineChecks>> => useRead(CHECKS, 'health', 'line')
export const useRelayState = (): Read<RelayState> =>
  useRead('/dashboard/state', 'health', 'line', 'webhook')
export const useHomePictures = (): Read<HomePictures> =>
  useEachMinute('/dashboard/pictures/home', 'line', 'webhook')
export const useLinePictures = (id: string): Read<LinePictures> =>
  useEachMinute(`/dashboard/pictures/line/${id}`, id)
export const useWebhookPictures = (id: string): Read<WebhookPictures> =>
  useEachMinute(`/dashboard/pictures/webhook/${id}`, id)
export const useWebhookDays = (): Read<All<WebhookDay>> =>
  useRead('/dashboard/webhook-days', 'delivery', 'webhook')
export const useDelivery = (id: string): Read<SeenDelivery> =>
  useRead(`/dashboard/webhook-deliveries/${id}`, id)

export const useAttention = (): Read<Attention> => useRead('/dashboard/attention', 'message')

const MINUTE_MS = 60_000

/** Figures change with every message: they are read again each minute instead. */
function useEachMinute<T>(path: string, ...on: readonly string[]): Read<T> {
  const { clock } = useDashboard()
  const read = useRead<T>(path, ...on)
  useEffect(read.refresh, [Math.floor(clock.now.value / MINUTE_MS)])
  return read
}

export function useWebhookDay(id: string): WebhookDay | null {
  return useWebhookDays().value?.data.find(({ webhook_id }) => webhook_id === id) ?? null
}

export function useLineChecks({ id }: PhoneLine): LineChecks | null {
  return useChecks().value?.data.find(({ line_id }) => line_id === id) ?? null
}
