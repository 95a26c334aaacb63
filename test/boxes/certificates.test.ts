import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

import { BROKER_NAME, keepCertificates } from '../../src/boxes/certificates.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const DAY_MS = 86_400_000

function start(clock = new TestClock()) {
  const folder = new ScratchFolder()
  const keep = () => keepCertificates(dataDirectoryAt(folder.path), { clock, random: systemRandom })
  return { folder, clock, keep, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

test('the authority is made once, and signs a certificate for one fixed name', () => {
  using rig = start()

  const [first, again] = [rig.keep(), rig.keep()]

  const ca = new X509Certificate(first.ca)
  const server = new X509Certificate(readFileSync(first.serverFile))
  const modes = ['broker-ca.pem', 'broker/server.pem'].map(
    (name) => statSync(rig.folder.file(name)).mode & 0o777,
  )
  expect(again).toEqual(first)
  expect([ca.ca, ca.verify(ca.publicKey)]).toEqual([true, true])
  expect([server.ca, server.verify(ca.publicKey)]).toEqual([false, true])
  expect(server.checkHost(BROKER_NAME)).toBe(BROKER_NAME)
  expect(server.checkHost('localhost')).toBe(undefined)
  expect(first.ca).not.toContain('PRIVATE')
  expect(modes).toEqual([0o600, 0o600])
})

test('the server’s certificate is made again half a year before it ends, the authority never', async () => {
  using rig = start()
  const first = rig.keep()

  await rig.clock.advance(540 * DAY_MS)
  const early = rig.keep()
  await rig.clock.advance(20 * DAY_MS)
  const due = rig.keep()

  expect(early).toEqual(first)
  expect(due.ca).toBe(first.ca)
  expect(due.serial).not.toBe(first.serial)
})

test('a server’s certificate that is lost, damaged or of another authority is made again', () => {
  using rig = start()
  using other = start()
  const serials = [rig.keep().serial]
  const file = rig.folder.file('broker/server.pem')

  writeFileSync(file, readFileSync(other.keep().serverFile))
  serials.push(rig.keep().serial)
  writeFileSync(file, 'damaged')
  serials.push(rig.keep().serial)
  rmSync(file)
  serials.push(rig.keep().serial)

  expect(new Set([...serials, other.keep().serial]).size).toBe(5)
})

test('dates from 2050 on have their own form, and another reader than ours accepts all of it', () => {
  using rig = start(new TestClock(Date.UTC(2049, 6, 1)))
  const { ca, serverFile } = rig.keep()
  const at = String(Date.UTC(2049, 7, 1) / 1_000)
  const files = [rig.folder.file('broker-ca.pem'), serverFile]

  const command = ['openssl', 'verify', '-x509_strict', '-attime', at, '-CAfile', ...files]
  const { exitCode } = Bun.spawnSync(command)

  expect(exitCode).toBe(0)
  expect(new X509Certificate(ca).validToDate.getUTCFullYear()).toBe(2069)
})
