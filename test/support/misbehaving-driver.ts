// A driver that breaks the seam in every way that the line supervisor must survive. Without a script
// it behaves: one device, online while it runs, and every message is accepted.

import type { Finding } from '../../src/domain/finding.ts'
import type {
  DriverLine,
  Found,
  LineDriver,
  LineEvent,
  LineListener,
  LineSession,
} from '../../src/lines/driver.ts'
import { TEXTS_ONLY, type SendScript } from './scripted-driver.ts'

/** One call of `run`, as the driver sees it. */
export type Visit = {
  readonly line: DriverLine
  readonly listener: LineListener
  readonly signal: AbortSignal
}

export type Send = SendScript

export const CAPABILITIES = TEXTS_ONLY

export class MisbehavingDriver implements LineDriver {
  readonly kind: string
  readonly visits: Visit[] = []
  discoveries = 0
  found: readonly Found[]
  discovering: (signal: AbortSignal) => Promise<readonly Found[]> = async () => this.found
  attending: (visit: Visit) => Promise<void> = (visit) => this.stayOnline(visit)
  checking: () => Promise<readonly Finding[]> = async () => []
  sending: Send = accept
  knowing: () => Promise<boolean> = async () => false
  capacity = 2

  constructor(kind: string = 'mac', found: readonly Found[] = [DEVICE]) {
    this.kind = kind
    this.found = found
  }

  discover(signal: AbortSignal): Promise<readonly Found[]> {
    this.discoveries += 1
    return this.discovering(signal)
  }

  checkup(): Promise<readonly Finding[]> {
    return this.checking()
  }

  run(line: DriverLine, listener: LineListener, signal: AbortSignal): Promise<void> {
    const visit = { line, listener, signal }
    this.visits.push(visit)
    return this.attending(visit)
  }

  /** The newest call of `run`. */
  visit(): Visit {
    const visit = this.visits.at(-1)
    if (visit === undefined) throw new Error('No line has run.')
    return visit
  }

  async stayOnline(visit: Visit): Promise<void> {
    await visit.listener.onEvent(this.online(visit.line.number))
    await untilAborted(visit.signal)
  }

  online(number: string): LineEvent {
    const session: LineSession = {
      capacity: this.capacity,
      knows: () => this.knowing(),
      send: (...order) => this.sending(...order),
    }
    return { type: 'online', session, number, imessageActive: true, capabilities: TEXTS_ONLY }
  }
}

export const DEVICE: Found = { key: 'device-1', number: '+12025550111' }

export const accept: Send = async (message, pointOfNoReturn) => {
  const isGranted = await pointOfNoReturn('note')
  if (isGranted) return { outcome: 'accepted', guid: `guid of ${message.text}` }
  return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
}

export const throwBeforeAsking: Send = async () => {
  throw new Error('no account')
}

export const throwAtOnce: Send = () => {
  throw new Error('not even a promise')
}

export const throwAfterGrant: Send = async (_message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  throw new Error('the tool crashed')
}

/** Asks, does not wait for the answer, and throws. */
export const throwWhileAsking: Send = async (_message, pointOfNoReturn) => {
  void pointOfNoReturn('note')
  throw new Error('impatient')
}

export const withdrawAfterGrant: Send = async (_message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
}

export const neverAnswer: Send = async (_message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  return new Promise(() => {})
}

export const neverAsk: Send = () => new Promise(() => {})

/** Answers when the test says so, and does not care whether its session lives. */
export function answerOnDemand(): { readonly send: Send; readonly answer: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const send: Send = async (message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    await promise
    return { outcome: 'accepted', guid: `guid of ${message.text}` }
  }
  return { send, answer: resolve }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
