// `hookline alerts`: channels and rules at the terminal of a relay that runs.

import { expect, test } from 'bun:test'

import { hookline } from '../support/command-line.ts'
import { RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

test('a channel is added, tested, listed and removed at the terminal', async () => {
  using dir = temporaryDataDir()
  const bodies: Record<string, unknown>[] = []
  using ntfy = Bun.serve({
    port: 0,
    fetch: async (request) => {
      bodies.push((await request.json()) as Record<string, unknown>) // The relay's own words.
      return new Response('{}')
    },
  })
  await using relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: { HOOKLINE_SIMULATED_LINES: '1' },
  })
  const run = (line: string) => hookline(line, { HOOKLINE_DATA_DIR: dir.path })

  const none = await run('alerts')
  const own = await run('alerts add +12025550101')
  const phone = await run('alerts add +12025550147 --name Phone')
  const url = `http://127.0.0.1:${ntfy.port}/my-topic`
  const post = await run(`alerts add ${url} --quiet-hours 22:00-07:00`)
  const tested = await run('alerts test')
  const channels = await run('alerts channels')
  await run('sites add Berlin')
  const rule = await run('alerts set line_off --after 20 --sites Berlin')
  const rules = await run('alerts rules')
  const removed = await run(`alerts remove Phone`)

  expect(relay.url).toStartWith('http')
  expect(none.stdout).toContain('hookline alerts add')
  expect([own.exitCode, own.stderr]).toEqual([1, expect.stringContaining("relay's own lines")])
  expect(phone.stdout).toContain('Add a second channel')
  expect(post.exitCode).toBe(0)
  expect([tested.exitCode, tested.stdout]).toEqual([0, expect.stringMatching(/Phone +done/)])
  expect(bodies).toMatchObject([{ topic: 'my-topic', title: 'Hookline: test' }])
  expect(channels.stdout).toMatch(/post .*22:00-07:00/)
  expect(rule.stdout).toMatch(/line_off +after 20 minutes +all lines +site_/)
  expect(rules.stdout.split('\n').filter(Boolean)).toHaveLength(8)
  expect(removed.exitCode).toBe(0)
}, 180_000)
