// The iPhone that holds the number of a Mac line: what the relay reports of it, and that it only reports. Its
// findings are in number-anchor.test.ts.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { MuxRig, NUMBER, UDID } from '../support/iphone/fake-phones.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

test('of an iPhone that holds the number of a Mac line the relay says what it lacks, and that it is gone', async () => {
  await using mux = await MuxRig.start()
  const phone = await mux.phone(UDID, { values: { ProductVersion: '14.8' } })
  const deviceId = mux.mux.attach(phone)
  const driver = new ScriptedDriver('mac')
  driver.add(NUMBER)
  const environment = { HOOKLINE_IPHONE: 'on', USBMUXD_SOCKET_ADDRESS: `UNIX:${mux.path}` }
  await using relay = await startRelay({ drivers: [driver], environment })
  /** Resolves once this is all that is found about phones: their sockets are real. */
  const finds = (code: string) =>
    eventually(code, async () => {
      await relay.clock.advance(1_000)
      const { data } = await relay.get('/api/v1/health')
      const found = data.filter((one: { code: string }) => one.code.startsWith('anchor_'))
      return found.length === 1 && found[0].code === code ? found[0] : null
    })

  const old = await finds('anchor_ios_too_old')
  mux.mux.detach(deviceId)
  const gone = await finds('anchor_absent')

  const [line] = await relay.lines()
  expect([old.line_id, gone.line_id]).toEqual([line.id, line.id])
  expect(line.status).toBe('online')
})
