// A relay on scripted devices, and a person who texts to them: for the stories of opt-outs.

import { deviceHandle } from '../../src/domain/handle.ts'
import { asOwner } from '../support/control-socket.ts'
import { guidOf, ScriptedDriver, type ScriptedDevice } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

export const ANNA = '+12025550701'
export const BOB = '+12025550702'
export const OPT_OUTS = '/api/v1/opt-outs'
export const pathOf = (handle: string) => `${OPT_OUTS}/${encodeURIComponent(handle)}`

/** A relay with lines of these numbers, all on one driver. */
export async function openRelay(numbers = ['+12025550801']) {
  const driver = new ScriptedDriver()
  const devices = numbers.map((number) => driver.add(number))
  const relay = await startRelay({ drivers: [driver] })
  return { ...relay, devices, device: devices[0] as ScriptedDevice }
}

let texts = 0

/** Anna, or someone else, texts to the device of a relay. */
export function text(
  { device }: { readonly device: ScriptedDevice },
  words: string,
  more: Json = {},
): Promise<void> {
  texts += 1
  const handle = deviceHandle(ANNA)
  return device.receive({ guid: guidOf(70_000 + texts), handle, text: words, ...more })
}

export const hello = (relay: TestRelay, more: Json = {}) =>
  relay.send({ to: ANNA, text: 'hello', ...more })

export const set = (relay: Pick<TestRelay, 'app'>, value: string) =>
  asOwner(relay, 'PUT', '/settings/opt_out', { body: { value } })
