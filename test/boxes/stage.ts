// A line of a box as the head runs it, with a scripted device behind the link.

import type { LineId } from '../../src/domain/ids.ts'
import type { DriverLine, LineEvent, LineSession, SendOutcome } from '../../src/lines/driver.ts'
import { NEVER } from '../../src/system/clock.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { BOX, BoxRig } from '../support/box-rig.ts'
import { type ScriptedDevice, ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'

export const NUMBER = '+12025550101'

type Run = Awaited<ReturnType<Stage['run']>>

export class Stage implements Disposable {
  readonly clock = new TestClock()
  readonly rig = new BoxRig(this.clock)
  readonly driver = new ScriptedDriver()
  readonly device: ScriptedDevice = this.driver.add(NUMBER)
  #line: Run | null = null

  /** A stage whose box is heard. */
  static async open(): Promise<Stage> {
    const stage = new Stage()
    stage.device.capacity = 4
    await stage.rig.heardFrom(stage.rig.start([stage.driver]), 'mac')
    return stage
  }

  /** A stage whose line runs. */
  static async running(): Promise<Stage> {
    const stage = await Stage.open()
    stage.#line = await stage.run()
    return stage
  }

  get line(): Run {
    if (this.#line === null) throw new Error('The line does not run.')
    return this.#line
  }

  /** Starts the box's process again, after `kill -9`. */
  async restart(): Promise<void> {
    await this.rig.heardFrom(this.rig.start([this.driver]), 'mac')
  }

  /** The box dies, and comes back to a network that loses nothing. */
  async dieAndReturn(): Promise<void> {
    this.rig.box?.kill()
    this.rig.network.loses = () => false
    await this.restart()
    await this.clock.advance(0)
  }

  /** The network loses the answers whose text has `part`, all of them or the first few. */
  loseAnswers(part: string, count = Infinity): void {
    let lost = 0
    this.rig.network.loses = ({ direction, text }) =>
      direction === 'answer' && text.includes(part) && (lost += 1) <= count
  }

  /** The journal of the box takes no such statement, as on a full disk. */
  fillJournal(what: 'INSERT' | 'UPDATE'): void {
    this.rig.journalDatabase.run(
      `CREATE TRIGGER full BEFORE ${what} ON sends BEGIN SELECT raise(ABORT, 'full'); END`,
    )
  }

  /** Runs the line; `more` are lists of the relay. */
  async run(more: Partial<DriverLine> = {}) {
    const events: LineEvent[] = []
    const gate = { take: async (_event: LineEvent): Promise<void> => {} }
    const controller = new AbortController()
    const line = { checkpoint: null, unsettled: [], open: [], ...more }
    const { key, number } = this.device
    const id = 'line_00000000000000000000000000' as LineId // Well-formed.
    const onEvent = async (event: LineEvent) => {
      events.push(event)
      await gate.take(event)
    }
    const ended = this.rig
      .joined('mac')
      .run({ id, key, number, box: BOX, ...line }, { onEvent }, controller.signal)
      .then(
        () => null,
        (error: unknown) => error,
      )
    await this.clock.advance(0)
    return {
      events,
      gate,
      ended,
      end: () => controller.abort(),
      settled: () => events.filter(({ type }) => type === 'settled'),
      session: (): LineSession => {
        const online = events.findLast((event) => event.type === 'online')
        if (online?.type !== 'online') throw new Error('The line is not online.')
        return online.session
      },
      /** Sends a text, and keeps the note of its grant. */
      send(text: string, grant = async () => true) {
        const notes: (string | null)[] = []
        const result = { outcome: null as SendOutcome | null, notes }
        const pass = (note: string | null) => {
          notes.push(note)
          return grant()
        }
        void this.session()
          .send(messageOf(text), pass, NEVER)
          .then((outcome) => (result.outcome = outcome))
        return result
      },
    }
  }

  [Symbol.dispose](): void {
    this.rig[Symbol.dispose]()
  }
}

/** Its answer to the point of no return was lost, or it could not write its journal. */
export const UNUSED = {
  outcome: 'not_sent',
  reason: 'withdrawn',
  blame: 'line',
  proof: true,
} as const
