// The operator at night, over ssh, with nothing but the built executable: which webhook fails, hold it,
// mend it, send again what it missed, see which messages failed, and write the file for support.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { eventually } from '../support/eventually.ts'
import { builtExecutable, cleanEnvironment, hookline } from '../support/executable.ts'
import { Receiver } from '../support/receiver.ts'
import { RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

const FAILING_PERSON = '+12025550189'
const COLUMNS = 80

test('the night operator finds the failing webhook, holds it, mends it, and retries', async () => {
  using dir = temporaryDataDir()
  let status = 500
  using broken = new Receiver(() => new Response('', { status }))
  using healthy = new Receiver()
  await using _relay = await RelayProcess.start({
    dataDir: dir.path,
    arguments: ['--simulated-lines', '1'],
    environment: { HOOKLINE_WEBHOOK_RETRY_SCHEDULE: '100ms' },
  })
  const run = async (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await hookline(args, { HOOKLINE_DATA_DIR: dir.path })
    expect([args, exitCode, stderr]).toEqual([args, 0, ''])
    return stdout
  }
  const idOf = async (receiver: Receiver) =>
    JSON.parse(await run('webhooks', 'add', receiver.url, '--json')).id
  const [bad, good] = [await idOf(broken), await idOf(healthy)]
  await run('send', '+12025550123', 'Your table is ready.', '--wait', 'delivered')

  const listed = await eventually('it fails', async () => {
    const rows = (await run('webhooks', 'list')).split('\n')
    return rows.some((row) => row.startsWith(`${bad}  failing`)) ? rows : null
  })
  expect(listed.some((row) => row.startsWith(`${good}  active`))).toBe(true)
  const shown = await eventually('a delivery gave up', async () => {
    const text = await run('webhooks', 'show', bad)
    return text.includes('exhausted') ? text : null
  })
  expect(shown).toMatch(/exhausted +2 +500/)

  expect(await run('webhooks', 'pause', bad)).toEndWith('is paused.\n')
  status = 200
  await run('webhooks', 'resume', bad)
  const before = broken.received.length
  expect(await run('webhooks', 'retry', bad)).toMatch(/^[1-9]\d* failed deliver/)
  await eventually('the events arrive', () => (broken.received.length > before ? true : null))

  expect((await hookline(['send', FAILING_PERSON, 'Hi'], env())).exitCode).toBe(1)
  const failed = JSON.parse(await run('messages', 'list', '--status', 'failed', '--json'))
  expect(failed.data).toMatchObject([{ handle: FAILING_PERSON, status: 'failed' }])
  const conversation: string = failed.data[0].conversation_id
  expect(await run('conversations', 'show', conversation)).toMatch(/you +failed +Hi\n/)
  await run('conversations', 'export', conversation, '--to', join(dir.path, 'a.json'))
  expect(await Bun.file(join(dir.path, 'a.json')).text()).toContain('"Hi"')
  expect(await run('stats', '--days', '1')).toMatch(
    /DAY +SENT +RECEIVED +FAILED +UNCERTAIN\n.* +1 +\d+ +1 +0\n$/,
  )
  const seen = await atTerminal(dir.path, ['messages', 'list'])
  expect(seen).toContain('\u001B[31mfailed')
  expect(
    Math.max(
      ...Bun.stripANSI(seen)
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBe(COLUMNS)

  for (const plain of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    expect(await atTerminal(dir.path, ['messages', 'list'], plain)).not.toContain('\u001B[31m')
  }

  expect(await run('backup', '--to', join(dir.path, 'a.db'))).not.toContain('Copying')
  const copying = await atTerminal(dir.path, ['backup', '--to', join(dir.path, 'b.db')])
  expect(copying).toContain('Copying and checking the database…')
  expect(copying).toEndWith(`\u001B[K${join(dir.path, 'b.db')}\n`)

  const file = join(dir.path, 'support.json')
  await run('support', '--to', file)
  const bundle = await Bun.file(file).text()
  expect(JSON.parse(bundle)).toMatchObject({
    relay: { phase: 'running' },
    webhooks: [{ id: good }, { id: bad }],
  })
  for (const secret of ['2025550123', '2025550189', 'table', '127.0.0.1:', dir.path]) {
    expect(bundle).not.toContain(secret)
  }

  await run('webhooks', 'remove', bad)
  expect(await run('webhooks', 'list')).not.toContain(bad)

  function env() {
    return { HOOKLINE_DATA_DIR: dir.path }
  }
}, 180_000)

/** What a person sees on a terminal of 80 columns. */
async function atTerminal(
  dataDir: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  let seen = ''
  const child = Bun.spawn([builtExecutable(), ...args], {
    env: cleanEnvironment({ HOOKLINE_DATA_DIR: dataDir, TERM: 'xterm', ...environment }),
    terminal: {
      cols: COLUMNS,
      data: (_terminal, data) => void (seen += new TextDecoder().decode(data)),
    },
  })
  await child.exited
  return seen.replaceAll('\r', '')
}
