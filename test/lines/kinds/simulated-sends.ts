import { deviceHandle } from '../../../src/domain/handle.ts'
import type { SendOutcome } from '../../../src/lines/driver.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { messageOf, receiptsOf, type runLine } from '../../contract/line-rig.ts'
import type { SimulatedRig } from '../../contract/simulated-rig.ts'

type LineUnderTest = Awaited<ReturnType<typeof runLine>>

export const grant = async () => true

export function sendTo(
  rig: SimulatedRig,
  line: LineUnderTest,
  to: string,
  text = 'hello',
): Promise<SendOutcome> {
  const message = { ...messageOf(rig, text), to: deviceHandle(to) }
  return line.session().send(message, grant, NEVER)
}

/** Every receipt as `kind +milliseconds` since the send. */
export function timed(line: LineUnderTest, since: number): readonly string[] {
  return receiptsOf(line.events).map(({ kind, at }) => `${kind} +${at - since}`)
}
