// What stands in for bridges behind the HTTP module.

import type { BridgeId } from '../../src/domain/ids.ts'
import type { HttpTools } from '../../src/http/server.ts'

const CREATED_AT = '2026-11-21T10:00:00.000Z'

export const BRIDGE = {
  id: 'brg_01k5c3qv7yfxn8t2w9r4d6m0ab',
  phone_number: '+12025550147',
  label: null,
  token_hint: 'hlb_abcdef',
  created_by: 'cli',
  created_at: CREATED_AT,
  token_created_at: CREATED_AT,
  last_heard_at: null,
  revoked_at: null,
} as const
export const BRIDGE_TOKEN = `hlb_${'a'.repeat(43)}`

type Told = <T>(name: string, answer: T) => (...args: readonly unknown[]) => T

/** Answers that fit; every one notes by `told` that it was asked. */
export function bridgeStandIns(told: Told): Pick<HttpTools, 'bridges' | 'bridge'> {
  const later = <T>(name: string, answer: T) => told(name, Promise.resolve(answer))
  return {
    bridges: {
      create: later('bridges.create', { ...BRIDGE, token: 'hlb_new' }),
      list: told('bridges.list', { data: [BRIDGE], has_more: false, next_cursor: null }),
      renewToken: later('bridges.renewToken', { id: BRIDGE.id, token: 'hlb_newer' }),
      remove: later('bridges.remove', undefined),
      // The stand-in's one bridge.
      ofToken: (token) => (token === BRIDGE_TOKEN ? (BRIDGE.id as BridgeId) : null),
      noteCall: told('bridges.noteCall', undefined),
    },
    bridge: {
      receive: later('bridge.receive', 'stored' as const),
      next: later('bridge.next', { answer: 'nothing' as const }),
      done: later('bridge.done', 'noted' as const),
    },
  }
}
