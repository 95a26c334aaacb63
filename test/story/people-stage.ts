// A relay of one line, and contacts on it.

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

export async function oneLine(): Promise<TestRelay> {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  return startRelay({ drivers: [driver] })
}

export const put = (relay: TestRelay, handle: string, fields: object) =>
  relay.put(`/api/v1/contacts/${encodeURIComponent(handle)}`, fields)

export const namesIn = (found: Json): string[] => found.data.map((contact: Json) => contact.name)
