// What a service does whose data are taken from under it: it ends instead of taking what nobody will find,
// and its next start begins nothing new in their place.

import { expect, test } from 'bun:test'
import { existsSync, renameSync } from 'node:fs'

import { UpgradeMachine } from './upgrade-machine.ts'

test('a data directory that is moved away ends the relay, and it goes on once it is back', async () => {
  const { machine, key } = await UpgradeMachine.create()
  await using _machine = machine
  const relay = machine.start()
  await relay.until('/swagger', '200')

  renameSync(machine.dataDir, `${machine.dataDir}.moved`)
  const exitCode = await relay.exited()
  const log = await relay.log()
  const next = machine.start()
  await next.until('/healthz', '200')
  const ready = await next.look('/readyz')
  const isEmptyRelayMade = existsSync(machine.dataDir)
  renameSync(`${machine.dataDir}.moved`, machine.dataDir)
  await next.until('/swagger', '200')
  const list = await next.client(key).ask<{ data: unknown[] }>('GET', '/api/v1/messages')

  expect(exitCode).toBe(1)
  expect(log).toContain(`${machine.dataDir} is gone: it was moved or deleted`)
  expect(ready).toStartWith('503 {"error":{"code":"starting"')
  expect(ready).toContain('hookline.db is not there, and this service does not begin a new relay')
  expect(isEmptyRelayMade).toBe(false)
  expect(list.data).toMatchObject([{ text: 'wait for it' }])
}, 180_000)
