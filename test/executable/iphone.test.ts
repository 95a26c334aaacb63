// An iPhone line through the built executable: the phone is this process's, its cable a socket, and time is
// real. What a phone line does in detail is in the tests of the driver and in test/story.

import { expect, test } from 'bun:test'

import { systemClock } from '../../src/system/clock.ts'
import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { CablePhone } from '../support/iphone/cable-phone.ts'
import { MuxRig, NUMBER, secretsOfPairing, UDID } from '../support/iphone/fake-phones.ts'
import { Receiver } from '../support/receiver.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { bytesIn } from '../support/stored-bytes.ts'

type Line = { readonly driver: string; readonly phone_number: string; readonly status: string }
type Lines = { readonly data: readonly Line[] }

const FRIEND = '+12025550123'
const EVENTS = ['message.received', 'message.sent']

test('an iPhone on the cable is a line: one message in, one out, and doctor reports how far it is', async () => {
  using dir = temporaryDataDir()
  using receiver = new Receiver()
  await using cable = await MuxRig.start()
  using phone = await CablePhone.start({ serial: UDID, number: NUMBER, clock: systemClock })
  phone.commands.commandMs = 10
  phone.plugIn(cable.mux)
  const key = await createKey(dir.path)
  await using relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: {
      HOOKLINE_IPHONE_LINES: 'all',
      HOOKLINE_MAC: 'off',
      USBMUXD_SOCKET_ADDRESS: `UNIX:${cable.path}`,
    },
  })
  const api = new ApiClient(() => relay.url, key)
  const hook = await api.ask<{ secret: string }>('POST', '/api/v1/webhooks', {
    url: receiver.url,
    events: EVENTS,
  })
  receiver.secret = hook.secret
  const line = await eventually('the line is online', async () => {
    const { data } = await api.ask<Lines>('GET', '/api/v1/phone-lines')
    return data.find(({ status }) => status === 'online') ?? null
  })

  phone.screen.receive(FRIEND, 'hello')
  await eventually('what came in is published', () => (told().length === 1 ? true : null))
  const sent = await api.request('POST', '/api/v1/messages/send', {
    body: { to: FRIEND, text: 'hello yourself' },
  })
  await eventually('what went out is published', () => (told().length === 2 ? true : null))
  const doctor = await hookline(['doctor', '--data-dir', dir.path])
  const status = await hookline(['status', '--json', '--data-dir', dir.path])
  const backup = await hookline(['backup', '--data-dir', dir.path])

  const seen = [bytesIn(dir.path), relay.log, doctor.stdout, status.stdout].join('\n')
  expect(line).toMatchObject({ driver: 'iphone', phone_number: NUMBER })
  expect(told()).toEqual(['message.received: hello', 'message.sent: hello yourself'])
  expect([sent.status, phone.screen.carried('hello yourself'), phone.screen.touches]).toEqual([
    200, 1, 1,
  ])
  expect(doctor.stdout).toContain(`iPhone …${UDID.slice(-6)}, iOS 18.6.2, battery 87 %: online`)
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, lines: [line], findings: [] })
  expect([doctor.exitCode, status.exitCode, backup.exitCode]).toEqual([0, 0, 0])
  expect(secretsOfPairing().filter((secret) => seen.includes(secret))).toEqual([])

  function told(): readonly string[] {
    return receiver.received.map(({ event, message }) => `${event}: ${message.text}`)
  }
}, 180_000)
