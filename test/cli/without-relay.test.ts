// What the command line does while no relay runs.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { dataDirectoryAt, openDataDirectory } from '../../src/system/data-directory.ts'
import { takeInstanceLock } from '../../src/system/instance-lock.ts'
import { hookline, on } from '../support/command-line.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'

test('a bare hookline says what it can do, and that this was no command; every command has help', async () => {
  const bare = await hookline('')
  const help = await hookline('help --json')
  const one = await hookline('help keys create')

  expect(bare.exitCode).toBe(2)
  expect(bare.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(12)
  const { data } = JSON.parse(help.stdout) as { data: { name: string }[] }
  expect(data.map(({ name }) => name)).toContain('webhooks rotate-secret')
  expect(data.length).toBeGreaterThan(20)
  expect(one.stdout).toStartWith('hookline keys create [NAME] [options]\n')
})

test('the completions of each shell know commands, subcommands and options', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, exitCode } = await hookline(`completions ${shell}`)

    expect(exitCode).toBe(0)
    for (const word of ['serve', 'rotate-secret', 'simulated-lines']) expect(stdout).toContain(word)
  }
})

/** Every shell asks for ids by a program of this name, which says with what it was called. */
const STAND_IN = 'printf "key_a\\tBooking: %s\\nkey_b\\tShop\\n" "$*"'

test('the completions for bash complete, and offer ids with their names, one alone without', async () => {
  const { stdout } = await hookline('completions bash')
  const script = `${stdout}\nhookline() { ${STAND_IN}; }
    offer() { COMP_WORDS=(hookline "$@"); COMP_CWORD=$#; _hookline; printf '%s\\n' "\${COMPREPLY[@]}"; }
    offer keys revoke key_; offer keys revoke key_b; offer send --line key_
    offer --data-dir /x; offer keys revoke --data-dir /x key_a; offer keys list --j
    offer keys cr; offer webho; offer keys create --na`

  const run = Bun.spawnSync(['bash', '-c', script])

  expect(run.stdout.toString().split('\n')).toEqual([
    'key_a  (Booking: completion-ids keys)',
    'key_b  (Shop)',
    'key_b',
    'key_a  (Booking: completion-ids lines)',
    'key_b  (Shop)',
    '',
    'key_a',
    '--json',
    'create',
    'webhooks',
    '--name',
    '',
  ])
})

testNeeding('zsh', Bun.which('zsh') !== null)(
  'the completions for zsh offer ids with their names',
  async () => {
    const { stdout } = await hookline('completions zsh')
    const script = `compdef() {}; ${stdout}\nhookline() { ${STAND_IN}; }
    _describe() { print -rl -- "\${(@P)2}"; }; compadd() { print -r -- "words $@"; }
    words=(hookline keys revoke --data-dir /x ''); CURRENT=6; _hookline`

    const run = Bun.spawnSync(['zsh', '-f', '-c', script])

    expect(run.stdout.toString()).toMatch(
      /^key_a:Booking: completion-ids keys --data-dir \/x\nkey_b:Shop\nwords -- .*--json/,
    )
  },
)

testNeeding('fish', Bun.which('fish') !== null)(
  'the completions for fish offer ids with their names',
  async () => {
    const { stdout } = await hookline('completions fish')
    const standIn = `function hookline; printf 'key_a\\tBooking: %s\\nkey_b\\tShop\\n' "$argv"; end`
    const script = `${stdout}\n${standIn}\ncomplete -C 'hookline keys revoke key_'
    complete -C 'hookline send --line key_'`

    const run = Bun.spawnSync(['fish', '--no-config', '-c', script])

    expect(run.stdout.toString().split('\n')).toEqual([
      'key_a\tBooking: completion-ids keys',
      'key_b\tShop',
      'key_a\tBooking: completion-ids lines',
      'key_b\tShop',
      '',
    ])
  },
)

test('a key is made, listed and revoked in the file itself', async () => {
  using folder = new ScratchFolder()
  const made = JSON.parse((await on(folder, 'keys create --json --name a')).stdout) as {
    id: string
    key: string
    secret: string
  }

  const before = await on(folder, 'keys list')
  const revoked = await on(folder, `keys revoke ${made.id} --json`)
  const unknown = await on(folder, 'keys revoke key_x')
  const after = await on(folder, 'keys list --json')

  expect(made.key).toMatch(/^hl_live_[\w-]{32}$/)
  expect(made.secret).toMatch(/^hl_secret_[\w-]{43}$/)
  expect(before.stdout).toContain(made.id)
  expect(before.stdout).not.toContain(made.secret)
  expect(JSON.parse(revoked.stdout)).toEqual({ id: made.id, deleted: true })
  const stderr = 'hookline: There is no key with this id.\n'
  expect(unknown).toEqual({ exitCode: 1, stdout: '', stderr })
  expect(JSON.parse(after.stdout)).toMatchObject({ data: [{ id: made.id, name: 'a' }] })
  expect(after.stdout).not.toContain('"revoked_at":null')
})

test('what was done in the file itself is in the trail, and audit finds it', async () => {
  using folder = new ScratchFolder()
  await on(folder, 'config set heartbeat_url https://monitor.example/ping/s3cret')
  await on(folder, 'keys create --name shop')

  const listed = await on(folder, 'audit --limit 1 --since 1h')
  const settings = await on(folder, 'audit --action setting.changed --json')
  const wrong = await on(folder, 'audit --since yesterday')

  expect(listed.stdout.split('\n')[1]).toMatch(
    /^20\S+Z {2}key\.created {2}key_\w+ {2}cli {4}- {8}name: shop$/,
  )
  expect(listed.stdout).toContain('More entries exist')
  expect(JSON.parse(settings.stdout)).toMatchObject({
    data: [{ actor: { kind: 'cli', id: null }, address: null, before: { value: 'none' } }],
  })
  expect(settings.stdout).not.toContain('s3cret')
  expect([wrong.exitCode, wrong.stderr.includes('--since must be a time')]).toEqual([2, true])
})

test('a bridge is made, given another token, removed and listed in the file itself', async () => {
  using folder = new ScratchFolder()
  const run = async (words: string) => {
    const { stdout } = await on(folder, `bridges ${words} --json`)
    return JSON.parse(stdout) as { id: string; token: string }
  }
  const made = await run('add +12025550147 --label Shop')

  const renewed = await run(`token ${made.id}`)
  const removed = await run(`remove ${made.id}`)
  const listed = await on(folder, 'bridges list')

  expect([made.token, renewed.token].every((token) => /^hlb_[\w-]{43}$/.test(token))).toBe(true)
  expect(renewed).toEqual({ id: made.id, token: expect.not.stringMatching(made.token) })
  expect({ ...removed }).toEqual({ id: made.id, deleted: true } as object as typeof removed)
  expect(listed.stdout).toContain(
    `${made.id}  +1 202 555 0147  Shop   ${renewed.token.slice(0, 10)}`,
  )
  expect(listed.stdout).toEndWith('removed\n')
  expect(listed.stdout).not.toContain(renewed.token)
})

test('everything that is made is for the owner only', async () => {
  using folder = new ScratchFolder()
  await hookline(['keys', 'create'], { HOOKLINE_DATA_DIR: folder.file('data') })
  const directory = dataDirectoryAt(folder.file('data'))

  const modes = [directory.path, directory.database, directory.lock].map(
    (path) => statSync(path).mode & 0o777,
  )

  expect(modes).toEqual([0o700, 0o600, 0o600])
})

test('lines are listed as stopped', async () => {
  using folder = new ScratchFolder()
  const { db } = openDatabase(openDataDirectory(folder.path).database, { version: 'test' })
  storeLine(db.sqlite)
  closeDatabase(db)

  const run = await on(folder, 'lines --json')

  expect(JSON.parse(run.stdout)).toMatchObject({
    data: [
      {
        id: 'line_a',
        phone_number: '+12025550101',
        status: 'offline',
        status_reason: 'not_running',
      },
    ],
  })
})

test.each([
  'completion-ids keys',
  'doctor',
  'lines set line_a --label x',
  'members',
  'messages resolve msg_a sent',
  'send +12025550147 hello',
  'setup-link',
  'tail',
  'webhooks list',
])('hookline %s needs a relay', async (line) => {
  using folder = new ScratchFolder()

  const { exitCode, stdout, stderr } = await on(folder, line)

  const isSilent = line.startsWith('completion-ids')
  const told = `No relay is running (data directory ${folder.path}). Start one: hookline serve\n`
  expect(stdout).toBe('')
  expect([exitCode, stderr]).toEqual(isSilent ? [0, ''] : [3, `hookline: ${told}`])
})

test('a data directory that others can read is refused', async () => {
  using folder = new ScratchFolder()
  mkdirSync(folder.file('open'))
  chmodSync(folder.file('open'), 0o755)

  const run = await hookline(['keys', 'list', '--data-dir', folder.file('open')])

  expect([run.exitCode, run.stderr]).toEqual([
    1,
    `hookline: ${folder.file('open')} has mode 0755: other users could read messages and keys. ` +
      `Run: chmod 700 '${folder.file('open')}'\n`,
  ])
})

test('a database of a newer Hookline needs a person, and so does a file that is no database', async () => {
  using newer = new ScratchFolder()
  using other = new ScratchFolder()
  const { db } = openDatabase(newer.file('hookline.db'), { version: '9.0.0' })
  db.sqlite.run("UPDATE about SET value = '99' WHERE name = 'usable_from'")
  closeDatabase(db)
  writeFileSync(
    other.file('hookline.db'),
    'this is not a database, but it is long enough'.repeat(99),
  )

  const runs = [await on(newer, 'keys list'), await on(other, 'keys list')]

  expect(runs.map(({ exitCode }) => exitCode)).toEqual([78, 78])
  expect(runs[0]?.stderr).toContain('Start Hookline 9.0.0 or newer')
})

test('a back-up goes to one file and comes back', async () => {
  using folder = new ScratchFolder()
  const file = folder.file('b.db')
  const { db } = openDatabase(openDataDirectory(folder.path).database, { version: 'test' })
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'queued' }])
  closeDatabase(db)
  await on(folder, `backup --to ${file}`)

  const restored = await on(folder, `restore ${file} --json`)

  expect(restored.exitCode).toBe(0)
  expect(JSON.parse(restored.stdout)).toMatchObject({ file, uncertain_messages: 1, files: [] })
  const after = new Database(folder.file('hookline.db'), { readonly: true })
  expect(after.query('SELECT status, error_code FROM messages').values()).toEqual([
    ['uncertain', 'restored'],
  ])
})

test('a daily back-up can be restored by its bare name, over a damaged database', async () => {
  using folder = new ScratchFolder()
  await on(folder, 'keys create')
  const made = await on(folder, 'backup')
  const name = made.stdout.trim().split('/').at(-1) ?? ''

  const listed = await on(folder, 'backups')
  writeFileSync(folder.file('hookline.db'), 'damaged')
  const restored = await on(folder, `restore ${name}`)

  expect(listed.stdout).toContain(name)
  expect(restored.exitCode).toBe(0)
  expect(restored.stdout).toMatch(/hookline keys revoke key_\w+ {2}\(key/)
})

test('while another process has the data directory, a command says who', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const lock = takeInstanceLock(directory.lock, { since: 0, task: 'relay', address: null })

  const run = await on(folder, 'keys list')
  lock.release()

  expect(run.exitCode).toBe(1)
  expect(run.stderr).toContain(`a relay, process ${process.pid}, since 1970-01-01T00:00:00.000Z`)
}, 180_000)
