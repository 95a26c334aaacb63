// `scripts/install` as a user runs it, against a folder instead of the releases, with a home of its own
// and stand-ins for the tools that tell and sign.

import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

type System = {
  readonly uname: readonly [system: string, processor: string]
  readonly libc?: string
}

class Setup implements Disposable {
  readonly folder = new ScratchFolder()
  readonly home = this.folder.file('home')
  readonly program = `${this.home}/.local/bin/hookline`
  readonly #releases = this.folder.file('releases')
  readonly #tools = this.folder.file('tools')

  constructor({ uname: [system, processor], libc = 'ldd (GNU libc) 2.36' }: System) {
    for (const path of [this.home, this.#releases, this.#tools]) mkdirSync(path)
    this.#tool('uname', `case $1 in -s) echo ${system} ;; *) echo ${processor} ;; esac`)
    this.#tool('ldd', `echo '${libc}' >&2; exit 1`)
    this.#tool('sysctl', 'exit 1')
    for (const name of ['codesign', 'xattr']) this.#tool(name, `echo "${name} $*" >>"$HOME/tools"`)
  }

  /** Publishes an executable that notes what it is called with and ends with `exitCode`. */
  publish(name: string, { version = 'one', exitCode = 0, sum = '' } = {}): void {
    const text = `#!/bin/sh\n# ${version}\necho "$*" >>"$HOME/called"\nexit ${exitCode}\n`
    writeFileSync(`${this.#releases}/${name}`, text)
    const hash = sum === '' ? new Bun.CryptoHasher('sha256').update(text).digest('hex') : sum
    writeFileSync(
      `${this.#releases}/SHA256SUMS`,
      `${'0'.repeat(64)}  hookline-other\n${hash}  ${name}\n`,
    )
  }

  translated(): void {
    this.#tool('sysctl', 'echo 1')
  }

  async run(environment: Readonly<Record<string, string>> = {}) {
    const child = Bun.spawn(['/bin/sh'], {
      // As `curl ... | sh` has it.
      stdin: Bun.file(`${ROOT}/scripts/install`),
      stdout: 'pipe',
      stderr: 'pipe',
      env: {
        HOME: this.home,
        PATH: `${this.#tools}:/usr/bin:/bin`,
        TMPDIR: this.folder.path,
        HOOKLINE_RELEASES: `file://${this.#releases}`,
        ...environment,
      },
    })
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { exitCode, stdout, stderr }
  }

  /** What a stand-in or the installed executable noted; null for nothing. */
  noted(name: 'called' | 'tools'): string | null {
    const path = `${this.home}/${name}`
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  /** What there is that was not there before. */
  left(): readonly string[] {
    const own = readdirSync(this.folder.path).filter((name) => name.startsWith('tmp'))
    const bin = `${this.home}/.local/bin`
    return [...own, ...(existsSync(bin) ? readdirSync(bin) : [])]
  }

  #tool(name: string, script: string): void {
    writeFileSync(`${this.#tools}/${name}`, `#!/bin/sh\n${script}\n`)
    chmodSync(`${this.#tools}/${name}`, 0o755)
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

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

    expect([exitCode, stderr, setup.noted('called')]).toEqual([0, '', 'up\n'])
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

test('what differs from its published checksum is not installed', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64', { sum: 'f'.repeat(64) })

  const { exitCode, stderr } = await setup.run()

  expect([exitCode, stderr]).toEqual([
    1,
    'hookline: hookline-linux-x64 is not what was published: its SHA-256 differs. ' +
      'Nothing is installed.\n',
  ])
  expect([setup.left(), setup.noted('called')]).toEqual([[], null])
})

test('what has no published checksum is not installed', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64')
  setup.publish('hookline-linux-arm64')

  const { exitCode, stderr } = await setup.run()

  expect(exitCode).toBe(1)
  expect(stderr).toContain('SHA256SUMS says nothing of hookline-linux-x64.')
  expect(setup.left()).toEqual([])
})

test('a release that cannot be had leaves what was there', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64')
  await setup.run({ HOOKLINE_NO_UP: '1' })
  const before = readFileSync(setup.program, 'utf8')

  const { exitCode, stderr } = await setup.run({ HOOKLINE_RELEASES: 'file:///nowhere' })

  expect(exitCode).toBe(1)
  expect(stderr).toContain('Cannot get file:///nowhere/SHA256SUMS')
  expect([readFileSync(setup.program, 'utf8'), setup.left()]).toEqual([before, ['hookline']])
})

test('nothing is taken over plain http', async () => {
  using setup = new Setup(LINUX)

  const { exitCode, stderr } = await setup.run({ HOOKLINE_RELEASES: 'http://127.0.0.1:9' })

  expect(exitCode).toBe(1)
  expect(stderr).toContain('not supported')
})

test('a second run puts the newer version in the place of the older', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64')
  await setup.run()
  setup.publish('hookline-linux-x64', { version: 'two' })

  await setup.run()

  expect(readFileSync(setup.program, 'utf8')).toContain('# two')
  expect([setup.noted('called'), setup.left()]).toEqual(['up\nup\n', ['hookline']])
})

test('who wants no service gets none', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64')

  const { stdout } = await setup.run({ HOOKLINE_NO_UP: '1' })

  expect(setup.noted('called')).toBeNull()
  expect(stdout).toContain('Start it as a service: hookline up')
})

test('a folder that is not on the PATH is told, one that is, is not', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64')
  const bin = `${setup.home}/.local/bin`

  const without = await setup.run()
  const path = `${setup.folder.file('tools')}:${bin}:/usr/bin:/bin`
  const within = await setup.run({ PATH: path })

  expect(without.stdout).toContain(`${bin} is not on your PATH.`)
  expect(within.stdout).toBe(`Getting hookline-linux-x64 ...\nInstalled ${bin}/hookline\n`)
})

test('an executable that does not run as a service stays installed, and that is told', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64', { exitCode: 1 })

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

    const { exitCode, stderr } = await setup.run()

    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('hookline: There is no Hookline for ')
  })
}

test('a script that came only in part does nothing', async () => {
  using setup = new Setup(LINUX)
  setup.publish('hookline-linux-x64')
  const whole = readFileSync(`${ROOT}/scripts/install`, 'utf8')
  const part = whole.slice(0, whole.indexOf('  if [ "${HOOKLINE_NO_UP'))

  const run = Bun.spawnSync(['/bin/sh'], {
    stdin: Buffer.from(part),
    env: { HOME: setup.home, PATH: '/usr/bin:/bin' },
  })

  expect(run.exitCode).not.toBe(0)
  expect(setup.left()).toEqual([])
})
