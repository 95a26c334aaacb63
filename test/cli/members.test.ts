// `hookline members`: people who answer, made, listed and removed at the terminal of a relay that runs.

import { expect, test } from 'bun:test'

import { hookline } from '../support/executable.ts'
import { RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const PASSWORD = 'correct horse battery'

test('a person is added, chooses a password by the printed link, gets another link, and is removed', async () => {
  using dir = temporaryDataDir()
  await using relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: { HOOKLINE_ADMIN_PASSWORD: PASSWORD },
  })
  const run = (...words: readonly string[]) =>
    hookline(['members', ...words], { HOOKLINE_DATA_DIR: dir.path })

  const added = await run('add', 'Anna')
  const taken = await run('add', 'ANNA')
  const [, token = ''] = /\/#\/setup\/([\w-]{43})\?name=Anna/.exec(added.stdout) ?? []
  const joined = await fetch(`${relay.url}/dashboard/setup`, {
    method: 'POST',
    body: JSON.stringify({ token, password: PASSWORD }),
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
  })
  const [anna] = JSON.parse((await run('list', '--json')).stdout).data
  const renewed = await run('link', anna.id)
  const shown = await run()
  const removed = await run('remove', anna.id)
  const trail = await hookline(['audit'], { HOOKLINE_DATA_DIR: dir.path })

  expect([added, taken, renewed, removed].map(({ exitCode }) => exitCode)).toEqual([0, 1, 0, 0])
  expect(joined.status).toBe(200)
  expect(anna).toMatchObject({ name: 'Anna', has_password: true })
  expect(renewed.stdout).not.toContain(token)
  expect(shown.stdout).toContain('Anna')
  expect(removed.stdout).toBe(`Removed ${anna.id}.\n`)
  expect(trail.stdout).toMatch(/password\.set +mem_\w+ +Anna/)
}, 180_000)

test('without a relay it says so', async () => {
  using folder = new ScratchFolder()

  const { exitCode } = await hookline(['members'], { HOOKLINE_DATA_DIR: folder.path })

  expect(exitCode).toBe(3)
})
