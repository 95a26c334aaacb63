import { deviceHandle } from '../../src/domain/handle.ts'
import { PhoneLineRig } from '../support/iphone/phone-line-rig.ts'
import type { LineRig } from './line-rig.ts'

const UDID = '00008110001A2B3C4D5E001E'
const SENDER = '+12025550166'

/** One iPhone on the cable whose agent another program has started. */
export function makeIphoneRig(): LineRig {
  const rig = new PhoneLineRig([UDID])
  const { phone } = rig.of(UDID)
  phone.readAfterMs = 2_000
  rig.cable.attach(UDID)
  return {
    clock: rig.clock,
    driver: rig.driver(),
    restart: () => rig.driver(),
    recipient: deviceHandle('+12025550155'),
    startMs: 5_000,
    settleMs: 60_000,
    burst: 60,
    provesUnsent: true,
    canBeAsked: true,
    carried: (text) => phone.chats.flatMap(({ key }) => phone.sent(key, text)).length,
    receive: async (text) => void phone.receive(SENDER, text),
    receiveFile: async () => void phone.receive(SENDER, 'Photo'),
    close: () => {},
  }
}
