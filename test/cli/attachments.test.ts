// Files by the command line, to and from a relay that runs.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

import { hookline } from '../support/executable.ts'
import { RelayProcess } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const TIMEOUT_MS = 60_000
const ECHO = '+12025550196'
const MENU = 'Soup, fish, cake.'

test(
  'files are sent with a text, shown with their message, and saved',
  async () => {
    await using world = await start()
    writeFileSync(world.file('menu.txt'), MENU)
    writeFileSync(world.file('empty name \u001B[2J.txt'), 'x'.repeat(100_000))

    const sent = await world.run([
      'send',
      ECHO,
      'The menu',
      '--attach',
      world.file('menu.txt'),
      `--attach=${world.file('empty name \u001B[2J.txt')}`,
      '--wait',
      'delivered',
      '--json',
    ])
    const { id, attachments } = JSON.parse(sent.stdout)
    const shown = await world.run(['messages', 'show', id])
    const saved = await world.run(['attachments', 'get', attachments[0].id, '--to', world.saved])

    expect(sent).toMatchObject({ exitCode: 0, stderr: '' })
    expect(shown.stdout).toContain('menu.txt')
    expect(shown.stdout).toContain('100 kB')
    expect(shown.stdout).not.toContain('\u001B')
    expect(saved).toMatchObject({ exitCode: 0, stdout: `Saved ${world.saved} (17 B).\n` })
    expect(readFileSync(world.saved, 'utf8')).toBe(MENU)
  },
  TIMEOUT_MS,
)

test(
  'a file that exists is overwritten with --force only, and a failure leaves nothing behind',
  async () => {
    await using world = await start()
    writeFileSync(world.file('menu.txt'), MENU)
    const sent = await world.run(['send', ECHO, '--attach', world.file('menu.txt'), '--json'])
    const [{ id }] = JSON.parse(sent.stdout).attachments
    writeFileSync(world.saved, 'mine')

    const refused = await world.run(['attachments', 'get', id, '--to', world.saved])
    const before = readFileSync(world.saved, 'utf8')
    const unknown = await world.run(['attachments', 'get', 'att_0', '--to', world.file('other')])
    const forced = await world.run(['attachments', 'get', id, '--to', world.saved, '--force'])

    expect(refused).toMatchObject({ exitCode: 1 })
    expect(refused.stderr).toContain('exists already')
    expect(before).toBe('mine')
    expect(unknown).toMatchObject({ exitCode: 1 })
    expect(existsSync(world.file('other'))).toBe(false)
    expect(forced).toMatchObject({ exitCode: 0 })
    expect(readFileSync(world.saved, 'utf8')).toBe(MENU)
    expect(world.names()).toEqual(['menu.txt', 'saved.txt'])
  },
  TIMEOUT_MS,
)

const MISTAKES: readonly (readonly [what: string, args: readonly string[], sentence: string])[] = [
  ['nothing to send', [], 'Nothing to send'],
  ['a file that is not there', ['--attach', '/nowhere/menu.txt'], 'There is no file'],
  ['a folder', ['--attach', '/'], 'There is no file'],
  [
    'more files than a message can have',
    Array.from({ length: 11 }, () => ['--attach', 'package.json']).flat(),
    '10 attachments at most',
  ],
  ['an unknown service', ['hi', '--service', 'pigeon'], '--service must be one of'],
]

for (const [what, args, sentence] of MISTAKES) {
  test(`a send with ${what} is a mistake of usage, without a relay`, async () => {
    using folder = new ScratchFolder()

    const { exitCode, stderr } = await hookline(['send', ECHO, ...args], {
      HOOKLINE_DATA_DIR: folder.path,
    })

    expect(exitCode).toBe(2)
    expect(stderr).toContain(sentence)
  })
}

test('a conversation takes neither a line nor a service', async () => {
  using folder = new ScratchFolder()

  const { exitCode, stderr } = await hookline(['send', 'conv_a', 'hi', '--line', 'line_a'], {
    HOOKLINE_DATA_DIR: folder.path,
  })

  expect(exitCode).toBe(2)
  expect(stderr).toContain('its own line and service')
})

/** A relay with a simulated line, and a folder for files. */
async function start() {
  const data = new ScratchFolder()
  const folder = new ScratchFolder()
  const relay = await RelayProcess.start({
    dataDir: data.path,
    arguments: ['--simulated-lines', '1', '--simulated-delay-ms', '50'],
  })
  return {
    file: (name: string) => folder.file(name),
    saved: folder.file('saved.txt'),
    names: () => [...new Bun.Glob('*').scanSync({ cwd: folder.path })].toSorted(),
    run: (args: readonly string[]) => hookline(args, { HOOKLINE_DATA_DIR: data.path }),
    async [Symbol.asyncDispose]() {
      await relay.end('SIGKILL')
      folder[Symbol.dispose]()
      data[Symbol.dispose]()
    },
  }
}
