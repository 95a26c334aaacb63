// What a service does whose data are taken from under it: it ends instead of taking what nobody will find,
// and its next start begins nothing new in their place.

import { expect, test } from 'bun:test'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { UpgradeMachine } from './upgrade-machine.ts'

const BODY = { to: '+12025550123', text: 'hello' }

test('a data directory that is moved away ends the relay, and it goes on once it is back', async () => {
  const { machine, key } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const relay = machine.start()
  await relay.until('/swagger', '200')

  renameSync(machine.dataDir, `${machine.dataDir}.moved`)
  // The files are looked at once a second.
  await Bun.sleep(1_000)
  const send = relay.client(key).request('POST', '/api/v1/messages/send', { body: BODY })
  // Another write may have met it before: then nobody listens any more.
  const answer = await send.catch(() => null)
  const exitCode = await relay.exited()
  const log = await relay.log()
  const next = machine.start()
  await next.until('/healthz', '200')
  const ready = await next.look('/readyz')
  const isEmptyRelayMade = existsSync(machine.dataDir)
  renameSync(`${machine.dataDir}.moved`, machine.dataDir)
  await next.until('/swagger', '200')
  const list = await next.client(key).ask<{ data: unknown[] }>('GET', '/api/v1/messages')

  expect([null, 503]).toContain(answer?.status ?? null)
  expect(exitCode).toBe(1)
  expect(log).toContain(`${machine.dataDir} is gone: it was moved or deleted`)
  expect(ready).toStartWith('503 {"error":{"code":"starting"')
  expect(ready).toContain('hookline.db is not there, and this service does not begin a new relay')
  expect(isEmptyRelayMade).toBe(false)
  expect(list.data).toMatchObject([{ text: 'wait for it' }])
}, 180_000)

test('a second relay is refused though the lock was deleted, as long as the first one answers', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  rmSync(join(machine.dataDir, 'hookline.lock'))

  const second = await machine.run('serve', '--port', '0')

  expect(second.exitCode).toBe(1)
  expect(second.stderr).toContain('A relay is already running on')
}, 180_000)

test('a lock file that is garbage is named, with what to do', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  await Bun.write(join(machine.dataDir, 'hookline.lock'), 'garbage '.repeat(1_000))

  const started = await machine.run('serve', '--port', '0')

  expect(started.exitCode).toBe(78)
  expect(started.stderr).toContain('hookline.lock is not a Hookline lock file')
}, 180_000)
