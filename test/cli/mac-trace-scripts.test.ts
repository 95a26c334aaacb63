// What a trace holds of the script for Messages, as the relay reports it.

import { expect, test } from 'bun:test'

import { RefusedError } from '../../src/api/client.ts'
import { NoRelayError } from '../../src/cli/command.ts'
import type { ControlClient } from '../../src/cli/control-client.ts'
import { scriptEntries } from '../../src/cli/mac.ts'

const START = 1_795_255_200_000
const ACCOUNT = { mode: 'account', stage: 'account', accounts: [{ service: 'iMessage' }] }

async function entriesOf(data: readonly object[]) {
  // The one route that is asked.
  const ask = (async () => ({ data })) as unknown as ControlClient['ask']
  return scriptEntries(async () => ({ ask }), START)
}

test('the runs since the start are reported by their time, with what was last known of the accounts', async () => {
  const entries = await entriesOf([
    { at: START - 900_000, ...ACCOUNT },
    { at: START - 300_000, ...ACCOUNT },
    { at: START - 100, mode: 'send', stage: 'done' },
    { at: START + 2_000, mode: 'check', stage: 'resolve', number: -1728 },
  ])

  expect(entries).toEqual([
    { t: -300_000, op: 'script', set: ACCOUNT },
    { t: 2_000, op: 'script', set: { mode: 'check', stage: 'resolve', number: -1728 } },
  ])
})

test.each([
  ['NoRelayError', new NoRelayError()],
  [
    'RefusedError',
    new RefusedError(404, { code: 'not_found', message: 'There is no such route.' }),
  ],
])('a trace without a relay that answers says so: %s', async (why, error) => {
  const entries = await scriptEntries(() => Promise.reject(error), START)

  expect(entries).toEqual([{ t: 0, op: 'no_relay', set: { why } }])
})
