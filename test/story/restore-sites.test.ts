// Sites after the restore of a backup: who was kept from a line since then stays kept from it.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { PASSWORD, startDashboard, tokenOf, type Browser } from '../http/dashboard-rig.ts'
import { makeKey } from '../support/limited-keys.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { asOwner, makeSite, moveLine } from '../support/site-calls.ts'

type Dashboard = Awaited<ReturnType<typeof startDashboard>>

const open = ({ database }: DataDirectory) => openDatabase(database, { version: 'test' })
const LINES = { HOOKLINE_SIMULATED_LINES: '2' }

/** Two lines in Berlin, with everything that can be limited to a site. */
async function furnish(relay: Dashboard) {
  await relay.clock.advance(1_000)
  const [first = '', second = ''] = (await relay.lines()).map(({ id }) => String(id))
  const sites = [await makeSite(relay, 'Berlin'), await makeSite(relay, 'Hamburg')] as const
  for (const line of [first, second]) await moveLine(relay, line, sites[0])
  const { headers } = await makeKey(relay, { site_ids: [sites[0]] })
  const hook = { url: 'https://shop.example/hook', events: ['message.received'], site_ids: sites }
  const make = async (path: string, body: object) =>
    String((await asOwner(relay, 'POST', path, body)).body.id)
  const owner = await relay.claim()
  const member = await join(relay, owner, sites)
  return {
    first,
    second,
    sites,
    headers,
    member,
    webhook: await make('/webhooks', hook),
    removed: await make('/alerts/channels', { to: '+12025550199' }),
    kept: await make('/alerts/channels', { to: '+12025550198' }),
  }
}

async function join(relay: Dashboard, owner: Browser, site_ids: readonly string[]) {
  const { body } = await owner.post('/dashboard/api/members', { name: 'Anna', site_ids })
  const token = tokenOf(body.link.url)
  await relay.browser().post('/dashboard/setup', { token, password: PASSWORD })
  return String(body.member?.id ?? body.id)
}

test('a member or key that was limited since the backup stays limited, and a removed phone is not alerted', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const settings = { drivers: 'own', environment: LINES } as const
  const life = await startDashboard({ database: open(directory), ...settings })
  const made = await furnish(life)
  const [berlin, hamburg] = made.sites
  const file = folder.file('backup.db')
  takeSnapshot(wholeBackup(directory, file))
  await moveLine(life, made.first, hamburg)
  const narrowed = { site_ids: [berlin] }
  const changes = [
    await asOwner(life, 'PUT', `/webhooks/${made.webhook}`, narrowed),
    await asOwner(life, 'PATCH', `/members/${made.member}`, narrowed),
    await asOwner(life, 'DELETE', `/alerts/channels/${made.removed}`),
  ]
  const { clock, key } = life
  await life[Symbol.asyncDispose]()
  closeDatabase(life.db)

  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })

  await using relay = await startDashboard({ database: open(directory), clock, key, ...settings })
  await relay.clock.advance(1_000)
  const lines = await relay.request('GET', '/api/v1/phone-lines', undefined, made.headers)
  const hook = await relay.get(`/api/v1/webhooks/${made.webhook}`)
  const members = await asOwner(relay, 'GET', '/members')
  const channels = await relay.get('/api/v1/alerts/channels')
  expect(changes.map(({ status }) => status)).toEqual([200, 200, 200])
  // The line that was moved comes back in no site, so that nobody of Berlin sees it.
  expect(lines.body.data.map(({ id }: { id: string }) => id)).toEqual([made.second])
  expect(hook).toMatchObject({ is_active: false, site_ids: [berlin, hamburg] })
  expect(members.body.data).toMatchObject([{ name: 'Anna', site_ids: [berlin] }])
  expect(channels.data.map(({ id }: { id: string }) => id)).toEqual([made.kept])
})
