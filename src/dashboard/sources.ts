// Reads that several views share, each with the changes after which it is read again.

import { useEffect } from 'preact/hooks'

import type { LineChecks, WebhookDay } from '../api/dashboard.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { useDashboard, useRead } from './dashboard.ts'
import type { Read } from './store.ts'

/** A relay has a handful of lines, webhooks and keys: the longest page holds all of them. */
const ALL = { query: { limit: 200 } }

export const useLines = () => useRead('listPhoneLines', ALL, 'line')
const useSiteList = () => useRead('listSites', {}, 'site', 'line').value?.data
export const useSites = () => useSiteList() ?? []
/** The site in the address; empty for all, and if there is no such site. */
export function useSite(): string {
  const sites = useSiteList()
  const { site = '' } = useDashboard().router.route.value.query
  return sites?.some(({ id }) => id === site) === false ? '' : site
}
export const useAlertChannels = () => useRead('listAlertChannels', {}, 'alert')
export const useBoxes = () => useRead('listBoxes', {}, 'box')
export const useWebhooks = () => useRead('listWebhooks', ALL, 'webhook')
export const useKeys = () => useRead('listKeys', ALL, 'key')
/** The latest conversations, for their names and for choices; null asks for none. */
export const useLatestConversations = (isNeeded: boolean) =>
  useRead('listConversations', isNeeded ? LATEST : null, 'conversation')
const LATEST = { query: { limit: 100, type: 'all' } } as const
export const useSettings = () => useRead('listSettings', {}, 'setting')
/** The time zone of days and limits; null until it is known. */
export function useTimeZone(): string | null {
  return useSettings().value?.data.find(({ name }) => name === 'time_zone')?.value ?? null
}
export const useBackups = () => useRead('listBackups', {}, 'backup')
export const useAbout = () => useRead('getAbout', {})
/** Empty until they are known: a view that depends on them waits for `useAbout`. */
export const useKinds = () => useAbout().value?.kinds ?? []
export const useBrowsers = () => useRead('listSessions', {}, 'session')
export const useChecks = () => useRead('listChecks', {}, 'health', 'line')
/** An empty site stands for all, here and in the next ones. */
export const useRelayState = (site_id = '') =>
  useRead('getRelayState', { query: { site_id } }, 'health', 'line', 'webhook', 'site')
export const useHomeCharts = (site_id = '') =>
  useEachMinute(useRead('getHomePictures', { query: { site_id } }, 'line', 'webhook', 'site'))
export const useLineCharts = (id: string) =>
  useEachMinute(useRead('getLinePictures', { params: { id } }, id))
export const useWebhookCharts = (id: string) =>
  useEachMinute(useRead('getWebhookPictures', { params: { id } }, id))
export const useWebhookDays = () => useRead('listWebhookDays', {}, 'delivery', 'webhook')
export const useDelivery = (id: string) => useRead('getSeenDelivery', { params: { id } }, id)
export const useAttention = (site_id: string) =>
  useRead('getAttention', { query: { site_id } }, 'message', 'site')

/** Charts change with every message, so they are read once a minute instead. */
function useEachMinute<T>(read: Read<T>): Read<T> {
  const { clock } = useDashboard()
  useEffect(read.refresh, [Math.floor(clock.now.value / 60_000)])
  return read
}

export function useWebhookDay(id: string): WebhookDay | null {
  return useWebhookDays().value?.data.find(({ webhook_id }) => webhook_id === id) ?? null
}

export function useLineChecks({ id }: PhoneLine): LineChecks | null {
  return useChecks().value?.data.find(({ line_id }) => line_id === id) ?? null
}
