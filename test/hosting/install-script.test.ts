// `scripts/install` as a user runs it, against a folder instead of the releases, with a home of its own
// and stand-ins for the tools that identify the machine and sign.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'

import { testNeeding } from '../support/needs.ts'
import { ROOT } from '../support/source-files.ts'
import { Setup, type System } from './install-rig.ts'

const SYSTEMS: readonly (readonly [System, string])[] = [
  [{ uname: ['Darwin', 'arm64'] }, 'hookline-darwin-arm64'],
  [{ uname: ['Darwin', 'x86_64'] }, 'hookline-darwin-x64'],
  [{ uname: ['Linux', 'x86_64'] }, 'hookline-linux-x64'],
  [{ uname: ['Linux', 'aarch64'] }, 'hookline-linux-arm64'],
  [{ uname: ['Linux', 'x86_64'], libc: 'musl libc (x86_64)' }, 'hookline-linux-x64-musl'],
  [{ uname: ['Linux', 'aarch64'], libc: 'musl libc (aarch64)' }, 'hookline-linux-arm64-musl'],
]

for (const [system, name] of SYSTEMS) {
  test(`${JSON.stringify(system)} gets ${name}, which is started as a service`, async () => {
    using setup = new Setup(system)
    setup.publish(name)

    const { exitCode, stderr } = await setup.run()

    expect([exitCode, stderr, setup.noted('called')]).toEqual([0, '', 'help --man\nup\n'])
    expect(setup.left()).toEqual(['hookline'])
  })
}

test('a shell translated from Intel on an Apple processor gets the executable for that', async () => {
  using setup = new Setup({ uname: ['Darwin', 'x86_64'] })
  setup.publish('hookline-darwin-arm64')
  setup.translated()

  expect((await setup.run()).exitCode).toBe(0)
})

test('on a Mac the quarantine goes, and what was built for Intel is signed', async () => {
  using arm = new Setup({ uname: ['Darwin', 'arm64'] })
  using intel = new Setup({ uname: ['Darwin', 'x86_64'] })
  arm.publish('hookline-darwin-arm64')
  intel.publish('hookline-darwin-x64')

  await arm.run()
  await intel.run()

  const shortened = (setup: Setup) => setup.noted('tools')?.replaceAll(/\S*\/(?=hookline)/g, '')
  expect(shortened(arm)).toBe('xattr -d com.apple.quarantine hookline-darwin-arm64\n')
  expect(shortened(intel)).toBe(
    'xattr -d com.apple.quarantine hookline-darwin-x64\n' +
      'codesign --force --sign - hookline-darwin-x64\n',
  )
})

const LINUX: System = { uname: ['Linux', 'x86_64'] }
const NAME = 'hookline-linux-x64'
const UNSIGNED =
  /^hookline: file:\/\/\S+\/SHA256SUMS was not signed with Hookline's release key\. Nothing is installed\.\n$/
const DIFFERS =
  /^hookline: hookline-linux-x64 is not what was published: its SHA-256 differs\. Nothing is installed\.\n$/

/** Published releases, how the installer is run, and what it says as it installs nothing. */
const REFUSALS: readonly (readonly [
  what: string,
  publish: (setup: Setup) => void,
  says: RegExp | string,
  environment?: Readonly<Record<string, string>>,
])[] = [
  [
    'a file that differs from its published checksum',
    (setup) => setup.publish(NAME, { sum: 'f'.repeat(64) }),
    DIFFERS,
  ],
  [
    'a file whose sums were changed after they were signed',
    (setup) => setup.replace(NAME),
    UNSIGNED,
  ],
  [
    'a file without a published checksum',
    (setup) => setup.publish('hookline-linux-arm64'),
    'SHA256SUMS says nothing of hookline-linux-x64.',
  ],
  [
    'a release that cannot be had',
    () => {},
    'Cannot get file:///nowhere/SHA256SUMS',
    { HOOKLINE_RELEASES: 'file:///nowhere' },
  ],
  [
    'a release over plain http',
    () => {},
    'not supported',
    { HOOKLINE_RELEASES: 'http://127.0.0.1:9' },
  ],
]

test.each(REFUSALS)(
  '%s is not installed, and what was there stays',
  async (_, publish, says, more = {}) => {
    using setup = new Setup(LINUX)
    setup.publish(NAME)
    await setup.run({ HOOKLINE_NO_UP: '1' })
    const before = readFileSync(setup.program, 'utf8')
    publish(setup)

    const { exitCode, stderr } = await setup.run(more)

    expect(exitCode).toBe(1)
    if (typeof says === 'string') expect(stderr).toContain(says)
    else expect(stderr).toMatch(says)
    expect([readFileSync(setup.program, 'utf8'), setup.left()]).toEqual([before, ['hookline']])
    expect(setup.noted('called')).toBe('help --man\n')
  },
)

testNeeding('minisign', Bun.which('minisign') !== null)(
  'if there is no ssh-keygen, minisign distinguishes a signed release from another',
  async () => {
    using setup = new Setup(LINUX)
    setup.publish(NAME)
    setup.withoutSsh({ hasMinisign: true })

    const genuine = await setup.run({ PATH: setup.toolsOnly })
    setup.replace(NAME)
    const changed = await setup.run({ PATH: setup.toolsOnly })

    expect([genuine.exitCode, genuine.stderr]).toEqual([0, ''])
    expect(changed.stderr).toMatch(UNSIGNED)
  },
)

test('if nothing can verify a signature, nothing is installed unless the owner says so', async () => {
  using setup = new Setup(LINUX)
  setup.publish(NAME)
  const keyless = await setup.run({}, `${ROOT}/scripts/install`)
  setup.withoutSsh({ hasMinisign: false })

  const careful = await setup.run({ PATH: setup.toolsOnly })
  const left = setup.left()
  const trusting = await setup.run({ PATH: setup.toolsOnly, HOOKLINE_UNVERIFIED: '1' })

  // An installer from a checkout without a release key.
  expect([keyless.exitCode, careful.exitCode]).toEqual([1, 1])
  expect(keyless.stderr).toContain('has no release key')
  expect(careful.stderr).toContain('neither ssh-keygen nor minisign')
  expect(left).toEqual([])
  expect(trusting.exitCode).toBe(0)
})

test('a second run puts the newer version in the place of the older', async () => {
  using setup = new Setup(LINUX)
  setup.publish(NAME)
  await setup.run()
  setup.publish(NAME, { version: 'two' })

  await setup.run()

  expect(readFileSync(setup.program, 'utf8')).toContain('# two')
  expect([setup.noted('called'), setup.left()]).toEqual([
    'help --man\nup\n'.repeat(2),
    ['hookline'],
  ])
})

test('who wants no service gets none', async () => {
  using setup = new Setup(LINUX)
  setup.publish(NAME)

  const { stdout } = await setup.run({ HOOKLINE_NO_UP: '1' })

  expect(setup.noted('called')).toBe('help --man\n')
  expect(stdout).toContain('Start it as a service: hookline up')
})

test('a folder that is not on the PATH is reported, one that is, is not', async () => {
  using setup = new Setup(LINUX)
  setup.publish(NAME)
  const bin = `${setup.home}/.local/bin`

  const without = await setup.run()
  const path = `${setup.toolsOnly}:${bin}:/usr/bin:/bin`
  const within = await setup.run({ PATH: path })

  expect(without.stdout).toContain(`${bin} is not on your PATH.`)
  expect(within.stdout).toBe(`Getting hookline-linux-x64 ...\nInstalled ${bin}/hookline\n`)
})

test('an executable that does not run as a service stays installed, and that is reported', async () => {
  using setup = new Setup(LINUX)
  setup.publish(NAME, { exitCode: 1 })

  const { exitCode, stderr } = await setup.run()

  expect(exitCode).toBe(1)
  expect(stderr).toContain('Without one: hookline serve')
  expect(existsSync(setup.program)).toBe(true)
})

for (const uname of [
  ['FreeBSD', 'amd64'],
  ['Linux', 'riscv64'],
] as const) {
  test(`for ${uname.join(' ')} there is none`, async () => {
    using setup = new Setup({ uname })
    setup.publish(NAME)

    const { exitCode, stderr } = await setup.run()

    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('hookline: There is no Hookline for ')
  })
}

test('a script that came only in part does nothing', async () => {
  using setup = new Setup(LINUX)
  setup.publish(NAME)
  const whole = readFileSync(`${ROOT}/scripts/install`, 'utf8')
  const part = whole.slice(0, whole.indexOf('  if [ "${HOOKLINE_NO_UP'))

  const run = Bun.spawnSync(['/bin/sh'], {
    stdin: Buffer.from(part),
    env: { HOME: setup.home, PATH: '/usr/bin:/bin' },
  })

  expect(run.exitCode).not.toBe(0)
  expect(setup.left()).toEqual([])
})

const CLONED: readonly (readonly [System, string])[] = [
  [{ uname: ['Darwin', 'arm64'] }, ''],
  [{ uname: ['Darwin', 'x86_64'] }, 'codesign --force --sign - hookline-darwin-x64\n'],
  [{ uname: ['Linux', 'x86_64'] }, ''],
]

test.each(CLONED)(
  'in a clone on %j the installer builds what it installs',
  async (system, signed) => {
    using setup = new Setup(system)
    const installer = setup.makeClone()

    const { exitCode, stdout, stderr } = await setup.run(
      { HOOKLINE_RELEASES: '' },
      installer,
      'file',
    )

    expect([exitCode, stderr, setup.noted('called')]).toEqual([0, '', 'help --man\nup\n'])
    expect(stdout).toContain(`Installed ${setup.program}\n`)
    const [first, build, ...more] = (setup.noted('tools') ?? '').split(/(?<=\n)/)
    expect([first, build?.replace(/^.*(?=\/a clone)/, '').replace(/ \S+\n$/, '')]).toEqual([
      'setup\n',
      '/a clone scripts/build.ts --to',
    ])
    const signing = more.filter((line) => line.startsWith('codesign'))
    expect(signing.join('').replaceAll(/\S*\/(?=hookline)/g, '')).toBe(signed)
    expect(setup.left()).toEqual(['hookline'])
  },
)

test('in a clone, who wants no service gets none, and a build that fails installs nothing', async () => {
  using setup = new Setup(LINUX)
  const environment = { HOOKLINE_RELEASES: '', HOOKLINE_NO_UP: '1' }

  const failed = await setup.run(environment, setup.makeClone({ canBuild: false }), 'file')
  const left = setup.left()
  const built = await setup.run(environment, setup.makeClone(), 'file')

  expect([failed.exitCode, failed.stderr, left]).toEqual([
    1,
    'no room\nhookline: It cannot be built; see above. Nothing is installed.\n',
    [],
  ])
  expect([built.exitCode, setup.noted('called')]).toEqual([0, 'help --man\n'])
})

test('an installer of no release that stands in no clone says what to do', async () => {
  using setup = new Setup(LINUX)
  const installer = setup.makeClone()
  rmSync(installer.replace(/install$/, 'build.ts'))

  for (const as of ['pipe', 'file'] as const) {
    const { exitCode, stderr } = await setup.run({ HOOKLINE_RELEASES: '' }, installer, as)

    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('hookline: This installer belongs to no published release: run ')
    expect(stderr).toContain('./scripts/install in a clone')
    expect(stderr).toContain('HOOKLINE_RELEASES')
  }
  expect([setup.noted('tools'), setup.left()]).toEqual([null, []])
})
