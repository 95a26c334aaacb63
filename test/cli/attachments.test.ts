// Files by the command line, to and from a relay that runs.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

import { on } from '../support/command-line.ts'
import { RelayProcess } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const ECHO = '+12025550196'
const MENU = 'Soup, fish, cake.'
const STEERING = 'empty name \u001B[2J.txt'

test('files are sent with a text, shown with their message, and saved; one that exists only with --force', async () => {
  using data = new ScratchFolder()
  using folder = new ScratchFolder()
  await using _relay = await RelayProcess.start({
    dataDir: data.path,
    arguments: ['--simulated-lines', '1', '--simulated-delay-ms', '50'],
  })
  const [menu, long, saved] = ['menu.txt', STEERING, 'saved.txt'].map((name) => folder.file(name))
  writeFileSync(menu ?? '', MENU)
  writeFileSync(long ?? '', 'x'.repeat(100_000))

  const attached = `--attach ${menu} "--attach=${long}" --wait delivered --json`
  const sent = await on(data, `send ${ECHO} "The menu" ${attached}`)
  const { id, attachments } = JSON.parse(sent.stdout)
  const get = (file: string, to = '') => on(data, `attachments get ${file} --to ${saved}${to}`)
  const shown = await on(data, `messages show ${id}`)
  const first = await get(attachments[0].id)
  const bytes = readFileSync(saved ?? '', 'utf8')
  writeFileSync(saved ?? '', 'mine')
  const refused = await get(attachments[0].id)
  const kept = readFileSync(saved ?? '', 'utf8')
  const unknown = await get('att_0', '.other')
  const forced = await get(attachments[0].id, ' --force')

  expect(sent).toMatchObject({ exitCode: 0, stderr: '' })
  expect(shown.stdout).toContain('menu.txt')
  expect(shown.stdout).toContain('100 kB')
  expect(shown.stdout).not.toContain('\u001B')
  expect(first).toMatchObject({ exitCode: 0, stdout: `Saved ${saved} (17 B).\n` })
  expect([bytes, kept]).toEqual([MENU, 'mine'])
  expect([refused.exitCode, refused.stderr.includes('exists already')]).toEqual([1, true])
  expect([unknown.exitCode, existsSync(`${saved}.other`)]).toEqual([1, false])
  expect([forced.exitCode, readFileSync(saved ?? '', 'utf8')]).toEqual([0, MENU])
  const names = [...new Bun.Glob('*').scanSync({ cwd: folder.path })]
  expect(names.sort()).toEqual([STEERING, 'menu.txt', 'saved.txt'])
}, 180_000)

test.each([
  ['nothing to send', ECHO, 'Nothing to send'],
  ['a file that is not there', `${ECHO} --attach /nowhere/menu.txt`, 'There is no file'],
  ['a folder', `${ECHO} --attach /`, 'There is no file'],
  [
    'more files than a message can have',
    ECHO + ' --attach package.json'.repeat(11),
    '10 attachments at most',
  ],
  ['an unknown service', `${ECHO} hi --service pigeon`, '--service must be one of'],
  ['a line for a conversation', 'conv_a hi --line line_a', 'its own line and service'],
])('a send with %s is a mistake of usage, without a relay', async (_, words, sentence) => {
  using folder = new ScratchFolder()

  const { exitCode, stderr } = await on(folder, `send ${words}`)

  expect(exitCode).toBe(2)
  expect(stderr).toContain(sentence)
})
