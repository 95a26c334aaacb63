import type { Access } from '../../src/access/access.ts'
import type { SessionKeys } from '../../src/access/sessions.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { TEST_START } from '../support/test-clock.ts'

const never = () => Promise.reject(new Error('nobody is signed in'))

/** A dashboard whose password is set, and that nobody is signed in to. */
export const NOBODY_SIGNED_IN: Access = {
  hasPassword: () => true,
  setupStep: () => null,
  saveSetupStep: never,
  createSetupToken: () => {
    throw new Error('unused')
  },
  setUp: never,
  signIn: never,
  elevate: never,
  changePassword: never,
  signOut: never,
  signOutEverywhere: never,
  sessions: {
    find: () => null,
    list: () => [],
    isOpen: () => false,
    endOf: () => AbortSignal.abort(),
    keep: never,
  },
  applyLockedPassword: never,
}

const TOKEN = 'a'.repeat(43)
const PAGE_KEY = 'b'.repeat(43)
const SESSION = {
  tokenSha256: new Uint8Array(32),
  elevatedUntil: timestamp(TEST_START + 3_600_000),
  isStale: false,
}

function isRight({ token, pageKey }: SessionKeys): boolean {
  return token === TOKEN && pageKey === PAGE_KEY
}

/** A dashboard that one browser is signed in to. */
export const SIGNED_IN: Access = {
  ...NOBODY_SIGNED_IN,
  sessions: {
    ...NOBODY_SIGNED_IN.sessions,
    find: (keys) => (isRight(keys) ? SESSION : null),
    isOpen: () => true,
    endOf: () => new AbortController().signal,
  },
}

/** The same with a session that was not seen for an hour, and `keep` when it is used. */
export function signedInLongAgo(keep: () => Promise<void>): Access {
  const find = (keys: SessionKeys) => (isRight(keys) ? { ...SESSION, isStale: true } : null)
  return { ...SIGNED_IN, sessions: { ...SIGNED_IN.sessions, find, keep } }
}

/** The headers of that browser. */
export const BROWSER = {
  cookie: `hookline_session=${TOKEN}`,
  'x-hookline-page-key': PAGE_KEY,
  'sec-fetch-site': 'same-origin',
} as const
