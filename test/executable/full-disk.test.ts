// A data directory on a disk that is really full, to the last byte, or nearly. Needs root on Linux.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { nextVersion } from '../support/next-version.ts'
import { canMountDisk, SmallDisk } from '../support/small-disk.ts'
import { UpgradeMachine } from './upgrade-machine.ts'
import { carriedTexts } from './upgraded-relay.ts'

const MIB = 1024 ** 2
const SEND = { body: { to: '+12025550123', text: 'hello' } }

const canMount = canMountDisk()
const TEST_MS = 600_000
/** For what a relay notices by itself, on a machine that does other things too. */
const NOTICED_MS_MAX = 60_000

/** A test that passes, with a word, where no disk can be mounted. */
function testOnDisk(name: string, run: () => Promise<void>): void {
  const told = canMount ? name : `not tested here, for no disk can be mounted: ${name}`
  test(told, async () => (canMount ? run() : undefined), TEST_MS)
}

/** A stopped relay whose data lie on a disk of their own. */
async function machineOnDisk() {
  const { machine, key } = await UpgradeMachine.create()
  return { machine, key, disk: new SmallDisk(machine.dataDir) }
}

testOnDisk(
  'a relay whose disk fills up refuses sends, is still ready, and goes on by itself',
  async () => {
    const { machine, key, disk } = await machineOnDisk()
    await using _machine = machine
    using _disk = disk
    const relay = machine.start()
    await relay.until('/swagger', '200')
    const send = () => relay.client(key).request('POST', '/api/v1/messages/send', SEND)

    disk.leave(0)
    const refused = await eventually('a send is refused', async () => {
      const answer = await send()
      return answer.status === 503 ? answer : null
    })
    const ready = await relay.look('/readyz')
    const backup = await machine.run('backup')
    disk.clear()
    const accepted = await eventually(
      'a send is accepted',
      async () => ((await send()).status < 300 ? true : null),
      NOTICED_MS_MAX,
    )

    expect(refused.body).toMatchObject({ error: { code: 'storage_full' } })
    expect(ready).toBe('200 {"status":"ready","storage_full":true}')
    expect(backup.exitCode).toBe(1)
    expect(backup.stderr).toContain(`The disk of ${machine.dataDir}`)
    expect(backup.stderr).toContain('is full. Delete what is not needed there')
    expect(accepted).toBe(true)
  },
)

testOnDisk(
  'on a full disk a start names the folder and what to do; a service answers so, and serves as soon as there is room',
  async () => {
    const { machine, key, disk } = await machineOnDisk()
    await using _machine = machine
    using _disk = disk
    disk.leave(0)

    const started = machine.start({ isService: false })
    const exitCode = await started.exited()
    const [line = ''] = (await started.log()).split('\n')
    const relay = machine.start()
    await relay.until('/healthz', '200 {"status":"safe_mode"')
    const refused = await relay.client(key).request('POST', '/api/v1/messages/send', SEND)
    disk.clear()
    await relay.until('/swagger', '200')
    await whatWaitedLeaves(machine)

    expect(exitCode).toBe(1)
    expect(JSON.parse(line)).toMatchObject({ level: 'error', message: 'the relay ends' })
    expect(line).toContain(`The disk of ${machine.dataDir} is full`)
    expect(line).toContain('Delete what is not needed on that disk')
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({
      error: { code: 'storage_full', message: expect.stringContaining(machine.dataDir) },
    })
    expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
  },
)

testOnDisk('a service is upgraded on a disk that is nearly full', async () => {
  const { machine, disk } = await machineOnDisk()
  await using _machine = machine
  using _disk = disk
  disk.leave(32 * MIB)
  await machine.start().until('/readyz', '200 {"status":"ready","storage_full":true}')

  const told = await machine.upgrade(await nextVersion())
  const ready = await machine.relay?.look('/readyz')
  disk.clear()
  await whatWaitedLeaves(machine)

  expect(told).toMatchObject({ exitCode: 0, json: { outcome: 'upgraded', to: '9.9.9' } })
  expect(ready).toBe('200 {"status":"ready","storage_full":true}')
  expect(carriedTexts(machine.dataDir)).toEqual(['wait for it'])
})

function whatWaitedLeaves({ dataDir }: UpgradeMachine): Promise<true> {
  const hasLeft = () => (carriedTexts(dataDir).length > 0 ? true : null)
  return eventually('what waited leaves', hasLeft, NOTICED_MS_MAX)
}
