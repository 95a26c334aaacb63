// Executables of versions that do not exist yet: the sources of this one with a migration more. They are
// compiled once for each state of the sources, and stay in .tools for whichever test needs them next.

import { createPrivateKey } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'

import { minisignPublicKey } from '../../scripts/sign-release.ts'
import { MIGRATIONS, USABLE_FROM } from '../../src/storage/migrations.ts'
import { HeldElsewhereError, takeInstanceLock } from '../../src/system/instance-lock.ts'
import { eventually } from './eventually.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { ROOT } from './source-files.ts'

/** `9.9.9`, and one that is older than it and newer than this checkout. */
export type NextVersion = '9.9.8' | '9.9.9'

/** A place in the sources, and what stands there instead. */
type Patch = readonly [file: string, from: string, to: string]

/** The secret half of the key that these versions trust. */
export const RELEASE_KEY = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'07'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
})

/** With a file of this name among the data, a startup check finds every database wanting. */
export const NEVER_HEALTHY = 'never-healthy'
/** With this one, the box of 9.9.9 does not start. */
export const NO_BOX = 'no-box'

const KEPT = resolve(ROOT, '.tools/next-version')
const COPIED = ['src', 'migrations', 'scripts', 'package.json', 'tsconfig.json', 'LICENSE']
const STAND_IN = resolve(ROOT, 'test/support/stand-in-systemd.ts')
const SYSTEM_TOOLS = ['systemctl', 'systemd-run', 'loginctl']
const ADDS = 'CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL) STRICT;'
const COMPILE_MS_MAX = 300_000

let state = ''

/** The path of the version, which is for every test: what a test changes is a copy. */
export async function nextVersion(version: NextVersion = '9.9.9'): Promise<string> {
  state ||= stateOfSources()
  const folder = join(KEPT, state)
  const built = join(folder, version, 'hookline')
  if (existsSync(built)) return built
  mkdirSync(folder, { recursive: true })
  const lock = await eventually(
    'no other process compiles',
    () => lockOrNull(join(folder, 'lock')),
    COMPILE_MS_MAX,
  )
  try {
    if (!existsSync(built)) await compile(version, folder)
  } finally {
    lock.release()
  }
  return built
}

function stateOfSources(): string {
  const hash = new Bun.CryptoHasher('sha256').update(`${Bun.version} ${KEPT}`)
  const own = 'test/support/next-version.ts'
  for (const pattern of ['{src,migrations}/**/*', 'scripts/build.ts', 'bun.lock', own]) {
    for (const path of [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })].sort()) {
      hash.update(path).update(readFileSync(join(ROOT, path)))
    }
  }
  return hash.digest('hex').slice(0, 16)
}

function lockOrNull(path: string) {
  try {
    return takeInstanceLock(path, { since: 0, task: 'test', address: null })
  } catch (error) {
    if (error instanceof HeldElsewhereError) return null
    throw error
  }
}

async function compile(version: NextVersion, folder: string): Promise<void> {
  for (const name of readdirSync(KEPT)) {
    if (name !== state) rmSync(join(KEPT, name), { recursive: true })
  }
  for (const name of SYSTEM_TOOLS) {
    const script = `#!/bin/sh\nexec ${process.execPath} ${STAND_IN} "$0" "$@"\n`
    writeFileSync(join(folder, name), script)
    chmodSync(join(folder, name), 0o755)
  }
  using sources = new ScratchFolder()
  for (const name of COPIED) cpSync(join(ROOT, name), sources.file(name), { recursive: true })
  symlinkSync(resolve(ROOT, 'node_modules'), sources.file('node_modules'))
  writeFileSync(sources.file('migrations/9999_adds.sql'), ADDS)
  writeFileSync(sources.file('.release-key.pub'), minisignPublicKey(RELEASE_KEY))
  for (const [file, from, to] of patchesOf(version, folder)) replaceIn(sources.file(file), from, to)
  const making = join(folder, 'making')
  const command = [process.execPath, 'scripts/build.ts', '--to', making]
  const build = Bun.spawn(command, { cwd: sources.path, stdout: 'ignore', stderr: 'pipe' })
  const errors = await new Response(build.stderr).text()
  if ((await build.exited) !== 0) throw new Error(`The build failed:\n${errors}`)
  renameSync(making, join(folder, version))
}

/** Versions that leave a database which no older one can use, whose systemd is the stand-in. */
function patchesOf(version: NextVersion, tools: string): readonly Patch[] {
  const { version: before } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const usableFrom = MIGRATIONS.length + 1
  const check = 'src/hosting/startup-check.ts'
  const awaiting = 'this.#state = await this.#awaitUpgrade(signal)'
  const isWanting = `!signal.aborted && existsSync(join(this.#data.directory.path, '${NEVER_HEALTHY}'))`
  const box = 'const file = readBoxFile(directory.boxFile)'
  const isBroken = `existsSync(directory.path + '/${NO_BOX}')`
  return [
    ['package.json', `"version": "${before}"`, `"version": "${version}"`],
    ['src/storage/migrations.ts', `USABLE_FROM = ${USABLE_FROM}`, `USABLE_FROM = ${usableFrom}`],
    ...SYSTEM_TOOLS.map((name): Patch => {
      return ['src/hosting/systemd.ts', `/usr/bin/${name}'`, `${join(tools, name)}'`]
    }),
    ['src/cli/upgrade.ts', 'BOX_READY_MS = 120_000', 'BOX_READY_MS = 20_000'],
    [
      check,
      awaiting,
      `if (${isWanting}) throw new UnusableDatabaseError('It is not to its taste.'); ${awaiting}`,
    ],
    ...(version === '9.9.9'
      ? [
          [
            'src/cli/box.ts',
            box,
            `if (${isBroken}) throw new Error('It is broken.'); ${box}`,
          ] as const,
        ]
      : []),
  ]
}

function replaceIn(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} does not say: ${from}`)
  writeFileSync(path, text.replace(from, to))
}
