// Messages in a process of its own: reached by real executables, and gone with its parent process.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { MessagesScript, type Target } from '../../../../src/lines/kinds/mac/script-runner.ts'
import { NEVER, systemClock } from '../../../../src/system/clock.ts'
import { processRunner, startProcess, type ProcessEnd } from '../../../../src/system/process.ts'
import { startMessages, type MessagesRig } from '../../../support/mac/mac-rig.ts'
import { askMessages } from '../../../support/mac/messages-control.ts'
import { FRIEND } from '../../../support/mac/trace-steps.ts'
import { eventually } from '../../../support/relay-process.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'

const TO_FRIEND: Target = { by: 'participant', handle: FRIEND }
const TEXT = `-e "it's" \\ \n\t $(false) \u{1F469}\u200D\u{1F680} \u05E9\u05DC\u05D5\u05DD`

const run = processRunner(systemClock)

test('the script reaches it through a real osascript, and the row of its text appears', async () => {
  using folder = new ScratchFolder()
  await using messages = await startMessages(folder.path, 'macos26a')
  const script = scriptOf(messages)

  const account = await script.account(NEVER)
  const sent = await script.send(TO_FRIEND, TEXT)
  await eventually('it is carried', async () => {
    return (await messages.control.carried({ text: TEXT })) > 0 ? true : null
  })

  expect(account).toMatchObject({
    answer: 'account',
    state: { isEnabled: true, isConnected: true },
  })
  expect(sent).toEqual({ answer: 'done' })
  expect((await messages.control.letters(null)).map(({ to, text }) => [to, text])).toEqual([
    [FRIEND, TEXT],
  ])
  expect(flagsIn(messages)).toEqual([[1, 1]])
})

test('a script that hangs is killed, and the next one is answered', async () => {
  using folder = new ScratchFolder()
  await using messages = await startMessages(folder.path, 'macos15')
  await messages.control.nextSend(['hang'])
  const script = scriptOf(messages, 1_000)

  const first = await script.send(TO_FRIEND, 'one')
  const second = await scriptOf(messages).send(TO_FRIEND, 'two')

  expect(first).toEqual({ answer: 'silent', why: 'killed: timeout' })
  expect(second).toEqual({ answer: 'done' })
})

test('Messages is a process that can be found, ended and started', async () => {
  using folder = new ScratchFolder()
  await using messages = await startMessages(folder.path, 'macos26a')
  const find = async () => {
    const end = await tool(messages, 'PGREP', ['-x', 'Messages'])
    return end.end === 'exited' ? `${end.exitCode} ${end.stdout.trim()}` : end.end
  }

  const first = await find()
  await run(order('/bin/kill', ['-TERM', first.slice(2)]), NEVER)
  await eventually('it is gone', async () => ((await find()) === '1 ' ? true : null))
  const meanwhile = await scriptOf(messages).account(NEVER)
  await tool(messages, 'OPEN', ['-gj', '-a', 'Messages'])
  const second = await find()

  expect(first).toMatch(/^0 \d+$/)
  expect(meanwhile).toEqual({ answer: 'refused', stage: 'account', number: -600 })
  expect(second).toMatch(/^0 \d+$/)
  expect(second).not.toBe(first)
})

test('the database is emptied of its log, opened again and replaced, as it is told', async () => {
  using folder = new ScratchFolder()
  await using messages = await startMessages(folder.path, 'macos12')
  const { control, chatDbPath } = messages
  const walBytes = () => Bun.file(`${chatDbPath}-wal`).size
  const sizes: number[] = []

  await control.receive({ from: FRIEND, text: 'one' })
  sizes.push(walBytes())
  await control.checkpoint(null)
  sizes.push(walBytes())
  await control.receive({ from: FRIEND, text: 'two' })
  sizes.push(walBytes())
  // The last connection that closes takes the log with it.
  await control.reopen(null)
  sizes.push(walBytes())
  using before = new Database(chatDbPath, { readonly: true })
  // SQLite opens the file with the first read.
  const first = countIn(before)
  await control.replace({ keep: 1, order: 'oldest_first', into: 'new_file' })
  await control.receive({ from: FRIEND, text: 'three' })
  await control.receive({ from: FRIEND, text: 'four' })

  using after = new Database(chatDbPath, { readonly: true })
  expect(sizes.map((size) => size > 0)).toEqual([true, false, true, false])
  expect([first, countIn(before), countIn(after)]).toEqual([2, 2, 3])
})

test('caffeinate ends with the process that it waits for', async () => {
  using folder = new ScratchFolder()
  await using messages = await startMessages(folder.path, 'macos26a')
  const waitedFor = Bun.spawn(['/bin/cat'], { stdin: 'pipe' })
  const path = messages.environment['HOOKLINE_MAC_CAFFEINATE'] ?? ''

  const awake = startProcess({ path, args: ['-i', '-m', '-s', '-w', String(waitedFor.pid)] })
  const early = await Promise.race([awake.ended, Bun.sleep(100).then(() => 'awake')])
  await waitedFor.stdin.end()

  expect(early).toBe('awake')
  expect(await awake.ended).toBe(0)
})

test('it ends when the process that started it is killed', async () => {
  using folder = new ScratchFolder()
  const code = `const { startMessages } = await import(${JSON.stringify(RIG_PATH)})
    await startMessages(${JSON.stringify(folder.path)}, 'macos26a')
    console.log('started')
    setInterval(() => {}, 1000)`
  const parent = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe', stderr: 'inherit' })
  await parent.stdout.getReader().read()
  const isThere = () => {
    const socket = join(folder.path, 'messages.sock')
    return askMessages(socket, '/order/letters', null).then(
      () => true,
      () => false,
    )
  }
  const before = await isThere()

  parent.kill('SIGKILL')
  await parent.exited

  expect(before).toBe(true)
  await eventually('it is gone', async () => ((await isThere()) ? null : true))
})

const RIG_PATH = join(import.meta.dir, '../../../support/mac/mac-rig.ts')

function scriptOf({ environment }: MessagesRig, timeoutMs?: number): MessagesScript {
  const osascriptPath = environment['HOOKLINE_MAC_OSASCRIPT'] ?? ''
  if (timeoutMs === undefined) return new MessagesScript({ run, clock: systemClock, osascriptPath })
  return new MessagesScript({
    run: (asked, signal) => run({ ...asked, timeoutMs }, signal),
    clock: systemClock,
    osascriptPath,
  })
}

function tool(messages: MessagesRig, name: string, args: readonly string[]): Promise<ProcessEnd> {
  return run(order(messages.environment[`HOOKLINE_MAC_${name}`] ?? '', args), NEVER)
}

function order(path: string, args: readonly string[]) {
  return { path, args, timeoutMs: 10_000, killAfterMs: 12_000 }
}

function flagsIn({ chatDbPath }: MessagesRig): readonly unknown[] {
  using db = new Database(chatDbPath, { readonly: true })
  return db.query('SELECT is_from_me, is_sent FROM message').values()
}

function countIn(db: Database): unknown {
  return db.query('SELECT count(*) FROM message').values()[0]?.[0]
}
