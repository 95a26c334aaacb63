// Lets a history happen, move by move.

import { NEVER } from '../../../src/system/clock.ts'
import { binaryPropertyList } from '../../support/iphone/binary-plist-writer.ts'
import { encodeAttributedBody } from '../../support/mac/attributed-body-encoder.ts'
import { DELAYS, delayedBy, fateOf, isFate } from '../../support/mac/messages-behaviours.ts'
import { OWN_NUMBER } from '../../support/mac/trace-steps.ts'
import type { Json } from '../../support/test-relay.ts'
import {
  keywordsOf,
  type Letter,
  type Move,
  type Other,
  type Past,
  type Run,
  type Send,
  type Trouble,
} from './history.ts'
import { chatsOf, DESK, groupChat, OWNER, withRow, writeLetter, writeOwn } from './rows.ts'
import { MacWorld } from './world.ts'

export type Answered = { readonly status: number; readonly body: Json }

/** What is left to look at when a history is over. */
export type Lived = {
  readonly world: MacWorld
  /** What the API said to each send, by its text. */
  readonly answers: ReadonlyMap<string, Answered>
  /** How often a text really went out. */
  readonly carried: (text: string) => number
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Until nothing is incomplete any more, and nothing unsettled. */
const END_MS = 700_000
/** Four months. */
const LONG_AGO_MS = 120 * DAY_MS
const OUTAGE_MS = 20 * MINUTE_MS
const NIGHT_MS = 8 * HOUR_MS
const QUIET_MS = 80_000
const RECONNECTED_MS = 40_000
const EVENT_TIMEOUT_MS = 25_000
const SLOW_FILE_MS = 70_000
const FAILED_LATER_MS = 2_000
const PROVEN = 3
const STRANGER = '+14155559876'
const DONE = { exitCode: 0, stdout: 'done\t0\t\n', stderr: '' }
const TIMED_OUT = { exitCode: 0, stdout: 'send\t-1712\t\n', stderr: '' }

/** Lets a run happen from its first row to the end of all waits. */
export async function perform(run: Run): Promise<Lived> {
  const stage = new Stage(new MacWorld(run.schema), run)
  await stage.begin()
  for (const move of run.moves) await stage.take(move)
  return stage.end()
}

class Stage {
  readonly #world: MacWorld
  readonly #run: Run
  readonly #answers = new Map<string, Answered>()
  readonly #carried: string[] = []
  /** The time of the history, in which long troubles do not count. */
  #passedMs = 0

  constructor(world: MacWorld, run: Run) {
    this.#world = world
    this.#run = run
  }

  async begin(): Promise<void> {
    const world = this.#world
    const { file, clock } = world
    for (let i = 0; i < PROVEN; i += 1) {
      const to = `+1415555${9_000 + i}`
      for (const destination_caller_id of [OWN_NUMBER, OWNER]) {
        writeOwn(world, { to, destination_caller_id, text: 'before', at: clock.now() - DAY_MS })
      }
      const values = { destination_caller_id: DESK }
      file.receive({ from: to, text: 'before', at: clock.now() - DAY_MS, values })
    }
    for (const past of this.#run.past) this.#writePast(past)
    await world.start()
  }

  async take(move: Move): Promise<void> {
    const world = this.#world
    await world.pass(Math.max(0, move.at - this.#passedMs))
    this.#passedMs = Math.max(this.#passedMs, move.at)
    switch (move.kind) {
      case 'letter':
        // What came during a trouble is written at its end, if there is that trouble.
        return this.#troubleOf(move) === undefined ? writeLetter(world, move) : undefined
      case 'send':
        return this.#send(move)
      case 'other':
        return this.#other(move)
      case 'trouble':
        return this.#trouble(move)
    }
  }

  async end(): Promise<Lived> {
    const world = this.#world
    await world.pass(world.plannedMs + END_MS)
    const carried = (text: string) =>
      world.model.carried(text) + this.#carried.filter((one) => one === text).length
    return { world, answers: this.#answers, carried }
  }

  #troubleOf({ during }: Letter): Trouble | undefined {
    return this.#run.moves.find(
      (move): move is Trouble => move.kind === 'trouble' && move.number === during,
    )
  }

  #writePast({ what, person: { handle } }: Past): void {
    const { file, clock } = this.#world
    if (what === 'former number') {
      for (let i = 0; i < PROVEN; i += 1) {
        const at = clock.now() - LONG_AGO_MS + i
        writeOwn(this.#world, { to: STRANGER, destination_caller_id: handle, text: 'old', at })
      }
      return
    }
    const chat = file.addChat({ identifier: handle, lastAddressedHandle: handle })
    writeOwn(this.#world, {
      to: handle,
      chat,
      destination_caller_id: null,
      text: 'from iCloud',
      at: clock.now() - DAY_MS,
    })
  }

  /** What a person said so far has been heard, unless it is lost. */
  async #isHeard({ person: { handle }, at }: Send): Promise<void> {
    const said = keywordsOf(this.#run, handle, at).length
    const sql = `SELECT count(*) AS count FROM messages m JOIN conversations c ON c.seq = m.conversation_seq
      WHERE m.text IN ('STOP', 'START') AND c.handle = $handle`
    if (said > 0) await this.#world.until(() => this.#world.count(sql, { handle }) >= said)
  }

  async #send(send: Send): Promise<void> {
    const { person, text, fate, copies } = send
    const { model, relay } = this.#world
    await this.#isHeard(send)
    const files = fate === 'slow file' ? await this.#upload(text) : {}
    if (isFate(fate)) for (const spelling of person.spellings) model.behave(spelling, fate)
    else this.#plan({ person, text, fate })
    const asked = { to: person.handle, text, ...files }
    const { status, body } = await relay.send(asked, { Prefer: 'respond-async' })
    this.#answers.set(text, { status, body })
    for (const { afterMs } of copies) this.#world.later(afterMs, () => this.#copy(text))
  }

  /** iCloud writes the row of a send again, without a handle, if there is one. */
  #copy(text: string): void {
    const { file } = this.#world
    const sql = `SELECT CAST(m.date AS TEXT) AS date, j.chat_id AS chat FROM message m
      JOIN chat_message_join j ON j.message_id = m.ROWID
      WHERE m.is_from_me = 1 AND m.attributedBody = $body AND m.error = 0 LIMIT 1`
    type Found = { readonly date: string; readonly chat: number }
    const body = encodeAttributedBody(text)
    const found = file.db.query<Found, [{ body: Uint8Array }]>(sql).get({ body })
    if (found === null) return
    const own = { is_from_me: 1, is_sent: 1, is_delivered: 1, handle_id: 0 }
    file.db.transaction(() => {
      const { rowId } = file.addMessage({ at: 0, ...own, text, date: BigInt(found.date) })
      file.joinChat(rowId, found.chat)
    })()
  }

  async #upload(text: string): Promise<Readonly<Record<string, unknown>>> {
    const path = `/api/v1/attachments?filename=${encodeURIComponent(fileOf(text))}`
    const { fetch, credentials } = this.#world.relay
    const answer = await fetch(path, { method: 'POST', headers: credentials, body: text })
    const { id } = (await answer.json()) as { readonly id: string } // As the API documents it.
    return { attachments: [{ id }] }
  }

  /** What Messages writes of a send, if the send takes none of its usual ways. */
  #plan({ person, text, fate }: Pick<Send, 'person' | 'text' | 'fate'>): void {
    const { model } = this.#world
    if (fate !== 'slow file') {
      model.plans.set(text, async (clock) => {
        await clock.sleep(DELAYS.scriptMs, NEVER)
        clock.after(DELAYS.rowMs, () => this.#writeOdd({ person, text, fate }))
        return DONE
      })
      return
    }
    model.plans.set(fileOf(text), async (clock) => {
      await clock.sleep(EVENT_TIMEOUT_MS, NEVER)
      const letter = { from: OWN_NUMBER, to: person.handle, text: '\uFFFC', file: fileOf(text) }
      const steps = fateOf('happy', letter, delayedBy(SLOW_FILE_MS, DELAYS))
      void model.play(steps.flatMap((step) => (step.op === 'carry' ? [] : [step])))
      return TIMED_OUT
    })
  }

  #writeOdd({ person, text, fate }: Pick<Send, 'person' | 'text' | 'fate'>): void {
    const world = this.#world
    const { file, clock } = world
    const to = fate === 'somebody else' ? STRANGER : person.handle
    const place = fate === 'late error' || fate === 'somebody else' ? 'chat' : fate
    const own = { is_from_me: 1, is_sent: 1, is_delivered: 0, is_finished: 1 }
    const guid = file.db.transaction(() => {
      const values = { ...own, text, destination_caller_id: OWN_NUMBER, at: clock.now() }
      const written = file.addMessage({ ...values, handle_id: file.addHandle(to) })
      const named = { place: place as 'chat', spelling: to } // The others name no chat.
      for (const chat of chatsOf(world, person, named)) file.joinChat(written.rowId, chat)
      return written.guid
    })()
    const update = (ms: number, values: Parameters<typeof file.set>[1]) =>
      world.later(ms, () => withRow(world, guid, (row) => world.file.set(row, values)))
    if (fate === 'late error') return update(FAILED_LATER_MS, { error: 22, is_sent: 0 })
    this.#carried.push(text)
    const date_delivered = file.date(clock.now() + DELAYS.deliveredMs)
    return update(DELAYS.deliveredMs, { is_delivered: 1, date_delivered })
  }

  #other(move: Other): void {
    const world = this.#world
    const { file, clock } = world
    const { person, text, group, what } = move
    const [spelling = person.handle] = person.spellings
    switch (what) {
      case 'edit of nothing':
      case 'edit row':
        return this.#edit(move, spelling)
      case 'renames':
        return this.#rename(move)
      case 'back-fill':
        return this.#backFill(move, spelling)
      case 'many without date':
        file.db.transaction(() => {
          for (let i = 0; i < move.count; i += 1) {
            file.receive({ from: spelling, text, at: clock.now(), values: { date: 0 } })
          }
        })()
        return
      case 'self chat':
        return this.#selfChat(text, OWN_NUMBER, OWN_NUMBER)
      case 'capitals':
        return this.#selfChat(text, OWNER, OWNER.toLowerCase())
      case 'receive only':
        return this.#selfChat(text, DESK, DESK)
      case 'echo in a group': {
        if (group === null) return
        const chat = groupChat(world, group)
        file.receive({ from: OWN_NUMBER, text, at: clock.now(), chat })
      }
    }
  }

  /** What the owner writes to themselves comes twice: as sent, and as received. */
  #selfChat(text: string, to: string, from: string): void {
    const { file, clock } = this.#world
    writeOwn(this.#world, { to, text })
    this.#world.later(SECOND_MS, () => {
      const values = { destination_caller_id: OWN_NUMBER }
      file.receive({ from, text, at: clock.now(), chat: file.directChat(to), values })
    })
  }

  #edit({ text, what }: Other, from: string): void {
    const world = this.#world
    const { file, clock } = world
    const { guid } = file.receive({ from, text, at: clock.now() })
    world.later(3 * SECOND_MS, () => {
      const date_edited = file.date(clock.now())
      const set = (values: Parameters<typeof file.set>[1]) =>
        withRow(world, guid, (row) => world.file.set(row, { date_edited, ...values }))
      if (what === 'edit of nothing') return set({})
      const d = clock.now() / SECOND_MS - 978_307_200
      const ec = { '0': [text, edited(text)].map((t) => ({ d, t: encodeAttributedBody(t) })) }
      const summary = binaryPropertyList({ ec, ep: [0], otr: { '0': { lo: 0, le: 5 } } })
      set({ text: edited(text), message_summary_info: new Uint8Array(summary) })
    })
    if (what === 'edit of nothing') return
    const row = `Edited to “${edited(text)}”`
    world.later(4 * SECOND_MS, () => void file.receive({ from, text: row, at: clock.now() }))
  }

  /** Each device of the owner writes the same change. */
  #rename({ group, person, text }: Other): void {
    if (group === null) return
    const { file, clock } = this.#world
    const chat = groupChat(this.#world, group)
    const values = { item_type: 2, group_title: text, attributedBody: null }
    const from = group.members.at(-1)?.handle ?? person.handle
    for (let i = 0; i < 3; i += 1) file.receive({ from, text: '', at: clock.now(), chat, values })
  }

  #backFill({ text, count }: Other, from: string): void {
    const { file, clock } = this.#world
    const at = clock.now() - 700 * DAY_MS
    file.db.transaction(() => {
      for (let i = 0; i < count; i += 1) {
        const values = { service: 'SMS' }
        file.receive({ from, text: `${text}, ${i}`, at: at + i * MINUTE_MS, values })
      }
    })()
  }

  async #trouble(trouble: Trouble): Promise<void> {
    const world = this.#world
    const { clock, model } = world
    const letters = this.#run.moves.filter(
      (move): move is Letter => move.kind === 'letter' && move.during === trouble.number,
    )
    const write = (ageMs: number) => {
      for (const [index, letter] of letters.entries()) {
        writeLetter(world, letter, (ageMs * (index + 1)) / (letters.length + 1))
      }
    }
    switch (trouble.what) {
      case 'crash':
        await world.crash()
        return
      case 'line off':
        await world.setLine({ is_enabled: false })
        await world.pass(5 * SECOND_MS)
        return world.setLine({ is_enabled: true })
      case 'outage':
        model.account.exists = false
        await world.pass(OUTAGE_MS)
        model.account.exists = true
        await world.pass(RECONNECTED_MS)
        return write(OUTAGE_MS)
      case 'sleep':
        clock.doze(NIGHT_MS)
        await world.pass(3 * SECOND_MS)
        return write(NIGHT_MS)
      case 'stopped':
        await world.stop()
        clock.step(NIGHT_MS)
        write(NIGHT_MS)
        return world.start()
      case 'rebuilt':
        await world.pass(QUIET_MS)
        model.replace({
          keep: 1_000_000,
          order: trouble.at % 2 === 0 ? 'oldest_first' : 'newest_first',
          into: 'new_file',
        })
        return write(0)
    }
  }
}

export function edited(text: string): string {
  return `${text}, corrected`
}

function fileOf(text: string): string {
  return `${text.replaceAll(' ', '-')}.txt`
}
