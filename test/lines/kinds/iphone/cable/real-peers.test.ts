// Programs that other people wrote, as judges: the tools of libimobiledevice read phones through our
// stand-ins for usbmuxd and lockdown, and the real usbmuxd, which has no phone here, hears our client.
// Where a program is not installed, a line says what was left out.

import { expect } from 'bun:test'

import { MuxError } from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'
import { MuxWatch } from '../../../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { Usbmux } from '../../../../../src/lines/kinds/iphone/cable/usbmux.ts'
import { systemClock } from '../../../../../src/system/clock.ts'
import { eventually } from '../../../../support/eventually.ts'
import { MuxRig, OTHER_UDID, UDID } from '../../../../support/iphone/fake-phones.ts'
import { RealUsbmuxd, hasUsbmuxd } from '../../../../support/iphone/real-usbmuxd.ts'
import { testHost } from '../../../../support/kind-host.ts'
import { testNeeding } from '../../../../support/needs.ts'

const TOOLS = ['idevice_id', 'ideviceinfo'] as const
const NEVER = new AbortController().signal
const WAIT_MS_MAX = 10_000

const hasTools = TOOLS.every((name) => Bun.which(name) !== null)
const ifTools = testNeeding('the tools of libimobiledevice', hasTools)
const ifUsbmuxd = testNeeding('usbmuxd and a mount namespace', hasUsbmuxd())

async function run(rig: MuxRig, ...command: readonly string[]): Promise<string> {
  const env = { ...process.env, USBMUXD_SOCKET_ADDRESS: `UNIX:${rig.path}` }
  const options = { env, stdout: 'pipe', stderr: 'pipe', timeout: WAIT_MS_MAX } as const
  const child = Bun.spawn([...command], options)
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  return output + errors
}

/** The lines of `Name: value` that ideviceinfo writes. */
function valuesOf(output: string): Readonly<Record<string, string>> {
  const pairs = output.split('\n').map((line) => line.split(': ', 2))
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}

ifTools(
  'idevice_id lists the phones of the stand-in, in the form that it gives to UDIDs',
  async () => {
    await using rig = await MuxRig.start()
    rig.mux.attach(await rig.phone())
    rig.mux.attach(await rig.phone(OTHER_UDID.replace('-', '')))

    const output = await run(rig, 'idevice_id', '-l')

    expect(output.trim().split('\n').sort()).toEqual([UDID, OTHER_UDID])
  },
)

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  ifTools(`ideviceinfo reads a phone through the stand-in in a session of ${version}`, async () => {
    await using rig = await MuxRig.start()
    const phone = await rig.phone(UDID, { version })
    rig.mux.attach(phone)

    const all = valuesOf(await run(rig, 'ideviceinfo'))
    const battery = valuesOf(await run(rig, 'ideviceinfo', '-q', 'com.apple.mobile.battery'))

    expect(all).toMatchObject({ DeviceName: 'Line one', TimeZone: 'America/New_York' })
    expect(all['PhoneNumber']).toContain('0001')
    expect(battery).toEqual({ BatteryCurrentCapacity: '87', BatteryIsCharging: 'true' })
    expect(phone.lockdown.requests.some(({ isEncrypted }) => isEncrypted)).toBe(true)
  })
}

ifTools(
  'without a session ideviceinfo gets from the stand-in what everybody may know',
  async () => {
    await using rig = await MuxRig.start()
    const phone = await rig.phone()
    phone.pairRecord = null
    rig.mux.attach(phone)

    const open = valuesOf(await run(rig, 'ideviceinfo', '-s'))
    const number = await run(rig, 'ideviceinfo', '-s', '-k', 'PhoneNumber')

    expect(open).toEqual({
      DeviceClass: 'iPhone',
      DeviceName: 'Line one',
      ProductType: 'iPhone14,5',
      ProductVersion: '18.6.2',
      UniqueDeviceID: UDID,
    })
    expect(number.trim()).toBe('')
  },
)

ifTools('a phone of the stand-in that refuses the session refuses ideviceinfo too', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  phone.lockdown.refusal = 'PasswordProtected'
  rig.mux.attach(phone)

  const output = await run(rig, 'ideviceinfo')

  // LOCKDOWN_E_PASSWORD_PROTECTED of lockdown.h.
  expect(output).toContain('(-17)')
})

ifUsbmuxd('the real usbmuxd, without a phone, understands everything that we ask', async () => {
  await using real = new RealUsbmuxd()
  await real.start()
  const mux = new Usbmux({ path: real.path }, systemClock)

  const buid = await mux.buid(NEVER)
  const record = await mux.pairRecord(UDID, NEVER)
  const connected = await mux.connect(7, 62_078, NEVER).catch((error: unknown) => error)
  const listening = await mux.listen(NEVER)
  listening.close()

  expect(record).toBeNull()
  expect(buid).toMatch(/^[0-9A-F-]{36}$/)
  expect(connected).toBeInstanceOf(MuxError)
  expect(connected).toHaveProperty('code', 'bad_device')
})

ifUsbmuxd('a watch over the real usbmuxd notices when it goes and when it is back', async () => {
  await using real = new RealUsbmuxd()
  const mux = new Usbmux({ path: real.path }, systemClock)
  const watch = new MuxWatch(testHost({ clock: systemClock }), mux, () => {})
  const end = new AbortController()
  const running = watch.run(end.signal)
  const comesTo = (isThere: boolean) =>
    eventually('the change', () => ((watch.trouble === null) === isThere ? true : null))

  await real.start()
  await comesTo(true)
  await real.stop()
  await comesTo(false)
  await real.start()
  await comesTo(true)

  end.abort()
  await running
})
