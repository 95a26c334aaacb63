import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

import { BROKER_NAME, keepCertificates } from '../../src/boxes/certificates.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const DAY_MS = 86_400_000

function start(clock = new TestClock()) {
  const folder = new ScratchFolder()
  const keep = () => keepCertificates(folder.path, { clock, random: systemRandom })
  const read = (name: string) => readFileSync(folder.file(name), 'utf8')
  return { folder, clock, keep, read, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

test('the authority is made once, and signs a certificate for one fixed name', () => {
  using rig = start()

  const [first, again] = [rig.keep(), rig.keep()]

  const [ca, server] = [rig.read('ca.pem'), rig.read('server.pem')].map(
    (pem) => new X509Certificate(pem),
  )
  expect([first.isNew, again.isNew]).toEqual([true, false])
  expect(ca?.verify(ca.publicKey)).toBe(true)
  expect(ca?.ca).toBe(true)
  expect(ca !== undefined && server?.verify(ca.publicKey)).toBe(true)
  expect(server?.ca).toBe(false)
  expect(server?.checkHost(BROKER_NAME)).toBe(BROKER_NAME)
  expect(server?.checkHost('localhost')).toBe(undefined)
  expect(ca?.raw.length).toBeLessThan(370)
  const modes = ['ca.key', 'server.key', 'ca.pem'].map(
    (name) => statSync(rig.folder.file(name)).mode & 0o777,
  )
  expect(modes).toEqual([0o600, 0o600, 0o600])
})

test('the server’s certificate is made again half a year before it ends, the authority never', async () => {
  using rig = start()
  rig.keep()
  const [ca, server] = [rig.read('ca.pem'), rig.read('server.pem')]

  await rig.clock.advance(540 * DAY_MS)
  const early = rig.keep().isNew
  await rig.clock.advance(20 * DAY_MS)
  const due = rig.keep().isNew

  expect([early, due]).toEqual([false, true])
  expect(rig.read('ca.pem')).toBe(ca)
  expect(rig.read('server.pem')).not.toBe(server)
})

test('a key that is lost or of another certificate is replaced with its certificate', () => {
  using rig = start()
  rig.keep()

  writeFileSync(rig.folder.file('server.key'), rig.read('ca.key'))
  const mixed = rig.keep().isNew
  rmSync(rig.folder.file('server.key'))
  const lost = rig.keep().isNew
  writeFileSync(rig.folder.file('server.pem'), '')
  const empty = rig.keep().isNew

  expect([mixed, lost, empty, rig.keep().isNew]).toEqual([true, true, true, false])
})

test('dates from 2050 on have their own form, and another reader than ours accepts all of it', () => {
  using rig = start(new TestClock(Date.UTC(2049, 6, 1)))
  rig.keep()
  const verify = [
    'openssl',
    'verify',
    '-x509_strict',
    '-attime',
    String(Date.UTC(2049, 7, 1) / 1_000),
  ]

  const { exitCode } = Bun.spawnSync([
    ...verify,
    '-CAfile',
    rig.folder.file('ca.pem'),
    rig.folder.file('server.pem'),
  ])

  expect(exitCode).toBe(0)
  expect(new X509Certificate(rig.read('ca.pem')).validToDate.getUTCFullYear()).toBe(2069)
})
