// What a trace may tell of the runs of the script.

import { expect, test } from 'bun:test'

import { MessagesScript, type ScriptCall } from '../../../../src/lines/kinds/mac/script-runner.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import type { RunProcess } from '../../../../src/system/process.ts'
import { TestClock } from '../../../support/test-clock.ts'

const DETAIL = 'enabled,unknown iMessage,disabled,connected «constant»,x SMS,enabled,unknown'

test('each run is told with its stage and its time, without text and number', async () => {
  const clock = new TestClock()
  const calls: ScriptCall[] = []
  const run: RunProcess = async ({ input = '' }) => {
    await clock.sleep(120, NEVER)
    const stdout = input.includes('"account"') ? `account\t0\t${DETAIL}\n` : 'done\t0\t\n'
    return { end: 'exited', exitCode: 0, stdout, stderr: '' }
  }
  const onCall = (call: ScriptCall) => void calls.push(call)
  const script = new MessagesScript({ run, clock, onCall, osascriptPath: '/usr/bin/osascript' })
  const at = clock.now()

  for (const ask of [
    () => script.account(NEVER),
    () => script.check({ by: 'chat', guid: 'iMessage;-;+12025550123' }, NEVER),
    () => script.send({ by: 'participant', handle: '+12025550123' }, 'private text'),
  ]) {
    const asked = ask()
    await clock.advance(120)
    await asked
  }

  const went = { stage: 'done', number: 0, ms: 120, accounts: [] }
  const found = { stage: 'account', number: 0, ms: 120 }
  const accounts = [
    { service: 'iMessage', enabled: 'disabled', connection: 'connected' },
    { service: 'SMS', enabled: 'enabled', connection: 'unknown' },
  ]
  expect(calls as unknown).toEqual([
    { at, mode: 'account', route: null, keyPrefix: null, ...found, accounts },
    { at: at + 120, mode: 'check', route: 'chat', keyPrefix: 'iMessage;-;', ...went },
    { at: at + 240, mode: 'send', route: 'participant', keyPrefix: null, ...went },
  ])
})
