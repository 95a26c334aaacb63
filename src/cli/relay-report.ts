// What can be said of the relay that runs: by its socket, and by the lock that it holds.

import { timestamp } from '../domain/ids.ts'
import { isReady } from '../domain/line.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { readInstanceHolder, type Holder } from '../system/instance-lock.ts'
import { isoTime } from '../system/iso-time.ts'
import { rowOf, rowsOf, textOf, type Row } from './answers.ts'
import { NoRelayError } from './command.ts'
import { RefusedError, type ControlClient } from './control-client.ts'

export type Phase = 'starting' | 'judging' | 'running' | 'stopping' | 'safe_mode'

export type RelayReport = {
  readonly phase: Phase
  /** Why, and what to do: in safe mode only. */
  readonly reason: string | null
  readonly version: string | null
  /** Null where it listens on a port that it chose itself. */
  readonly address: string | null
  readonly pid: number | null
  readonly since: string | null
  /** Empty while the relay does not serve. */
  readonly lines: readonly Row[]
  readonly findings: readonly Row[]
}

/** What the relay at `client` says; null where none answers, or not any more. */
export async function reportOf(
  client: ControlClient,
  directory: DataDirectory,
): Promise<RelayReport | null> {
  try {
    const served = await askServed(client)
    const state = served === null ? await phaseOf(client) : RUNNING
    return { ...state, ...placeOf(readInstanceHolder(directory.lock)), ...(served ?? NOT_SERVED) }
  } catch (error) {
    if (error instanceof NoRelayError) return null
    throw error
  }
}

/** To find out what is wrong, devices are asked, for five seconds at most. */
const ASK_MS_MAX = 15_000

type State = Pick<RelayReport, 'phase' | 'reason'>
type Served = Pick<RelayReport, 'version' | 'lines' | 'findings'>

const RUNNING: State = { phase: 'running', reason: null }
const NOT_SERVED: Served = { version: null, lines: [], findings: [] }

function placeOf(holder: Holder | null): Pick<RelayReport, 'address' | 'pid' | 'since'> {
  if (holder === null) return { address: null, pid: null, since: null }
  const { address, pid, since } = holder
  return {
    address: address === null ? null : urlOf(address),
    pid,
    since: isoTime(timestamp(since)),
  }
}

/** Where a relay is that does not serve, or not yet. */
async function phaseOf(client: ControlClient): Promise<State> {
  const alive = rowOf((await client.look('/healthz')).body)
  if (alive['status'] === 'safe_mode') {
    return {
      phase: 'safe_mode',
      reason: `${textOf(alive, 'reason')} ${textOf(alive, 'next_step')}`,
    }
  }
  const { status, body } = await client.look('/readyz')
  if (status === 200) return { phase: 'judging', reason: null }
  const isStopping = textOf(rowOf(rowOf(body)['error']), 'code') === 'stopping'
  return { phase: isStopping ? 'stopping' : 'starting', reason: null }
}

/** What only a relay tells that serves; null where it does not. */
async function askServed(client: ControlClient): Promise<Served | null> {
  try {
    const ask = async (path: string) =>
      (await client.ask('GET', path, { timeoutMs: ASK_MS_MAX })).body
    const lines = rowsOf(await ask('/phone-lines'))
    const findings = rowsOf(await ask('/health'))
    const about = rowOf(await ask('/about'))
    return { version: textOf(about, 'version') || null, lines, findings }
  } catch (error) {
    if (error instanceof RefusedError && error.status === 503) return null
    throw error
  }
}

/** `2 of 3 ready`: a paused line is not, nor is one without iMessage. */
export function countReady(lines: readonly Row[]): string {
  const ready = lines.filter((line) =>
    isReady({
      isEnabled: line['is_enabled'] === true,
      isOnline: textOf(line, 'status') === 'online',
      imessageActive: line['imessage_active'] === true,
    }),
  ).length
  return lines.length === 0 ? 'none yet' : `${ready} of ${lines.length} ready`
}

/** The lock says `host:port`; an IPv6 address stands in brackets in a URL. */
function urlOf(address: string): string {
  const at = address.lastIndexOf(':')
  const host = address.slice(0, at)
  return `http://${host.includes(':') ? `[${host}]` : host}${address.slice(at)}`
}
