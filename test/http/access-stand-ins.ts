import type { Access } from '../../src/access/access.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { TEST_START } from '../support/test-clock.ts'

const never = () => Promise.reject(new Error('nobody is signed in'))

/** A dashboard whose password is set, and to which no cookie opens. */
export const NOBODY_SIGNED_IN: Access = {
  isClaimed: () => true,
  setupStep: () => null,
  saveSetupStep: never,
  createSetupToken: () => {
    throw new Error('unused')
  },
  claim: never,
  logIn: never,
  elevate: never,
  changePassword: never,
  logOut: never,
  logOutEverywhere: never,
  sessions: { find: () => null, list: () => [], endOf: () => AbortSignal.abort(), keep: never },
  begin: never,
}

const TOKEN = 'a'.repeat(43)
const SESSION = {
  tokenSha256: new Uint8Array(32),
  elevatedUntil: timestamp(TEST_START + 3_600_000),
  isStale: false,
}

/** A dashboard to which one cookie opens. */
export const SIGNED_IN: Access = {
  ...NOBODY_SIGNED_IN,
  sessions: {
    ...NOBODY_SIGNED_IN.sessions,
    find: (token) => (token === TOKEN ? SESSION : null),
    endOf: () => new AbortController().signal,
  },
}

/** The same with a session that was not seen for an hour, and `keep` when it is used. */
export function signedInLongAgo(keep: () => Promise<void>): Access {
  const find = (token: string) => (token === TOKEN ? { ...SESSION, isStale: true } : null)
  return { ...SIGNED_IN, sessions: { ...SIGNED_IN.sessions, find, keep } }
}

/** The headers of that browser. */
export const BROWSER = {
  cookie: `hookline_session=${TOKEN}`,
  'sec-fetch-site': 'same-origin',
} as const
