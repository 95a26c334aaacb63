// `hookline members`: people who answer, made, listed and removed at the terminal of a relay that runs.

import { expect, test } from 'bun:test'

import { hookline } from '../support/command-line.ts'
import { RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

const PASSWORD = 'correct horse battery'

test('a person is added, chooses a password by the printed link, gets another link, and is removed', async () => {
  using dir = temporaryDataDir()
  await using relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: { HOOKLINE_ADMIN_PASSWORD: PASSWORD },
  })
  const run = (line: string) => hookline(line, { HOOKLINE_DATA_DIR: dir.path })

  const added = await run('members add Anna')
  const taken = await run('members add ANNA')
  const [, token = ''] = /\/#\/setup\/([\w-]{43})\?name=Anna/.exec(added.stdout) ?? []
  const joined = await fetch(`${relay.url}/dashboard/setup`, {
    method: 'POST',
    body: JSON.stringify({ token, password: PASSWORD }),
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
  })
  const [anna] = JSON.parse((await run('members list --json')).stdout).data
  const renewed = await run(`members link ${anna.id}`)
  const shown = await run('members')
  const removed = await run(`members remove ${anna.id}`)
  const trail = await run('audit')

  expect([added, taken, renewed, removed].map(({ exitCode }) => exitCode)).toEqual([0, 1, 0, 0])
  expect(joined.status).toBe(200)
  expect(anna).toMatchObject({ name: 'Anna', has_password: true })
  expect(renewed.stdout).not.toContain(token)
  expect(shown.stdout).toContain('Anna')
  expect(removed.stdout).toBe(`Removed ${anna.id}.\n`)
  expect(trail.stdout).toMatch(/password\.set +mem_\w+ +Anna/)
}, 180_000)
