// A box whose owner is a stranger: it has a right to its own name on the link, and says there what it likes.

import { type Link, SUBJECTS } from '../../src/boxes/link.ts'
import type { BoxId, LineId } from '../../src/domain/ids.ts'
import type { LineEvent } from '../../src/lines/driver.ts'
import type { BoxRig } from '../support/box-rig.ts'

const HOSTILE = 'box_00000000000000000000000066' as BoxId // Well-formed.
const BOOT = 'hostile'
const ASK_MS = 1_000

type Json = { readonly [name: string]: unknown }

export class HostileBox {
  readonly id = HOSTILE
  readonly #rig: BoxRig
  readonly #link: Link
  /** Sessions that the head has started on it. */
  readonly sessions: string[] = []
  /** What it answers to a question for a piece of a file. */
  file: (request: Json) => Json = () => ({ isMissing: true })
  /** Number of those questions. */
  filesAsked = 0

  constructor(rig: BoxRig) {
    this.#rig = rig
    rig.others.set(HOSTILE, { removedAt: null })
    this.#link = rig.network.link()
    this.#link.serve(SUBJECTS.to(HOSTILE, BOOT), async (json) => {
      const request = JSON.parse(json)
      return JSON.stringify(this.#answer(request))
    })
  }

  #answer(request: Json): Json {
    switch (request['op']) {
      case 'run':
        this.sessions.push(String(request['session']))
        return { isRunning: true }
      case 'end':
        return { records: [] }
      case 'received_file':
        this.filesAsked += 1
        return this.file(request)
      default:
        return {}
    }
  }

  /** The head's answer to a hello; null if it gives none. */
  hello(more: Json = {}): Promise<Json | null> {
    return this.#ask(SUBJECTS.hello(HOSTILE), {
      op: 'hello',
      protocol: 1,
      version: '1.4.0',
      platform: 'darwin',
      boot: BOOT,
      fence: 0,
      sessions: [],
      kinds: ['mac'],
      devices: [],
      health: {},
      ...more,
    })
  }

  /** Runs of lines on it that the head begins, by their keys; returns the events that the relay takes. */
  async run(key: string, signal: AbortSignal): Promise<LineEvent[]> {
    const events: LineEvent[] = []
    const id = 'line_00000000000000000000000066' as LineId // Well-formed.
    const line = { id, key, number: '+12025550166', box: HOSTILE, checkpoint: null }
    const onEvent = async (event: LineEvent) => void events.push(event)
    const whole = { ...line, unsettled: [], open: [] }
    this.#rig
      .joined('mac')
      .run(whole, { onEvent }, signal)
      .catch(() => {})
    await this.#rig.clock.advance(0)
    return events
  }

  /** The head's answer to an item of a session; null if it gives none in time. */
  item(session: string, seq: number, item: Json): Promise<Json | null> {
    const [epoch = ''] = session.split('.')
    const json = JSON.stringify({ op: 'item', session, seq, item })
    return this.#link.ask(SUBJECTS.up(epoch, HOSTILE), json, ASK_MS).then(
      (answer): Json => JSON.parse(answer),
      () => null,
    )
  }

  async #ask(subject: string, request: Json): Promise<Json | null> {
    const json = JSON.stringify(request)
    const asked = this.#link.ask(subject, json, ASK_MS).then(
      (answer): Json => JSON.parse(answer),
      () => null,
    )
    await this.#rig.clock.advance(0)
    const late = Symbol()
    const answer = await Promise.race([asked, Promise.resolve(late)])
    if (answer !== late) return answer
    await this.#rig.clock.advance(ASK_MS)
    return asked
  }
}
