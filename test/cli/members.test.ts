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
  const list = async () => JSON.parse((await run('list', '--json')).stdout).data

  const added = await run('add', 'Anna')
  const taken = await run('add', 'ANNA')
  const [, token = ''] = /\/#\/setup\/([\w-]{43})\?name=Anna/.exec(added.stdout) ?? []
  const joined = await fetch(`${relay.url}/dashboard/setup`, {
    method: 'POST',
    body: JSON.stringify({ token, password: PASSWORD }),
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
  })
  const [anna] = await list()
  const renewed = await run('link', anna.id)
  const shown = await run('list')
  const removed = await run('remove', anna.id)
  const again = await run('remove', anna.id)
  const trail = await hookline(['audit'], { HOOKLINE_DATA_DIR: dir.path })

  expect([added, taken, renewed, removed, again].map(({ exitCode }) => exitCode)).toEqual([
    0, 4, 0, 0, 4,
  ])
  expect(joined.status).toBe(200)
  expect(anna).toMatchObject({ name: 'Anna', has_password: true })
  expect(renewed.stdout).not.toContain(token)
  expect(shown.stdout).toContain('Anna')
  expect(await list()).toEqual([])
  expect(trail.stdout).toMatch(/password\.set +mem_\w+ +Anna/)
})

test('without a relay it says so', async () => {
  using folder = new ScratchFolder()

  const { exitCode } = await hookline(['members'], { HOOKLINE_DATA_DIR: folder.path })

  expect(exitCode).toBe(3)
})
