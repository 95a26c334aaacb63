// Figures of two busy weeks, which a relay that was just started does not have.

import type { HomeChartData } from '../../src/api/stats.ts'
import type { WatchedPage } from './watched-page.ts'

const START = Date.parse('2026-11-21T10:00:00Z')
const iso = (time: number) => new Date(time).toISOString()

/** With an outage of the first line. */
function busyWeeks(lines: readonly string[]): HomeChartData {
  const latency = { send_p50_ms: 1_000, send_p95_ms: 5_000 }
  return {
    time_zone: 'UTC',
    days: Array.from({ length: 14 }, (_, at) => {
      const failed = at === 12 ? 3 : 0
      const figures = { sent: 20 + at * 3, received: 40 - at * 2, failed, uncertain: 0 }
      const own = lines.map((phone_line_id) => ({ phone_line_id, ...figures, new_contacts: at }))
      const day = iso(START - (13 - at) * 86_400_000).slice(0, 10)
      return { day, ...figures, ...latency, new_contacts: at, lines: own }
    }),
    uptime: lines.map((phone_line_id, line) => ({
      phone_line_id,
      cells: Array.from({ length: 90 }, (_, at) => {
        const from = START - (90 - at) * 28_800_000
        const isOut = line === 0 && at === 60
        const known = isOut ? 0.25 : 1
        const online_share = at < 20 ? null : known
        const reasons = isOut ? [{ reason: 'device_absent', seconds: 21_600 }] : []
        return { from: iso(from), to: iso(from + 28_800_000), online_share, reasons }
      }),
    })),
    queue: Array.from({ length: 288 }, (_, at) => ({
      at: iso(START - (287 - at) * 300_000),
      messages: at > 100 && at < 130 ? 130 - at : 0,
      deliveries: at % 40,
    })),
    webhooks: [
      {
        webhook_id: 'wh_a',
        from: iso(START - 86_400_000),
        cells: Array.from({ length: 48 }, (_, at) => ({ ok: at, failed: at === 30 ? 9 : 0 })),
        p50_ms: 50,
        p95_ms: 250,
        causes: [],
      },
    ],
  }
}

/**
 * Shows the figures on Home in place of its own, in every tab. Not by a route: with one, Chromium keeps no files, and
 * loads every script again with each page.
 */
export async function showBusyWeeks(
  { page }: WatchedPage,
  lines: readonly string[],
): Promise<void> {
  await page.context().addInitScript(`
    const realFetch = window.fetch
    window.fetch = (url, ...more) => url === '/dashboard/pictures/home'
      ? Promise.resolve(Response.json(${JSON.stringify(busyWeeks(lines))}))
      : realFetch(url, ...more)`)
}
