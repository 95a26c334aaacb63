// `hookline setup-link`, beside a stand-in for the relay; the link of a first start is in serve.test.ts.

import { expect, test } from 'bun:test'

import { runBeside } from './fake-relay.ts'

const LINK = {
  url: 'http://127.0.0.1:4665/#/setup/T',
  lan_url: 'http://mini.local:4665/#/setup/T',
  expires_at: '2026-11-21T10:30:00.000Z',
}

test('it prints the link for this machine and the one for the network', async () => {
  const { exitCode, stdout, asked } = await runBeside('setup-link --quiet', LINK)

  expect([exitCode, stdout]).toEqual([0, `${LINK.url}\n${LINK.lan_url}\n`])
  expect(asked).toEqual([{ method: 'POST', path: '/api/v1/setup-link', body: {} }])
})
