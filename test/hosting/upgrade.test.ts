// What becomes of the executable, the database and the messages, however an upgrade goes. That the real
// executable does what these builds do is in test/executable.

import { expect, test } from 'bun:test'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'

import type { UpgradeStep } from '../../src/hosting/upgraded-machine.ts'
import { BREAKING, NEXT, OLD, writeBuild, type Build } from './upgrade-builds.ts'
import { UpgradeWorld } from './upgrade-world.ts'

const PREPARATION: readonly UpgradeStep[] = [
  'staged',
  'verified',
  'backed_up',
  'migrations_checked',
]
const EXCHANGE: readonly UpgradeStep[] = ['stopped', 'previous_kept', 'placed']
const HEALTHY: readonly UpgradeStep[] = [...PREPARATION, ...EXCHANGE, 'started', 'ready', 'healthy']
const TAKEN_BACK: readonly UpgradeStep[] = [
  ...PREPARATION,
  ...EXCHANGE,
  'started',
  'taking_back',
  'stopped_again',
  'database_put_back',
  'previous_put_back',
  'started_again',
]

test('a new version takes the place of the old one and serves', async () => {
  using world = new UpgradeWorld()
  world.publish(BREAKING)

  const { steps, result } = await world.upgrade()

  expect(steps).toEqual(HEALTHY)
  expect(result).toMatchObject({ outcome: 'upgraded', from: '1.0.0', to: '2.0.0', isRunning: true })
  expect(existsSync(result?.outcome === 'upgraded' ? (result.backup ?? '') : '')).toBe(true)
  expect(world.running).toBe('2.0.0 serves')
  expect(world.installed).toEqual(['hookline 2.0.0', 'hookline.previous 1.0.0'])
  expect(world.leftovers).toEqual([])
  expect([world.messages, world.carried]).toEqual([[['msg_before', 'sent']], ['msg_before']])
})

type Failure = readonly [
  what: string,
  build: Build,
  why: RegExp,
  more?: { readonly isAside?: false; readonly why?: string },
]

/** The old version can use what NEXT leaves: its database stays. */
const FAILURES: readonly Failure[] = [
  ['is silent', { ...BREAKING, how: 'is silent' }, /: it was not ready within 60 seconds\.$/],
  ['is in safe mode', { ...BREAKING, how: 'is in safe mode' }, /: it is in safe mode: It is so\.$/],
  ['is deaf', { ...BREAKING, how: 'is deaf' }, /: it did not accept that it may serve \(no\)\.$/],
  [
    'the service cannot start',
    { ...BREAKING, how: 'does not start' },
    /^It does not start\.$/,
    { isAside: false },
  ],
  [
    'says why it is not ready, and leaves a database for both,',
    { ...NEXT, how: 'is silent' },
    /not ready within 60 seconds\. It is offline with Sales\.$/,
    { isAside: false, why: 'It is offline with Sales.' },
  ],
]

test.each(FAILURES)('a new version that %s is taken back', async (_, build, why, more = {}) => {
  using world = new UpgradeWorld()
  world.publish(build)
  world.why = more.why

  const { steps, result } = await world.upgrade()

  const aside: unknown = (more.isAside ?? true) ? expect.stringContaining('rolled-back-') : null
  expect(result).toEqual({
    outcome: 'rolled_back',
    why: expect.stringMatching(why),
    aside: aside as string | null,
    trouble: null,
  })
  expect(steps.includes('started')).toBe(build.how !== 'does not start')
  expect(world.running).toBe('1.0.0 serves')
  expect(world.installed).toEqual(['hookline 1.0.0', 'hookline.previous 1.0.0'])
  expect([world.messages, world.carried]).toEqual([[['msg_before', 'sent']], ['msg_before']])
})

test('a large database gets the time to start that its trial took, three times', async () => {
  using world = new UpgradeWorld()
  world.publish({ ...BREAKING, how: 'is slow' })

  const { result } = await world.upgrade()

  expect(result).toMatchObject({ outcome: 'upgraded' })
  expect(world.running).toBe('2.0.0 serves')
})

const REFUSALS: readonly (readonly [
  what: string,
  prepare: (world: UpgradeWorld) => void,
  why: string,
])[] = [
  [
    'a file that is no executable of ours',
    (world) => {
      world.publish(NEXT)
      writeFileSync(world.file, 'no')
      rmSync(world.sums)
    },
    'is not a Hookline executable for this machine.',
  ],
  [
    'a version that finds the copy of the database wrong',
    (world) => world.publish({ ...NEXT, how: 'refuses' }),
    'The new version cannot use the database: It does not fit.',
  ],
  ['a file that is not there', () => {}, 'ENOENT'],
  [
    'a database that cannot be backed up',
    (world) => {
      world.publish(NEXT)
      rmSync(world.directory.backups, { recursive: true })
      writeFileSync(world.directory.backups, '')
    },
    '',
  ],
]

for (const [what, prepare, why] of REFUSALS) {
  test(`${what} is refused while the old version goes on`, async () => {
    using world = new UpgradeWorld()
    prepare(world)

    const { steps, result } = await world.upgrade({ isUnverified: what.includes('of ours') })

    expect(steps).not.toContain('stopped')
    expect(result).toMatchObject({ outcome: 'refused', why: expect.stringContaining(why) })
    expect(world.running).toBe('1.0.0 serves')
    expect(world.installed).toEqual(['hookline 1.0.0'])
    expect(world.carried).toEqual([])
  })
}

test('without a service a relay in the foreground is left alone; without one the executable is changed and not started', async () => {
  using world = new UpgradeWorld()
  world.isHosted = false
  world.publish(NEXT)

  const { steps, result: early } = await world.upgrade()
  const running = world.running
  world.powerCut()
  const { result: late } = await world.upgrade()

  expect([steps, running]).toEqual([[], '1.0.0 serves'])
  expect(early).toMatchObject({ outcome: 'refused', why: expect.stringContaining('Ctrl-C') })
  expect(late).toMatchObject({ outcome: 'upgraded', isRunning: false })
  expect([world.running, world.installed]).toEqual([
    'nobody',
    ['hookline 2.0.0', 'hookline.previous 1.0.0'],
  ])
})

test('a version that served is never taken back together with the database', async () => {
  using world = new UpgradeWorld()
  world.publish({ ...BREAKING, how: 'is deaf' })
  await world.upgrade({}, 'ready')
  // Its own check let it serve, and only then it fell silent.
  world.boot()
  world.accept('msg_after')

  const { result } = await world.upgrade()

  expect(result).toMatchObject({
    outcome: 'stuck',
    noWayBack: 'The new version has been in service already.',
  })
  expect(world.installed).toEqual(['hookline 2.0.0', 'hookline.previous 1.0.0'])
  expect(world.messages).toEqual([
    ['msg_before', 'sent'],
    ['msg_after', 'queued'],
  ])
})

test('an old executable that cannot run is not put back', async () => {
  using world = new UpgradeWorld()
  chmodSync(world.executable, 0o644)
  world.publish({ ...NEXT, how: 'is silent' })

  const { result } = await world.upgrade()

  expect(result).toMatchObject({
    outcome: 'stuck',
    noWayBack: expect.stringContaining('does not report its version.'),
  })
})

const STORIES = [
  ['goes well', BREAKING, HEALTHY],
  ['is taken back', { ...BREAKING, how: 'is silent' }, TAKEN_BACK],
] as const

for (const [how, build, steps] of STORIES) {
  for (const step of steps) {
    test(`an upgrade that ${how} may die after "${step}": something starts, and the next one clears up`, async () => {
      using world = new UpgradeWorld()
      world.publish(build)

      const broken = await world.upgrade({}, step)
      const installed = world.installed.find((name) => name.startsWith('hookline '))
      world.powerCut()
      // Where the new version is at fault, the owner gets a better one.
      if (installed === 'hookline 2.0.0') writeBuild(world.executable, BREAKING)
      world.boot()
      const afterwards = world.running
      world.accept('msg_after')
      world.publish(BREAKING)
      const { result } = await world.upgrade()

      expect(broken.steps.at(-1)).toBe(step)
      expect(['hookline 1.0.0', 'hookline 2.0.0']).toContain(installed ?? '')
      expect(afterwards).toMatch(/^[12]\.0\.0 serves$/)
      expect(result).toMatchObject({ outcome: 'upgraded', to: '2.0.0' })
      expect(world.running).toBe('2.0.0 serves')
      expect(world.installed).toEqual(['hookline 2.0.0', 'hookline.previous 1.0.0'])
      expect(world.leftovers).toEqual([])
      expect(world.messages).toEqual([
        ['msg_before', 'sent'],
        ['msg_after', 'sent'],
      ])
      expect(world.carried).toEqual(['msg_before', 'msg_after'])
    })
  }
}

test('the same version twice keeps the one before both', async () => {
  using world = new UpgradeWorld()
  world.publish(NEXT)
  await world.upgrade()

  const { steps, result } = await world.upgrade()

  expect(steps).not.toContain('previous_kept')
  expect(result).toMatchObject({ outcome: 'upgraded', from: OLD.version, to: NEXT.version })
  expect(world.installed).toEqual(['hookline 2.0.0', 'hookline.previous 1.0.0'])
})

test('if there is no database, as on a box, there is nothing to back up or to migrate', async () => {
  using world = new UpgradeWorld()
  world.publish(NEXT)
  world.powerCut()
  rmSync(world.directory.database)
  world.isHosted = false

  const { steps, result } = await world.upgrade()

  expect(steps).toEqual(['staged', 'verified', 'previous_kept', 'placed'])
  expect(result).toMatchObject({ outcome: 'upgraded', to: '2.0.0', backup: null })
})
