// How the stages of the script end, for each way in which a send can go.

import { isFate, type Delays, type Fate, type Stage } from './messages-behaviours.ts'

export type Behaviour =
  | Fate
  /** The script never answers, and nothing of it ever happens (imsg). */
  | 'hang'
  /** The script never answers, is killed, and the message leaves all the same: a kill retracts nothing. */
  | 'hang_then_deliver_late'
  /** The Apple event times out (-1712) although Messages acts on it. */
  | 'timeout_yet_sent'
  /** The Apple event takes two minutes, and the row comes while it does (hermes-agent, of files). */
  | 'slow_event'
  /** The same, and its row appears more than a minute after the script has ended. */
  | 'timeout_yet_sent_late'
  /** The chat's guid is not among the app's live ones (imsg on 26.5.2); the participant is found. */
  | 'resolve_not_found_chat'
  /** Neither way finds the recipient. */
  | 'resolve_not_found_all'
  | Refusal

/** The script reports this number at this stage, and nothing else happens. */
export type Refusal = { readonly refused: Stage; readonly number: number }

/** The numbers with which the stages end; 0 goes on. */
export type Course = {
  readonly account: number
  readonly chat: number
  readonly participant: number
  readonly send: number | 'hang'
  readonly sendTakesMs: number
  /** What becomes of the message once the send stage is reached, and how much later than usual. */
  readonly fate: Fate | null
  readonly fateAfterMs: number
}

/** How long the script lets each Apple event take. */
export const EVENT_TIMEOUT_MS = 25_000
export const TIMED_OUT = -1712
const SLOW_EVENT_MS = 120_000
const LATE_MS = 95_000
export const NOT_FOUND = -1728

const FREE: Course = {
  account: 0,
  chat: 0,
  participant: 0,
  send: 0,
  sendTakesMs: 0,
  fate: null,
  fateAfterMs: 0,
}

export function refused(stage: Stage, number: number): Refusal {
  return { refused: stage, number }
}

export function courseOf(behaviour: Behaviour, { lateMs }: Delays): Course {
  if (typeof behaviour !== 'string') return refusalCourse(behaviour)
  if (isFate(behaviour)) return { ...FREE, fate: behaviour }
  switch (behaviour) {
    case 'hang':
      return { ...FREE, send: 'hang' }
    case 'hang_then_deliver_late':
      return { ...FREE, send: 'hang', fate: 'happy', fateAfterMs: lateMs }
    case 'timeout_yet_sent':
      return { ...FREE, send: TIMED_OUT, sendTakesMs: EVENT_TIMEOUT_MS, fate: 'happy' }
    case 'timeout_yet_sent_late':
      return {
        ...FREE,
        send: TIMED_OUT,
        sendTakesMs: EVENT_TIMEOUT_MS,
        fate: 'happy',
        fateAfterMs: LATE_MS,
      }
    case 'slow_event':
      return { ...FREE, sendTakesMs: SLOW_EVENT_MS, fate: 'happy', fateAfterMs: SLOW_EVENT_MS / 2 }
    case 'resolve_not_found_chat':
      return { ...FREE, chat: NOT_FOUND, fate: 'happy' }
    case 'resolve_not_found_all':
      return { ...FREE, chat: NOT_FOUND, participant: NOT_FOUND }
  }
}

function refusalCourse({ refused: stage, number }: Refusal): Course {
  switch (stage) {
    case 'account':
      return { ...FREE, account: number }
    case 'resolve':
      return { ...FREE, chat: number, participant: number }
    case 'send':
      return { ...FREE, send: number }
  }
}
