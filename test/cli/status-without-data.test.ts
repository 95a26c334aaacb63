// A service that waits for its database has no control socket: it answers at its port only.

import { expect, test } from 'bun:test'

import { createSafeMode } from '../../src/http/safe-mode.ts'
import { systemRandom } from '../../src/system/random.ts'
import { HostingRig } from './hosting-rig.ts'

const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
const OPTIONS = { hosts: { publicUrl: null, isTrustedProxy: () => false }, random: systemRandom }

/** A relay of this folder that waits at a port, as `serve` makes it. */
function waitingFor(folder: string, reason = `${folder}/hookline.db is not there`) {
  const http = createSafeMode({ reason, nextStep: 'Mount the disk.', code: 'starting' }, OPTIONS)
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => http.fetch(request, PEER),
  })
}

test('status says that a relay without its database is in safe mode, and why', async () => {
  using rig = new HostingRig()
  await using relay = waitingFor(rig.dataDir)

  const status = await rig.run('status', { HOOKLINE_PORT: String(relay.port) })

  expect([status.exitCode, status.lines[0]]).toEqual([78, 'relay    safe mode'])
  expect(status.problems).toEqual([`${rig.dataDir}/hookline.db is not there. Mount the disk.`])
  expect(status.json).toMatchObject([
    { running: true, phase: 'safe_mode', address: `http://127.0.0.1:${relay.port}` },
  ])
})

test('a relay of another folder at the same port is not this one', async () => {
  using rig = new HostingRig()
  await using relay = waitingFor('/srv/another')

  const status = await rig.run('status', { HOOKLINE_PORT: String(relay.port) })

  expect([status.exitCode, status.lines[0]]).toEqual([3, 'relay    not running'])
})
