// Upgrades of the real executable to versions that are compiled for the test: what waits for the startup
// check, who ends it, and that no message is lost or sent twice. The single steps are in test/hosting.

import { afterAll, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { minisign, signRelease } from '../../scripts/sign-release.ts'
import { watchStartup } from '../../src/hosting/startup-check.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { RELEASE_KEY, builtOnce, type Patch } from '../support/next-version.ts'
import { eventually } from '../support/relay-process.ts'
import { serveReleases } from '../support/release-server.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { UpgradeMachine } from './upgrade-machine.ts'
import { carriedTexts, schemaOf } from './upgraded-relay.ts'

const OLD_SCHEMA = MIGRATIONS.length
const NEXT_SCHEMA = OLD_SCHEMA + 1

/** Finds every database wanting. */
const NEVER_HEALTHY: Patch = [
  'src/hosting/startup-check.ts',
  'this.#state = await this.#awaitUpgrade(signal)',
  "if (signal.aborted) return false; throw new UnusableDatabaseError('It is not to its taste.')",
]

const builds = new ScratchFolder()
afterAll(() => builds[Symbol.dispose]())

const nextVersion = () => builtOnce(builds, '9.9.9')
const harshVersion = () => builtOnce(builds, '6.6.6', [NEVER_HEALTHY])

test('a service is upgraded: the message that waited leaves once, by the new version', async () => {
  const { machine, key } = await UpgradeMachine.create('wait for it')
  await using _machine = machine

  const told = await machine.upgrade(nextVersion())
  const api = machine.relay?.client(key)
  const about = await machine.relay?.control.ask('GET /about')
  await eventually('the message is read', async () => {
    const page = await api?.ask<{ data: { status: string }[] }>('GET', '/api/v1/messages')
    return page?.data[0]?.status === 'read' ? true : null
  })
  await machine.stop()

  expect(told).toMatchObject({ exitCode: 0, json: { outcome: 'upgraded', to: '9.9.9' } })
  expect(about).toEqual({ version: '9.9.9', is_claimed: false })
  expect(schemaOf(machine.dataDir)).toBe(NEXT_SCHEMA)
  expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
  expect(readdirSync(join(machine.executable, '..')).sort()).toEqual([
    'hookline',
    'hookline.previous',
  ])
}, 180_000)

test('a version that finds the database wanting is taken back: the message leaves once, by the old one', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine

  const told = await machine.upgrade(harshVersion())
  await machine.relay?.until('/readyz', '200')
  await eventually('the message is carried', () =>
    carriedTexts(machine.dataDir).length > 0 ? true : null,
  )
  await machine.stop()

  expect(told).toMatchObject({ exitCode: 1, json: { outcome: 'rolled_back', trouble: null } })
  expect(told.problems).toContain('it is in safe mode: It is not to its taste.')
  expect(schemaOf(machine.dataDir)).toBe(OLD_SCHEMA)
  expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
}, 180_000)

test('without a service the executable changes itself, once no relay runs, and keeps the one before', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  const upgradeTo = (from: string, ...more: readonly string[]) =>
    machine.run('upgrade', '--from', from, '--json', ...more)

  const early = await upgradeTo(nextVersion(), '--unverified')
  await machine.stop()
  const late = await upgradeTo(nextVersion(), '--unverified')
  const now = await machine.run('version')
  const previous = `${machine.executable}.previous`
  const back = await upgradeTo(previous)
  const older = await machine.run('upgrade', '--from', previous, '--unverified')

  expect(early).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Ctrl-C') })
  expect(late.exitCode).toBe(0)
  expect(JSON.parse(late.stdout)).toMatchObject({ outcome: 'upgraded', isRunning: false })
  expect(now.stdout).toBe('hookline 9.9.9\n')
  // The old one has no published sum.
  expect(back).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--unverified') })
  expect(older).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('This is a downgrade'),
  })
}, 180_000)

test('a version with a release key takes what was signed with it, and nothing that was not', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const next = nextVersion()
  const sum = new Bun.CryptoHasher('sha256').update(await Bun.file(next).bytes()).digest('hex')
  await Bun.write(join(next, '../SHA256SUMS'), `${sum}  hookline\n`)
  signRelease(join(next, '..'), RELEASE_KEY)
  const upgradeTo = (...more: readonly string[]) => machine.run('upgrade', '--from', next, ...more)

  const without = await upgradeTo()
  await upgradeTo('--unverified')
  const genuine = await upgradeTo()
  signRelease(join(next, '..'), generateKeyPairSync('ed25519').privateKey)
  const forged = await upgradeTo()

  expect(without.stderr).toContain('has no release key')
  expect(genuine).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('9.9.9 is installed'),
  })
  expect(forged).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Hookline's release key"),
  })
}, 180_000)

test('without a file, it takes the newest release of the place that the owner set, once it is genuine', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  using releases = new ScratchFolder()
  await machine.stop()
  cpSync(harshVersion(), machine.executable)
  await using server = await serveReleases(releases)
  machine.environment = { NODE_EXTRA_CA_CERTS: releases.file('cert.pem') }
  const publish = (version: string, key = RELEASE_KEY) =>
    publishAs(releases, { version, key, file: nextVersion() })

  const unset = await machine.run('upgrade')
  await machine.run('config', 'set', 'release_source', `${server.url.href}latest`)
  await publish('9.9.9', generateKeyPairSync('ed25519').privateKey)
  const forged = await machine.run('upgrade')
  await publish('9.9.9')
  await Bun.write(releases.file(RELEASE_FILE), 'evil')
  const changed = await machine.run('upgrade')
  await publish('6.6.5')
  const older = await machine.run('upgrade')
  await publish('9.9.9')
  const upgraded = await machine.run('upgrade')
  const again = await machine.run('upgrade')
  await machine.run('config', 'set', 'release_source', releases.path)
  await publish('10.0.0')
  const fromFolder = await machine.run('upgrade')

  expect(unset).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('release_source') })
  expect(forged).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not signed') })
  expect(changed).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is not the published file'),
  })
  expect(older).toMatchObject({ exitCode: 0, stdout: 'Hookline 6.6.6 is up to date.\n' })
  expect(upgraded).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Hookline 9.9.9 is installed.'),
  })
  expect(again).toMatchObject({ exitCode: 0, stdout: 'Hookline 9.9.9 is up to date.\n' })
  expect(fromFolder.exitCode).toBe(0)
  expect(existsSync(join(machine.dataDir, 'download'))).toBe(false)
}, 180_000)

test('where the service is installed but a relay runs in the foreground, nothing is stopped', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const byHand = machine.start({ isService: false })
  await byHand.until('/readyz', '200')

  const told = await machine.upgrade(nextVersion())
  const ready = await byHand.look('/readyz')

  expect(told).toMatchObject({ exitCode: 1, json: null })
  expect(told.problems).toContain(`(process ${byHand.pid})`)
  expect(ready?.slice(0, 3)).toBe('200')
}, 180_000)

test('until its startup check has ended it stands still: 401 first, then 503, and nothing is sent', async () => {
  const { machine, key } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const watch = watchStartup(dataDirectoryAt(machine.dataDir), 0)

  const relay = machine.start({ executable: nextVersion() })
  await relay.until('/readyz', '200')
  const headers = { 'x-api-key': key.key, 'x-api-secret': key.secret }
  const looks = [
    await relay.look('/healthz'),
    await relay.look('/readyz'),
    await relay.look('/swagger'),
    await relay.look('/metrics'),
    await relay.look('/api/v1/messages'),
    await relay.look('/api/v1/nowhere'),
    await relay.look('/api/v1/judgement'),
  ].map((answer) => answer?.slice(0, 3))
  const known = await relay.look('/api/v1/messages', headers)
  const body = { to: '+12025550123', text: 'not now' }
  const send = await relay.client(key).request('POST', '/api/v1/messages/send', { body })
  const before = carriedTexts(machine.dataDir)
  const heard = await relay.control.ask('POST /judgement')
  await eventually('the message is carried', () =>
    carriedTexts(machine.dataDir).length > 0 ? true : null,
  )
  const after = await relay.look('/api/v1/messages', headers)
  watch.release()

  expect(looks).toEqual(['200', '200', '503', '503', '401', '401', '401'])
  expect(known).toContain('503 {"error":{"code":"starting"')
  expect([send.status, send.headers.get('retry-after')]).toEqual([503, '5'])
  expect(before).toEqual([])
  expect(heard).toEqual({ version: '9.9.9' })
  expect(after?.slice(0, 3)).toBe('200')
  expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
}, 180_000)

test('one that is killed before its startup check has ended stands still again, until its own check lets it serve', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const watch = watchStartup(dataDirectoryAt(machine.dataDir), 0)
  const first = machine.start({ executable: nextVersion() })
  await first.until('/readyz', '200')
  await first.end('SIGKILL')

  const second = machine.start({ executable: nextVersion() })
  await second.until('/readyz', '200')
  const still = await second.look('/swagger')
  watch.release()
  await second.until('/swagger', '200')
  await eventually('the message is carried', () =>
    carriedTexts(machine.dataDir).length > 0 ? true : null,
  )

  expect(still?.slice(0, 3)).toBe('503')
  expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
}, 180_000)

test('a stop ends what stands still, with 0', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const watch = watchStartup(dataDirectoryAt(machine.dataDir), 0)
  const relay = machine.start({ executable: nextVersion() })
  await relay.until('/readyz', '200')

  const exitCode = await machine.stop()
  watch.release()

  expect(exitCode).toBe(0)
  expect(await relay.log()).not.toContain('"level":"error"')
}, 180_000)

test('started by hand, a database that is migrated is served from at once', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const watch = watchStartup(dataDirectoryAt(machine.dataDir), 0)

  const relay = machine.start({ executable: nextVersion(), isService: false })
  await relay.until('/swagger', '200')
  await machine.stop()
  const again = machine.start({ executable: nextVersion() })
  await again.until('/swagger', '200')
  watch.release()

  expect(schemaOf(machine.dataDir)).toBe(NEXT_SCHEMA)
}, 180_000)

/** Name of the executable for this machine. */
const RELEASE_FILE = `hookline-${process.platform}-${process.arch}`

type Published = { readonly version: string; readonly key: KeyObject; readonly file: string }

/** Publishes `file` in the folder, signed with `key`, as the release `version`. */
async function publishAs(folder: ScratchFolder, { version, key, file }: Published): Promise<void> {
  cpSync(file, folder.file(RELEASE_FILE))
  const sum = new Bun.CryptoHasher('sha256').update(await Bun.file(file).bytes()).digest('hex')
  const sums = `${sum}  ${RELEASE_FILE}\n`
  await Bun.write(folder.file('SHA256SUMS'), sums)
  const signature = minisign(key, Buffer.from(sums), `hookline ${version}`)
  await Bun.write(folder.file('SHA256SUMS.minisig'), signature)
}
