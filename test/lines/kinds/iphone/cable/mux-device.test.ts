import { expect, test } from 'bun:test'

import { Usbmux } from '../../../../../src/lines/kinds/iphone/cable/usbmux.ts'
import { normalUdid } from '../../../../../src/lines/kinds/iphone/udid.ts'
import { frame } from '../../../../support/iphone/fake-mux.ts'
import { MuxRig, UDID } from '../../../../support/iphone/fake-phones.ts'
import { TestClock } from '../../../../support/test-clock.ts'

const NEVER = new AbortController().signal

test('a UDID is the same with and without its dash, in capitals and without', () => {
  const old = '0123456789abcdef0123456789abcdef01234567'
  const written = [UDID, UDID.replace('-', ''), UDID.toLowerCase(), old.toUpperCase(), old, 'other']

  expect(written.map(normalUdid)).toEqual([UDID, UDID, UDID, old, old, 'other'])
})

test('a device list leaves out what does not say which phone it is', async () => {
  await using rig = await MuxRig.start()
  const entries = [
    { MessageType: 'Attached', DeviceID: 1, Properties: { ConnectionType: 'USB' } },
    { MessageType: 'Attached', Properties: { SerialNumber: UDID } },
    { MessageType: 'Attached', DeviceID: 3, Properties: { SerialNumber: 'x'.repeat(65) } },
    {
      MessageType: 'Attached',
      DeviceID: 4,
      Properties: { SerialNumber: UDID, ConnectionType: 'Network' },
    },
    'nonsense',
  ]
  rig.mux.onRequest = (_, tag) => frame(tag, { DeviceList: entries })

  const devices = await new Usbmux(rig.mux.address, new TestClock()).listDevices(NEVER)

  expect(devices).toEqual([{ udid: UDID, serial: UDID, deviceId: 4, transport: 'network' }])
})
