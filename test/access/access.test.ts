// What the routes cannot show: faults and races in the midst of a sign-in.

import { expect, test } from 'bun:test'

import { setupLinkOf } from '../../src/access/setup-link.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { storageFull } from '../../src/storage/sqlite-errors.ts'
import { HERE, newToken, openAccess, refusal } from './access-rig.ts'

const PASSWORD = 'correct horse'

test('a setup that cannot be written leaves its link good', async () => {
  const { access, failNextWrite } = openAccess()
  const setup = { token: await newToken(access), password: PASSWORD }

  failNextWrite(storageFull())
  const outcomes = [
    await refusal(access.setUp(setup, HERE)),
    await refusal(access.setUp(setup, HERE)),
    await refusal(access.setUp(setup, HERE)),
  ]

  expect(outcomes).toEqual(['storage_full', 'done', 'setup_link_invalid'])
})

test('a link that failed does not come back to life after a newer one was made', async () => {
  const { access, failNextWrite } = openAccess()
  const old = { token: await newToken(access), password: PASSWORD }

  const making = newToken(access)
  failNextWrite(storageFull())
  const failing = refusal(access.setUp(old, HERE))
  const newest = { token: await making, password: PASSWORD }
  await failing

  expect(await refusal(access.setUp(old, HERE))).toBe('setup_link_invalid')
  expect(await refusal(access.setUp(newest, HERE))).toBe('done')
})

for (const [name, act] of [
  ['a sign-in', ({ access }) => access.signIn({ password: PASSWORD }, HERE)],
  ['an elevation', ({ access }, session) => access.elevate(session, PASSWORD, HERE)],
  [
    'a change',
    ({ access }, session) =>
      access.changePassword(session, { current: PASSWORD, password: 'the third horse' }, HERE),
  ],
] as const satisfies readonly (readonly [string, Act])[]) {
  test(`${name} with a password that is changed meanwhile is refused`, async () => {
    const room = openAccess()
    const { session } = await room.claim(PASSWORD)
    const look = Promise.withResolvers<void>()
    room.passwordHash.before = () => look.promise

    const acting = refusal(act(room, session))
    // Hashing goes one at a time, so the other change must not wait for this look.
    room.db.sqlite.run("UPDATE dashboard_owner SET password_hash = 'hash of other'")
    look.resolve()

    expect(await acting).toBe('wrong_password')
    expect(sessionsIn(room)).toBe(1)
  })
}

test('a watcher of a session learns of its end, and of no other', async () => {
  const { access, claim } = openAccess()
  const { session: first } = await claim(PASSWORD)
  const { session: second } = await access.signIn({ password: PASSWORD }, HERE)
  const ends = [access.sessions.endOf(first), access.sessions.endOf(second)]
  const endings = () => ends.map((end) => end.aborted)

  const before = endings()
  await access.signOut(first, HERE)
  const after = endings()
  await access.signOutEverywhere(HERE)

  expect([before, after, endings()]).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ])
  expect(access.sessions.endOf(first).aborted).toBe(true)
})

test('what is ended by a change that is not written goes on', async () => {
  const { access, claim, failNextWrite } = openAccess()
  const { session } = await claim(PASSWORD)
  const end = access.sessions.endOf(session)

  failNextWrite(storageFull())
  const outcome = await refusal(access.signOutEverywhere(HERE))

  expect([outcome, end.aborted]).toEqual(['storage_full', false])
})

test('the wall clock that steps back lengthens no session', async () => {
  const { access, clock, claim } = openAccess()
  const keys = await claim(PASSWORD)

  clock.doze(7 * 86_400_000)
  const expired = access.sessions.find(keys)
  clock.step(-7 * 86_400_000)
  const stepped = access.sessions.find(keys)

  expect([expired, stepped]).toEqual([null, null])
})

type Room = ReturnType<typeof openAccess>
type Act = (
  room: Room,
  session: Awaited<ReturnType<Room['access']['signIn']>>['session'],
) => Promise<unknown>

function sessionsIn({ db }: Room): number {
  return db.sqlite.query('SELECT 1 FROM dashboard_sessions').all().length
}

for (const [listeningUrl, publicUrl, url, lanUrl] of [
  ['http://127.0.0.1:4665', null, 'http://127.0.0.1:4665/#/setup/T', null],
  ['http://192.168.1.5:80', null, 'http://192.168.1.5:80/#/setup/T', null],
  ['http://[::1]:4665', null, 'http://[::1]:4665/#/setup/T', null],
  [
    'http://0.0.0.0:4665',
    null,
    'http://127.0.0.1:4665/#/setup/T',
    'http://mini.local:4665/#/setup/T',
  ],
  ['http://[::]:4665', null, 'http://127.0.0.1:4665/#/setup/T', 'http://mini.local:4665/#/setup/T'],
  ['http://0.0.0.0:80', null, 'http://127.0.0.1/#/setup/T', 'http://mini.local/#/setup/T'],
  ['http://0.0.0.0:4665', 'https://relay.example.com', 'https://relay.example.com/#/setup/T', null],
] as const) {
  test(`a relay at ${publicUrl ?? listeningUrl} is set up at ${url}`, () => {
    const link = setupLinkOf(
      { token: 'T', expiresAt: timestamp(0) },
      { listeningUrl, publicUrl, localName: 'mini.local' },
    )

    expect(link).toEqual({ url, lan_url: lanUrl, expires_at: '1970-01-01T00:00:00.000Z' })
  })
}
