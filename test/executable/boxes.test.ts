// A head and a box as their owner has them: two processes of the executable, the real nats-server between
// them, from `boxes add` to the removal.

import { expect } from 'bun:test'

import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { freePort } from '../support/nats.ts'
import { testNeeding } from '../support/needs.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

const PERSON = '+12025550147'
const TIMEOUT_MS = 60_000

type Line = {
  readonly id: string
  readonly status: string
  readonly box?: { readonly name: string }
}

testNeeding(A_BROKER, NATS_SERVER !== null)(
  'a machine joins, its line sends, and it is gone as soon as it stops or is removed',
  async () => {
    using headDir = temporaryDataDir()
    using boxDir = temporaryDataDir()
    using otherDir = temporaryDataDir()
    const port = await freePort()
    await using head = await RelayProcess.start({
      dataDir: headDir.path,
      arguments: ['--nats-server', NATS_SERVER ?? '', '--broker-port', String(port)],
    })
    const api = new ApiClient(() => head.url, await createKey(headDir.path))
    const onHead = (...args: string[]) => hookline([...args, '--data-dir', headDir.path])
    const onBox = (...args: string[]) => hookline([...args, '--data-dir', boxDir.path])
    const lineIs = (status: string) =>
      eventually(`the line is ${status}`, async () => {
        const { data } = await api.ask<{ data: Line[] }>('GET', '/api/v1/phone-lines')
        return data.find((line) => line.status === status) ?? null
      })

    const added = await onHead('boxes', 'add', 'studio-3')
    const [, token = ''] = /hookline join (\S+)/.exec(added.stdout) ?? []
    const joined = await onBox('join', token, '--no-service')
    const again = await onBox('join', token, '--no-service')
    const other = await hookline(['join', token, '--no-service', '--data-dir', otherDir.path])
    const box = startBox(boxDir.path)
    const line = await lineIs('online')
    const sent = await onHead('send', PERSON, 'Ready at eight.')
    const listed = await onHead('boxes')
    const lines = await onHead('lines')
    const moving = await onHead('lines', 'move', line.id, '--to', 'here')
    const stays = await onHead('lines', 'move', line.id, '--cancel')
    const nowhere = await onHead('lines', 'move', line.id)
    const known = await onHead('completion-ids', 'boxes')
    await lineIs('online')
    const status = await onBox('status')
    const refused = await onBox('keys', 'create')
    box.kill('SIGTERM')
    const exitCode = await box.exited
    await lineIs('offline')
    const restarted = startBox(boxDir.path)
    await lineIs('online')
    const removed = await onHead('boxes', 'remove', 'studio-3')
    await lineIs('offline')
    const doctor = await onBox('doctor')
    restarted.kill('SIGKILL')
    await restarted.exited
    // Killed, it would leave its broker behind.
    await head.end()

    expect(joined).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Joined') })
    expect(again.exitCode).toBe(0)
    expect(other.exitCode).toBe(1)
    expect(other.stderr).toContain('The invitation was used already.')
    expect(line.box).toMatchObject({ name: 'studio-3' })
    expect(sent.stdout).toStartWith('sent ')
    expect(listed.stdout).toMatch(/studio-3 +online/)
    expect(lines.stdout).toMatch(/DRIVER +BOX +STATUS/)
    expect(moving.stdout).toContain('is moving. Sign in on this machine with +1 202 555 0101.')
    expect(stays.stdout).toContain('is on studio-3.')
    expect(nowhere.exitCode).toBe(2)
    expect(known.stdout).toStartWith('studio-3\t')
    expect(status.stdout).toMatch(/reached +yes/)
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('belongs to a box'),
    })
    expect(exitCode).toBe(0)
    expect(removed.exitCode).toBe(0)
    expect(doctor.exitCode).toBe(5)
  },
  TIMEOUT_MS,
)

function startBox(dataDir: string) {
  return Bun.spawn([builtExecutable(), 'box', '--data-dir', dataDir], {
    env: cleanEnvironment({ HOOKLINE_SIMULATED_LINES: '1' }),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
}
