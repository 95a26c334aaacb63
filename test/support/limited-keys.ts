// A relay with three lines, and callers with keys that may do less than everything.

import { ScriptedDriver, type ScriptedDevice } from './scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from './test-relay.ts'

export const ANNA = '+12025550701'
export const BOB = '+12025550702'
export const HOUR_MS = 3_600_000

export type Shop = TestRelay & { readonly devices: readonly ScriptedDevice[] }

/** A relay with three lines. */
export async function openShop(options: Parameters<typeof startRelay>[0] = {}): Promise<Shop> {
  const driver = new ScriptedDriver()
  const devices = ['+12025550801', '+12025550802', '+12025550803'].map((each) => driver.add(each))
  return { ...(await startRelay({ ...options, drivers: [driver] })), devices }
}

/** Makes a key, by `maker` if one is given; gives its calls. */
export async function makeKey(
  relay: TestRelay,
  limits: object,
  maker?: { readonly headers: object },
) {
  const { body, status } = await relay.request('POST', '/api/v1/keys', limits, {
    ...maker?.headers,
  })
  const headers = { 'X-API-Key': String(body.key), 'X-API-Secret': String(body.secret) }
  const call = (method: string, path: string, given?: unknown, more: object = {}) =>
    relay.request(method, `/api/v1${path}`, given, { ...headers, ...more })
  return {
    made: body,
    status,
    headers,
    call,
    get: async (path: string): Promise<Json> => (await call('GET', path)).body,
    send: (to: string, more: object = {}) =>
      call('POST', '/messages/send', { to, text: 'hi', ...more }),
  }
}

export const idsOf = async (relay: TestRelay): Promise<string[]> =>
  (await relay.lines()).map(({ id }) => id)
export const idsIn = (list: Json): string[] => list.data.map(({ id }: Json) => id)
export const errorOf = ({ status, body }: { status: number; body: Json }) => [
  status,
  body.error?.code,
  body.error?.details,
]
