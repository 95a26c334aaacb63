// The page key: what a page of another port, which gets the cookie, does not have. What it opens is in
// dashboard-wall.test.ts.

import { expect, test } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { settle } from '../support/test-clock.ts'
import { outcome, PASSWORD, startDashboard } from './dashboard-rig.ts'
import { EventReader } from './event-reader.ts'

const DAY = 86_400_000
const NAME = 'hookline-2026-11-21T03-00-00Z.db'

test('it is given once, by the answer that signs in', async () => {
  await using relay = await startDashboard()
  const claimed = await relay.claim()
  const browser = relay.browser()

  const opened = await browser.post('/dashboard/session', { password: PASSWORD })
  const later = [await browser.state(), (await browser.get('/dashboard/sessions')).body]

  expect(opened.body.page_key).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(opened.body.page_key).not.toBe(claimed.pageKey)
  expect(JSON.stringify(later)).not.toContain('page_key')
})

test('a session from before there were page keys is asked to sign in again', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  relay.db.sqlite.run('UPDATE dashboard_sessions SET page_key_sha256 = NULL')

  const before = await browser.get('/dashboard/api/keys')
  const again = await browser.post('/dashboard/session', { password: PASSWORD })

  expect([outcome(before), outcome(again)]).toEqual(['401 signed_out', '200'])
  expect((await browser.get('/dashboard/sessions')).body.data).toHaveLength(1)
})

test('who signs out without the page key loses the cookie, and ends no session', async () => {
  await using relay = await startDashboard()
  const owner = await relay.claim()
  const other = relay.browser()
  other.continueAs({ cookie: owner.cookie, pageKey: null })

  const answer = await other.delete('/dashboard/session')

  expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
  expect(await owner.state()).toMatchObject({ state: 'signed_in' })
})

test('the stream of events ends when the session expires', async () => {
  await using relay = await startDashboard()
  const { clock } = relay
  const browser = await relay.claim()
  const stream = new EventReader(await browser.fetch('GET', '/dashboard/events'))
  await settle()

  clock.doze(7 * DAY - 60_000)
  await clock.advance(30_000)
  const before = stream.isOver
  await clock.advance(45_000)

  expect([before, stream.isOver]).toEqual([false, true])
})

test('a download needs a ticket for a listed backup, good once and for a minute, of the last twenty', async () => {
  using folder = new ScratchFolder()
  await Bun.write(folder.file(`backups/${NAME}`), 'the database')
  await using relay = await startDashboard({ folder: folder.path })
  const browser = await relay.claim()
  const ticket = async (): Promise<string> =>
    (await browser.post('/dashboard/downloads', { backup: NAME })).body.url
  // As a browser downloads a file: without the header of the page.
  const download = (url: string) =>
    browser.fetch('GET', url, { headers: { 'x-hookline-page-key': null } })
  const [first, second] = [await ticket(), await ticket()]

  const taken = await download(first)
  const again = await download(first)
  await relay.clock.advance(60_000)
  const late = await download(second)
  const made = await download(`/dashboard/downloads/${'a'.repeat(43)}`)
  const other = await browser.post('/dashboard/downloads', { backup: 'secret.key' })
  const tickets: string[] = []
  while (tickets.length < 21) tickets.push(await ticket())
  const [oldest, next] = await Promise.all(tickets.slice(0, 2).map(download))

  expect(await taken.text()).toBe('the database')
  expect(taken.headers.get('content-disposition')).toBe(`attachment; filename="${NAME}"`)
  expect([again, late, made].map(({ status }) => status)).toEqual([404, 404, 404])
  expect([other.status, oldest?.status, next?.status]).toEqual([404, 404, 200])
})
