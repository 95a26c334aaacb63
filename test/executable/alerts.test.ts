import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { Receiver } from '../support/receiver.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { runAlertKills } from './torture/alerts.ts'
import { ENVIRONMENT } from './torture/load.ts'

const KILLS = 6

test(`after ${KILLS} kills during alerts none is missed, sent twice or untrue`, async () => {
  const { faults, exitCode, alerts } = await runAlertKills(KILLS)

  expect(Object.entries(faults).filter(([, list]) => list.length > 0)).toEqual([])
  expect(exitCode).toBe(0)
  expect(alerts).toBeGreaterThanOrEqual(KILLS)
}, 600_000)

test('a webhook that fails for a minute is reported by text, event and POST, for real', async () => {
  using dir = temporaryDataDir()
  using hook = new Receiver()
  const titles: string[] = []
  using ntfy = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { title } = (await request.json()) as { readonly title: string } // The relay's own words.
      titles.push(title)
      return new Response('{}')
    },
  })
  const key = await createKey(dir.path)
  await using relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: ENVIRONMENT,
  })
  const api = new ApiClient(() => relay.url, key)
  const run = (line: string) => hookline(line, { HOOKLINE_DATA_DIR: dir.path })
  await api.ask('POST', '/api/v1/webhooks', { url: hook.url, events: ['alert.raised'] })
  await run('alerts add +12025550147')
  await run(`alerts add http://127.0.0.1:${ntfy.port}/my-topic`)
  await run('alerts set webhook_failing --after 1')
  const broken = { url: 'http://127.0.0.1:9/nobody', events: ['message.sent'] }
  await api.ask('POST', '/api/v1/webhooks', broken)
  await api.ask('POST', '/api/v1/messages/send', { to: '+12025560101', text: 'hello' })

  const texts = await eventually(
    'the phone has its text',
    () => {
      using db = new Database(join(dir.path, 'hookline.db'), { readonly: true })
      const sql = "SELECT text FROM messages WHERE handle = '+12025550147' AND sent_at IS NOT NULL"
      const found = db.query<{ text: string }, []>(sql).all()
      return found.length > 0 && titles.length > 0 && hook.received.length > 0 ? found : null
    },
    240_000,
  )

  expect(texts.map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^Hookline: 1 problem\n127.0.0.1:9\/nobody webhook is failing \(for 1 minute\)/,
    ),
  ])
  expect(titles).toEqual(['Hookline: 1 problem'])
  expect(hook.received.map(({ event }) => event)).toEqual(['alert.raised'])
}, 400_000)
