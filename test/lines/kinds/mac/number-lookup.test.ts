// How often it is asked which number a Mac sends as, and whether it may be read.

import { expect, test } from 'bun:test'

import { ChatDb, ChatDbError } from '../../../../src/lines/kinds/mac/chat-db.ts'
import { NumberLookup } from '../../../../src/lines/kinds/mac/number-lookup.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { testHost } from '../../../support/kind-host.ts'
import { ChatDbFile } from '../../../support/mac/chat-db-file.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const NUMBER = '+15550009999'
const ANOTHER = '+15550008888'

class LookupRig implements Disposable {
  readonly clock = new TestClock()
  readonly lookup: NumberLookup
  isAllowed = true
  /** How often the database was opened, and how often a child was asked to read it. */
  opened = 0
  probed = 0
  readonly restarts: string[] = []
  readonly #folder = new ScratchFolder()
  readonly #file: ChatDbFile

  constructor() {
    const path = this.#folder.file('chat.db')
    this.#file = ChatDbFile.create(path, 'macos26a')
    const host = testHost({
      clock: this.clock,
      run: async () => {
        this.probed += 1
        return { end: 'exited', exitCode: 1, stdout: '', stderr: '' }
      },
      restart: (why) => void this.restarts.push(why),
    })
    const open = () => {
      this.opened += 1
      if (this.isAllowed) return ChatDb.open(path)
      throw new ChatDbError('denied', new Error('authorization denied'))
    }
    this.lookup = new NumberLookup(host, { path, open }, null)
  }

  write(from: string, count: number): void {
    for (let i = 0; i < count; i += 1) {
      const own = { to: FRIEND, text: 'hello', destination_caller_id: from }
      writeOwn(this.#file, { ...own, at: TEST_START })
    }
  }

  async number(): Promise<string | null> {
    return this.lookup.number(NEVER)
  }

  /** Asks once a second for `seconds`, as nobody does. */
  async askFor(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i += 1) {
      await this.number()
      await this.clock.advance(1_000)
    }
  }

  [Symbol.dispose](): void {
    this.#file.close()
    this.#folder[Symbol.dispose]()
  }
}

test('a number that was clear once stays, also where the last messages are of several', async () => {
  using rig = new LookupRig()
  rig.write(NUMBER, 4)
  const clear = await rig.number()

  rig.write(ANOTHER, 4)
  await rig.clock.advance(60_000)
  const mixed = await rig.number()
  rig.write(ANOTHER, 20)
  await rig.clock.advance(60_000)

  expect([clear, mixed, await rig.number()]).toEqual([NUMBER, NUMBER, ANOTHER])
})

test('the history is looked at once a minute, and every 15 seconds while it cannot be read', async () => {
  using rig = new LookupRig()

  await rig.askFor(120)
  const allowed = rig.opened
  rig.isAllowed = false
  await rig.askFor(61)
  const probed = rig.probed

  expect(allowed).toBe(2)
  expect([rig.opened - allowed, probed]).toEqual([5, 5])
  expect(rig.restarts).toEqual([])
})

test('a number that cannot be read is not called unknown: something else is wrong', async () => {
  using rig = new LookupRig()
  await rig.number()
  const empty = rig.lookup.isUnknown

  rig.isAllowed = false
  await rig.clock.advance(60_000)
  await rig.number()

  expect([empty, rig.lookup.isUnknown, rig.lookup.trouble]).toEqual([
    true,
    false,
    'full_disk_access',
  ])
})
