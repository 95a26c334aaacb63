// What the owner does to lines, and what is shown of them.

import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { findingsOf, phoneLineResource, type LineSnapshot } from '../../src/lines/line-state.ts'
import { listLines } from '../../src/storage/lines.ts'
import { CAPABILITIES, DEVICE, MisbehavingDriver } from '../support/misbehaving-driver.ts'
import { settle } from '../support/test-clock.ts'
import { LINE, NO_LINE, startRig } from './supervisor-rig.ts'

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null)

test('settings are changed at once and stay after a restart', async () => {
  await using rig = await startRig([new MisbehavingDriver()])
  const { id } = rig.line().line

  const changes = { label: 'Office', dailyContactLimit: 7, isEnabled: false, relaySms: true }
  const patched = await rig.supervisor.admin.patch(id, changes, COMMAND_LINE)

  expect(patched.line).toMatchObject(changes)
  expect(rig.supervisor.find(id)?.line).toMatchObject(changes)
  expect(listLines(rig.db)[0]).toMatchObject(changes)
  expect(patched.state.status).toBe('online')
})

test('a line that is not there can be neither changed, deleted nor adopted', async () => {
  await using rig = await startRig([new MisbehavingDriver()])
  const { id } = rig.line().line

  const codes = await Promise.all([
    rig.supervisor.admin.patch(NO_LINE, { label: 'x' }, COMMAND_LINE).catch(codeOf),
    rig.supervisor.admin.remove(NO_LINE, COMMAND_LINE).catch(codeOf),
    rig.supervisor.admin.adopt(NO_LINE, id, COMMAND_LINE).catch(codeOf),
    rig.supervisor.admin.adopt(id, NO_LINE, COMMAND_LINE).catch(codeOf),
  ])

  expect(codes.every((code) => code === 'not_found')).toBe(true)
})

test('a line in use cannot be deleted; a simulated one that nobody asked for can', async () => {
  const driver = new MisbehavingDriver('simulated')
  await using rig = await startRig([
    driver,
    new MisbehavingDriver('mac', [{ key: 'm', number: '+15550009' }]),
  ])
  const [simulated, mac] = rig.supervisor.lines().map(({ line }) => line)

  const inUse = await rig.supervisor.admin.remove(simulated?.id ?? '', COMMAND_LINE).catch(codeOf)
  const real = await rig.supervisor.admin.remove(mac?.id ?? '', COMMAND_LINE).catch(codeOf)
  driver.found = []
  await rig.clock.advance(5_000)
  await rig.supervisor.admin.remove(simulated?.id ?? '', COMMAND_LINE)

  expect([inUse, real]).toEqual(['phone_line_in_use', 'phone_line_in_use'])
  expect(rig.supervisor.lines().map(({ line }) => line.id)).toEqual(
    mac === undefined ? [] : [mac.id],
  )
  expect(listLines(rig.db).length).toBe(1)
})

for (const order of ['the vanished line first', 'the new line first']) {
  test(`a vanished line gets the device of a new one, ${order}`, async () => {
    const driver = new MisbehavingDriver()
    await using rig = await startRig([driver])
    driver.found = [{ key: 'new-mac', number: '+12025550144' }]
    await rig.clock.advance(5_000)
    await driver.visit().listener.onEvent({ type: 'checkpoint', checkpoint: 'of the new one' })
    const [old, fresh] = rig.supervisor.lines().map(({ line }) => line.id)
    const ids = [old ?? NO_LINE, fresh ?? NO_LINE] as const

    const [id, from] = order === 'the vanished line first' ? ids : ids.toReversed()
    await rig.supervisor.admin.adopt(id ?? '', from ?? '', COMMAND_LINE)
    await settle()

    const { line } = rig.line()
    expect(rig.supervisor.lines().length).toBe(1)
    expect([line.id, line.key, line.number, line.checkpoint]).toEqual([
      ids[0],
      'new-mac',
      '+12025550144',
      'of the new one',
    ])
    expect(rig.reason()).toBeNull()
    expect(driver.visits.map(({ signal }) => signal.aborted)).toEqual([true, true, false])
  })
}

test('two lines that are both present are not made one, and a number that has not changed is not accepted', async () => {
  const driver = new MisbehavingDriver('mac', [DEVICE, { key: 'device-2', number: '+12025550122' }])
  await using rig = await startRig([driver])
  const [one = '', two = ''] = rig.supervisor.lines().map(({ line }) => line.id)

  const both = await rig.supervisor.admin.adopt(one, two, COMMAND_LINE).catch(codeOf)
  const same = await rig.supervisor.admin.adopt(one, one, COMMAND_LINE).catch(codeOf)

  expect([both, same]).toEqual(['phone_line_in_use', 'invalid_request'])
  expect(rig.supervisor.lines().length).toBe(2)
})

const ONLINE: LineSnapshot = {
  line: { ...LINE, checkpoint: 'secret' },
  isReal: true,
  abilities: CAPABILITIES,
  state: { status: 'online', imessageActive: true, capabilities: CAPABILITIES },
  isConfigured: true,
  inFlight: 0,
  capacity: 1,
}

const OFFLINE: LineSnapshot = {
  ...ONLINE,
  state: { status: 'offline', reason: { code: 'asleep', hint: 'Wake it.' } },
}

const nameOf = (box: string) => box

test('a line is shown as the API documents it, and an offline one with the reason and what to do', () => {
  const at = ONLINE.line.createdAt
  const notRelayed = [{ kind: 'sms', count: 2, since: at, lastAt: timestamp(at + 1_000) }] as const

  expect(
    phoneLineResource(ONLINE, { newContactsToday: 3, notRelayed, nameOf, siteId: null }),
  ).toEqual({
    id: 'line_a',
    phone_number: '+12025550111',
    label: null,
    status: 'online',
    status_reason: null,
    status_hint: null,
    imessage_active: true,
    daily_contact_limit: 50,
    new_contacts_today: 3,
    is_enabled: true,
    relay_sms: false,
    driver: 'mac',
    capabilities: CAPABILITIES,
    not_relayed: [
      {
        kind: 'sms',
        count: 2,
        since: '2026-11-21T10:00:00.000Z',
        last_at: '2026-11-21T10:00:01.000Z',
        hint: expect.stringContaining('hookline lines set ID --relay-sms true'),
      },
    ],
    created_at: '2026-11-21T10:00:00.000Z',
  })
  const quiet = { newContactsToday: 0, notRelayed: [], nameOf, siteId: null }
  expect(phoneLineResource(OFFLINE, quiet)).toMatchObject({
    status: 'offline',
    status_reason: 'asleep',
    status_hint: 'Wake it.',
    imessage_active: false,
  })
})

test('a checkup names the line of each finding, and what an offline line depends on', async () => {
  const finding = {
    code: 'full_disk_access',
    severity: 'error',
    title: 'No permission',
    why: 'The system refuses.',
    fix: 'Allow it.',
    key: 'a',
    depends_on: null,
  } as const

  const { key: _, ...words } = finding
  const { id } = OFFLINE.line
  const scope = { about: { kind: 'line', id }, lineId: id } as const

  const findings = findingsOf([OFFLINE], new Map([['mac', [finding]]]))

  expect(findings).toEqual([
    { ...words, scope },
    {
      code: 'line_offline',
      severity: 'warning',
      title: 'The line +12025550111 is offline',
      why: 'Outgoing messages wait until it is back, for up to 24 hours.',
      fix: 'Wake it.',
      depends_on: 'full_disk_access',
      scope,
    },
  ])
})

test('what a checkup finds if there is no line is about the driver, or about that device', async () => {
  const words = { severity: 'error', title: 'T', why: 'W.', fix: 'F.', depends_on: null } as const
  const found = [null, 'udid-1', 'udid-2'].map((key) => ({
    ...words,
    code: 'locked' as const,
    key,
  }))

  const findings = findingsOf([], new Map([['iphone', found]]))

  const subjects = findings.map(({ scope }) => scope.about)
  expect(subjects[0]).toEqual({ kind: 'driver', id: 'iphone' })
  expect(subjects.slice(1).map((about) => about?.kind)).toEqual(['device', 'device'])
  expect(new Set(subjects.map((about) => about?.id)).size).toBe(3)
  expect(JSON.stringify(subjects)).not.toContain('udid')
})

test('a checkup that fails or hangs is a finding, and is asked once at a time', async () => {
  const failing = new MisbehavingDriver()
  failing.checking = () => Promise.reject(new Error('no tool'))
  const hanging = new MisbehavingDriver('iphone', [])
  let asked = 0
  hanging.checking = () => {
    asked += 1
    return new Promise(() => {})
  }
  await using rig = await startRig([failing, hanging])
  const { signal } = new AbortController()

  const first = rig.supervisor.checkup(signal)
  await rig.clock.advance(10_000)
  await first
  const second = await rig.supervisor.checkup(signal)

  expect(second.map(({ code, why }) => [code, why])).toEqual([
    ['driver_failed', 'no tool'],
    ['driver_failed', 'It has not answered for a while.'],
  ])
  expect(asked).toBe(1)
})
