// Downloads by clients that are slow or silent for a while: every route that sends a file.

import { expect, test } from 'bun:test'

import { BackupWorker } from '../../src/storage/backup.ts'
import { openData } from '../../src/storage/data.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { type Browser, startDashboard } from './dashboard-rig.ts'

const READER = '+12025550100'

async function start(folder: ScratchFolder) {
  const clock = new TestClock()
  const place = { dataDir: folder.path, host: '127.0.0.1', port: 0 }
  const data = openData(place, { clock, random: systemRandom, log: silentLog, version: 'test' })
  const relay = await startDashboard({
    clock,
    drivers: 'own',
    environment: { HOOKLINE_SIMULATED_LINES: '1' },
    parts: { data, random: systemRandom, backupWorker: new BackupWorker() },
  })
  const owner = await relay.claim()
  const bytes = Uint8Array.from({ length: 500_000 }, (_, place) => (place * 31) % 251)
  const { body } = await owner.upload('/dashboard/api/attachments?filename=big.bin', bytes)
  return { relay, owner, clock, bytes, file: `/dashboard/api/attachments/${body.id}` }
}

type World = Awaited<ReturnType<typeof start>>
type Headers = Readonly<Record<string, string>>

const DOWNLOADS: readonly (readonly [
  what: string,
  pathOf: (world: World) => Promise<string> | string,
  headers?: Headers,
])[] = [
  ['an attachment', ({ file }) => `${file}/content`],
  ['a range of it', ({ file }) => `${file}/content`, { range: 'bytes=100-400000' }],
  ['a variant', ({ file }) => `${file}/content?variant=compatible`],
  ['a link', async ({ owner, file }) => new URL(await linkTo(owner, file)).pathname],
  ['a backup', ({ owner }) => backupOf(owner)],
  ['everything', ({ owner }) => ticketFor(owner, null)],
  ['an export', ({ owner }) => conversationOf(owner)],
]

const linkTo = async (owner: Browser, file: string): Promise<string> =>
  (await owner.post(`${file}/link`, {})).body.url

async function backupOf(owner: Browser): Promise<string> {
  const { body } = await owner.post('/dashboard/api/backup', {})
  return ticketFor(owner, body.path.split('/').at(-1))
}

const ticketFor = async (owner: Browser, backup: string | null): Promise<string> =>
  (await owner.post('/dashboard/downloads', { backup })).body.url

async function conversationOf(owner: Browser): Promise<string> {
  for (let i = 0; i < 3; i += 1) {
    await owner.post('/dashboard/api/messages/send', { to: READER, text: `${i}`.repeat(10_000) })
  }
  const { body } = await owner.get('/dashboard/api/conversations')
  return `/dashboard/api/conversations/${body.data[0].id}/export?format=json`
}

for (const [what, pathOf, headers = {}] of DOWNLOADS) {
  test(`${what} comes whole to a client that pauses for minutes, and breaks for one that never reads on`, async () => {
    using folder = new ScratchFolder()
    const world = await start(folder)
    await using relay = world.relay
    const lifted: number[] = []
    const open = async () => {
      const url = `http://localhost${await pathOf(world)}`
      const { cookie, pageKey } = world.owner
      const own = { host: 'localhost', 'sec-fetch-site': 'same-origin', cookie: cookie ?? '' }
      const all = { ...own, 'x-hookline-page-key': pageKey ?? '', ...headers }
      const request = new Request(url, { headers: all })
      const liftTimeout = (seconds: number) => void lifted.push(seconds)
      const peer = { address: '127.0.0.1', isControl: false, liftTimeout }
      return (await relay.app.http.fetch(request, peer)).body?.getReader()
    }

    const patient = await open()
    let pieces = 0
    for (let isDone = false; !isDone; pieces += 1) {
      isDone = (await patient?.read())?.done ?? true
      if (pieces < 2) await world.clock.advance(300_000)
    }
    const gone = await open()
    await gone?.read()
    await world.clock.advance(600_000)
    const readOn = async () => {
      while ((await gone?.read())?.done === false);
    }

    expect(pieces).toBeGreaterThan(2)
    expect(lifted.at(-1)).toBe(0)
    await expect(readOn()).rejects.toThrow('took nothing')
  })
}
