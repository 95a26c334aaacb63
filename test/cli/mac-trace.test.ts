// `hookline mac trace` as the owner of a Mac meets it: asked for consent, shown what to do, given a file.
// What stands in the file is in test/lines/kinds/mac.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'

import { hookline as hooklineHere } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import {
  builtExecutable,
  cleanEnvironment,
  hookline,
  type CommandResult,
} from '../support/executable.ts'
import { ChatDbFile } from '../support/mac/chat-db-file.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'

const ANNA = '+12025550123'

test('after a yes it writes a file for its owner alone, until Enter', async () => {
  using rig = new TraceRig()
  rig.type('yes\n')
  await rig.heard('It records.')
  rig.messages.addMessage({ at: TEST_START, text: 'hello', is_from_me: 1 })
  rig.messages.receive({ from: ANNA, text: 'hi', at: TEST_START })
  await rig.wrote('chat_message_join')

  rig.type('\n')
  const { exitCode, stdout, stderr } = await rig.ended()

  const lines = rig.written().trimEnd().split('\n')
  expect(exitCode).toBe(0)
  expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
    ['t', 'op', 'set'],
    ...lines.slice(1, -1).map(() => ['t', 'op', 'table', 'set']),
    // No relay runs that could report its scripts.
    ['t', 'op', 'set'],
  ])
  expect(lines).toHaveLength(7)
  expect(statSync(rig.file).mode & 0o777).toBe(0o600)
  expect(stdout).toBe(
    `1 of 10 messages seen.\nWrote ${rig.file}. Changes: 5; messages of yours: 1.\n`,
  )
  expect(stderr).toContain(rig.messages.path)
  expect(rig.written() + stdout + stderr).not.toContain(ANNA)
  expect(rig.written() + stdout + stderr).not.toContain('hello')
})

test('Ctrl-C ends it as Enter does', async () => {
  using rig = new TraceRig(['--json'])
  rig.type('yes\n')
  await rig.heard('It records.')
  rig.messages.addMessage({ at: TEST_START, text: 'hello', is_from_me: 1 })
  await rig.wrote('attributedBody')

  rig.child.kill('SIGINT')
  const { exitCode, stdout } = await rig.ended()

  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ file: rig.file, changes: 1, own_messages: 1 })
})

test('without a yes nothing is recorded', async () => {
  using rig = new TraceRig()

  rig.type('no\n')
  const { exitCode, stderr } = await rig.ended()

  expect(exitCode).toBe(1)
  expect(stderr).toEndWith('Nothing was recorded.\n')
  expect(existsSync(rig.file)).toBe(false)
})

test('if nobody can be asked, nothing is recorded', async () => {
  using folder = new ScratchFolder()
  using messages = ChatDbFile.create(folder.file('chat.db'), 'macos15')
  const to = folder.file('trace')

  const { exitCode } = await hookline(['mac', 'trace', '--to', to], {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_MAC_CHAT_DB: messages.path,
  })

  expect(exitCode).toBe(1)
  expect(existsSync(to)).toBe(false)
})

test('it writes over no file', async () => {
  using folder = new ScratchFolder()
  using messages = ChatDbFile.create(folder.file('chat.db'), 'macos15')
  const to = folder.file('thesis.txt')
  await Bun.write(to, 'all my work')

  const { exitCode, stderr } = await trace(folder, messages.path, to)

  expect([exitCode, stderr]).toEqual([
    1,
    `hookline: ${to} is there already: name another by --to.\n`,
  ])
  expect(readFileSync(to, 'utf8')).toBe('all my work')
})

test('where the database of Messages is missing or may not be opened, it says so before it asks', async () => {
  using folder = new ScratchFolder()
  const absent = folder.file('chat.db')
  // A file is in the place of the folder: that fails for every user, also where tests run as root.
  await Bun.write(folder.file('Messages'), '')
  const barred = folder.file('Messages/chat.db')

  const runs = [await trace(folder, absent), await trace(folder, barred)]

  expect(runs.map(({ exitCode }) => exitCode)).toEqual([1, 4])
  expect(runs[0]?.stderr).toBe(
    `hookline: There is no ${absent}: nobody has used Messages here so far.\n`,
  )
  expect(runs[1]?.stderr).toStartWith(
    `hookline: ${barred} cannot be read. Give this terminal Full Disk`,
  )
})

/** Runs the command that ends before it asks. */
function trace(folder: ScratchFolder, chatDb: string, to = folder.file('trace')) {
  return hooklineHere(['mac', 'trace', '--to', to], {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_MAC_CHAT_DB: chatDb,
  })
}

/** The command as it runs at a terminal, beside the database of Messages. */
class TraceRig implements Disposable {
  readonly #folder = new ScratchFolder()
  readonly messages = ChatDbFile.create(this.#folder.file('chat.db'), 'macos15')
  readonly file = this.#folder.file('trace.ndjson')
  readonly child
  #stderr = ''
  readonly #heardAll: Promise<void>

  constructor(options: readonly string[] = []) {
    this.child = Bun.spawn([builtExecutable(), 'mac', 'trace', '--to', this.file, ...options], {
      env: cleanEnvironment({
        HOOKLINE_DATA_DIR: this.#folder.path,
        HOOKLINE_MAC_CHAT_DB: this.messages.path,
      }),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.#heardAll = this.#listen()
  }

  type(text: string): void {
    void this.child.stdin.write(text)
    void this.child.stdin.flush()
  }

  /** Resolves when the command has said it on standard error. */
  async heard(words: string): Promise<void> {
    await eventually(words, () => (this.#stderr.includes(words) ? true : null))
  }

  async wrote(words: string): Promise<void> {
    await eventually(words, () => (this.written().includes(words) ? true : null))
  }

  written(): string {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : ''
  }

  async ended(): Promise<CommandResult> {
    const stdout = await new Response(this.child.stdout).text()
    await this.#heardAll
    return { exitCode: await this.child.exited, stdout, stderr: this.#stderr }
  }

  [Symbol.dispose](): void {
    this.child.kill('SIGKILL')
    this.messages.close()
    this.#folder[Symbol.dispose]()
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of this.child.stderr) this.#stderr += decoder.decode(chunk)
  }
}
