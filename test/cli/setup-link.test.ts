// `hookline setup-link`, and the link that a first start shows at a terminal.

import { expect, test } from 'bun:test'

import { hookline } from '../support/executable.ts'
import { eventually, RelayProcess } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'
import { serveAtTerminal } from './terminal.ts'

const LINK = {
  url: 'http://127.0.0.1:4665/#/setup/T',
  lan_url: 'http://mini.local:4665/#/setup/T',
  expires_at: '2026-11-21T10:30:00.000Z',
}

test('it prints the link for this machine and the one for the network', async () => {
  using folder = new ScratchFolder()
  using relay = new FakeRelay(folder.path, () => Response.json(LINK))

  const { exitCode, stdout } = await hookline(['setup-link', '--quiet'], {
    HOOKLINE_DATA_DIR: folder.path,
  })

  expect([exitCode, stdout]).toEqual([0, `${LINK.url}\n${LINK.lan_url}\n`])
  expect(relay.asked).toEqual([{ method: 'POST', path: '/api/v1/setup-link', body: {} }])
})

test('without a relay it says so, for a link lives in the memory of the relay', async () => {
  using folder = new ScratchFolder()

  const { exitCode, stdout } = await hookline(['setup-link'], { HOOKLINE_DATA_DIR: folder.path })

  expect([exitCode, stdout]).toEqual([3, ''])
})

test('at a terminal each start without a password shows a link, another one each time', async () => {
  using folder = new ScratchFolder()

  const first = await serveAtTerminal(folder)
  const second = await serveAtTerminal(folder)

  const links = [first, second].map((seen) => LINK_LINE.exec(seen)?.[1] ?? '')
  expect(links.map((link) => link.length)).toEqual([43, 43])
  expect(links[0]).not.toBe(links[1] ?? '')
  expect(bannerOf(first).length).toBeLessThanOrEqual(8)
})

test('at a terminal no link is shown once there is a password', async () => {
  using folder = new ScratchFolder()

  const seen = await serveAtTerminal(folder, { HOOKLINE_ADMIN_PASSWORD: 'correct horse' })

  expect(seen).toContain('hookline listening on')
  expect(seen).not.toContain('setup')
})

test('elsewhere no link is made, and the log says how to get one', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })

  await relay.end()
  const log = await eventually('a log that tells of a link', () =>
    relay.log.includes('link') ? relay.log : null,
  )

  expect(log).toContain('get a link with \\"hookline setup-link\\"')
  expect(log).not.toContain('/#/setup/')
})

const LINK_LINE = /dashboard +http:\/\/127\.0\.0\.1:[0-9]+\/#\/setup\/([A-Za-z0-9_-]+) /

/** The lines of the banner: those of the log begin with a time. */
function bannerOf(seen: string): readonly string[] {
  const end = seen.indexOf('\n\nYour first API key')
  const lines = seen.slice(0, end).split('\n')
  return lines.slice(lines.findIndex((line) => line.startsWith('Hookline')))
}
