// Upgrades of the real executable to versions that are compiled for the test: what waits for the startup
// check, who ends it, and that no message is lost or sent twice. The single steps are in test/hosting.

import { expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { minisign, signRelease } from '../../scripts/sign-release.ts'
import { watchStartup } from '../../src/hosting/startup-check.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { eventually } from '../support/eventually.ts'
import { placeExecutable } from '../support/executable.ts'
import { NEVER_HEALTHY, RELEASE_KEY, nextVersion } from '../support/next-version.ts'
import { serveReleases } from '../support/release-server.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { UpgradeMachine } from './upgrade-machine.ts'
import { carriedTexts, schemaOf } from './upgraded-relay.ts'

const REPOSITORY = 'https://releases.example/ann/hookline'
const OLD_SCHEMA = MIGRATIONS.length
const NEXT_SCHEMA = OLD_SCHEMA + 1

/** Compiling the next versions, where no test has done it, takes part of it. */
const TEST_MS = 600_000

test(
  'a service is upgraded: the message that waited leaves once, by the new version',
  async () => {
    const { machine, key } = await UpgradeMachine.createRunning()
    await using _machine = machine

    const told = await machine.upgrade(await nextVersion())
    const api = machine.relay?.client(key)
    const about = await machine.relay?.control.ask('getVersion')
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
  },
  TEST_MS,
)

test(
  'a version that finds the database wanting is taken back: the message leaves once, by the old one',
  async () => {
    const { machine } = await UpgradeMachine.createRunning()
    await using _machine = machine
    writeFileSync(join(machine.dataDir, NEVER_HEALTHY), '')

    const told = await machine.upgrade(await nextVersion())
    await machine.relay?.until('/readyz', '200')
    await eventually('the message is carried', () =>
      carriedTexts(machine.dataDir).length > 0 ? true : null,
    )
    await machine.stop()

    expect(told).toMatchObject({ exitCode: 1, json: { outcome: 'rolled_back', trouble: null } })
    expect(told.problems).toContain('it is in safe mode: It is not to its taste.')
    expect(schemaOf(machine.dataDir)).toBe(OLD_SCHEMA)
    expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
  },
  TEST_MS,
)

test(
  'without a service the executable changes itself, once no relay runs, to what is signed with its key',
  async () => {
    const { machine } = await UpgradeMachine.createRunning()
    await using _machine = machine
    using downloads = new ScratchFolder()
    const next = downloads.file('hookline')
    placeExecutable(await nextVersion(), next)
    const sum = new Bun.CryptoHasher('sha256').update(await Bun.file(next).bytes()).digest('hex')
    writeFileSync(downloads.file('SHA256SUMS'), `${sum}  hookline\n`)
    signRelease(downloads.path, RELEASE_KEY, REPOSITORY)
    const upgradeTo = (from: string, ...more: readonly string[]) =>
      machine.run('upgrade', '--from', from, ...more)

    const early = await upgradeTo(next, '--unverified')
    await machine.stop()
    const keyless = await upgradeTo(next)
    const late = await upgradeTo(next, '--unverified', '--json')
    const now = await machine.run('version')
    const genuine = await upgradeTo(next)
    signRelease(downloads.path, generateKeyPairSync('ed25519').privateKey, REPOSITORY)
    const forged = await upgradeTo(next)
    const previous = `${machine.executable}.previous`
    const back = await upgradeTo(previous)
    const older = await upgradeTo(previous, '--unverified')

    expect(early).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Ctrl-C') })
    expect(keyless.stderr).toContain('has no release key')
    expect(late.exitCode).toBe(0)
    expect(JSON.parse(late.stdout)).toMatchObject({ outcome: 'upgraded', isRunning: false })
    expect(now.stdout).toBe('hookline 9.9.9\n')
    expect(genuine).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('9.9.9 is installed'),
    })
    expect(forged).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Hookline's release key"),
    })
    // The old one has no published sum.
    expect(back).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--unverified') })
    expect(older).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('This is a downgrade'),
    })
  },
  TEST_MS,
)

test(
  'without a file, it takes the newest release of the place that the owner set, once it is genuine',
  async () => {
    const { machine } = await UpgradeMachine.create()
    await using _machine = machine
    using releases = new ScratchFolder()
    machine.replace(await nextVersion('9.9.8'))
    const file = await nextVersion()
    const sum = new Bun.CryptoHasher('sha256').update(await Bun.file(file).bytes()).digest('hex')
    await using server = await serveReleases(releases)
    machine.environment = { NODE_EXTRA_CA_CERTS: releases.file('cert.pem') }
    const publish = (version: string, key = RELEASE_KEY) =>
      publishAs(releases, { version, key, file, sum })

    const unset = await machine.run('upgrade')
    await machine.run('config', 'set', 'release_source', `${server.url.href}latest`)
    publish('9.9.9', generateKeyPairSync('ed25519').privateKey)
    const forged = await machine.run('upgrade')
    publish('9.9.9')
    rmSync(releases.file(RELEASE_FILE))
    writeFileSync(releases.file(RELEASE_FILE), 'evil')
    const changed = await machine.run('upgrade')
    publish('9.9.7')
    const older = await machine.run('upgrade')
    publish('9.9.9')
    const upgraded = await machine.run('upgrade')
    const again = await machine.run('upgrade')
    await machine.run('config', 'set', 'release_source', releases.path)
    publish('10.0.0')
    const fromFolder = await machine.run('upgrade')

    expect(unset).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/release_source is empty\. .*\.\/scripts\/install/),
    })
    expect(forged).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not signed') })
    expect(changed).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is not the published file'),
    })
    expect(older).toMatchObject({ exitCode: 0, stdout: 'Hookline 9.9.8 is up to date.\n' })
    expect(upgraded).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Hookline 9.9.9 is installed.'),
    })
    expect(again).toMatchObject({ exitCode: 0, stdout: 'Hookline 9.9.9 is up to date.\n' })
    expect(fromFolder.exitCode).toBe(0)
    expect(existsSync(join(machine.dataDir, 'download'))).toBe(false)
  },
  TEST_MS,
)

test(
  'where the service is installed but a relay runs in the foreground, nothing is stopped',
  async () => {
    const { machine } = await UpgradeMachine.create()
    await using _machine = machine
    const byHand = machine.start({ isService: false })
    await byHand.until('/readyz', '200')

    const told = await machine.upgrade(await nextVersion())
    const ready = await byHand.look('/readyz')

    expect(told).toMatchObject({ exitCode: 1, json: null })
    expect(told.problems).toContain(`(process ${byHand.pid})`)
    expect(ready?.slice(0, 3)).toBe('200')
  },
  TEST_MS,
)

test(
  'until its startup check has ended it stands still, over a stop and a kill: 401 first, then 503, and nothing is sent',
  async () => {
    const { machine, key } = await UpgradeMachine.create()
    await using _machine = machine
    const watch = watchStartup(dataDirectoryAt(machine.dataDir), 0)
    const executable = await nextVersion()
    const start = async () => {
      const relay = machine.start({ executable })
      await relay.until('/readyz', '200')
      return relay
    }

    const first = await start()
    const stopped = await machine.stop()
    await (await start()).end('SIGKILL')
    const relay = await start()
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
    // Its own check lets it serve.
    watch.release()
    await relay.until('/swagger', '200')
    await eventually('the message is carried', () =>
      carriedTexts(machine.dataDir).length > 0 ? true : null,
    )
    const after = await relay.look('/api/v1/messages', headers)

    expect(stopped).toBe(0)
    expect(await first.log()).not.toContain('"level":"error"')
    expect(looks).toEqual(['200', '200', '503', '503', '401', '401', '401'])
    expect(known).toContain('503 {"error":{"code":"starting"')
    expect([send.status, send.headers.get('retry-after')]).toEqual([503, '5'])
    expect(before).toEqual([])
    expect(after?.slice(0, 3)).toBe('200')
    expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
  },
  TEST_MS,
)

test(
  'started by hand, a database that is migrated is served from at once',
  async () => {
    const { machine } = await UpgradeMachine.create()
    await using _machine = machine
    const watch = watchStartup(dataDirectoryAt(machine.dataDir), 0)
    const executable = await nextVersion()

    const relay = machine.start({ executable, isService: false })
    await relay.until('/swagger', '200')
    await machine.stop()
    const again = machine.start({ executable })
    await again.until('/swagger', '200')
    watch.release()

    expect(schemaOf(machine.dataDir)).toBe(NEXT_SCHEMA)
  },
  TEST_MS,
)

/** Name of the executable for this machine. */
const RELEASE_FILE = `hookline-${process.platform}-${process.arch}`

type Published = {
  readonly version: string
  readonly key: KeyObject
  readonly file: string
  readonly sum: string
}

/** Publishes `file`, whose sum is known, in the folder, signed with `key`, as the release `version`. */
function publishAs(folder: ScratchFolder, { version, key, file, sum }: Published): void {
  rmSync(folder.file(RELEASE_FILE), { force: true })
  placeExecutable(file, folder.file(RELEASE_FILE))
  const sums = `${sum}  ${RELEASE_FILE}\n`
  writeFileSync(folder.file('SHA256SUMS'), sums)
  const signature = minisign(key, Buffer.from(sums), `hookline ${version}`)
  writeFileSync(folder.file('SHA256SUMS.minisig'), signature)
}
