// A relay with lines, a phone of the owner, ntfy and a webhook for alerts.

import { asOwner } from '../support/control-socket.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { settle } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'

export const MINUTE = 60_000
export const PHONE = '+12025550147'
export const NTFY = 'https://ntfy.example.com/my-alerts'
const HOOK = 'https://shop.example.com/alerts'

export type AlertStage = Awaited<ReturnType<typeof startAlerts>>

export async function startAlerts(options: Parameters<typeof startScripted>[0] = {}) {
  const relay = await startScripted({ lines: ['online', 'online'], ...options })
  const owner = (method: string, path: string, body?: unknown): Promise<Json> =>
    asOwner(relay, method, path, { body })
  return {
    ...relay,
    owner,
    phone: (more: object = {}) => owner('POST', '/alerts/channels', { to: PHONE, ...more }),
    ntfy: (more: object = {}) => owner('POST', '/alerts/channels', { url: NTFY, ...more }),
    hook: () =>
      relay.post('/api/v1/webhooks', { url: HOOK, events: ['alert.raised', 'alert.resolved'] }),
    rule: (cause: string, changes: object) => owner('PUT', '/alerts/rules', { cause, ...changes }),
    /** The texts that any line sent to the owner. */
    texts: () =>
      relay.devices
        .flatMap(({ sent, number }) => sent.map((message) => ({ ...message, by: number })))
        .filter(({ to }) => to === PHONE)
        .toSorted((a, b) => a.createdAt - b.createdAt)
        .map(({ text, by }) => ({ text, by })),
    /** The bodies that ntfy got. */
    posts: (): readonly Json[] =>
      relay.sink.posts
        .filter(({ url }) => url.startsWith('https://ntfy.example.com'))
        .map(({ body }) => JSON.parse(body)),
    /** The events that the webhook got. */
    heard: (): readonly Json[] => relay.sink.to(HOOK).map(({ body }) => JSON.parse(body)),
    alerts: async (): Promise<readonly Json[]> => (await owner('GET', '/alerts')).data,
    async passes(ms: number): Promise<void> {
      await relay.clock.advance(ms)
      await settle()
    },
  }
}
