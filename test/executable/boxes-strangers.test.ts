// Machines that are not, or no longer, a box of this head, over the compiled executables and the real broker:
// what each of them gets. The rights of users in detail are in test/boxes/broker.test.ts.

import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node'

import { inboxOf } from '../../src/boxes/broker-config.ts'
import { BROKER_NAME } from '../../src/boxes/certificates.ts'
import { SUBJECTS } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { eventually } from '../support/eventually.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { testNeeding } from '../support/needs.ts'
import { Fleet, type FleetProcess } from './torture/fleet.ts'

const withServer = testNeeding(A_BROKER, NATS_SERVER !== null)
const REFUSED = expect.stringMatching(/authorization/i)
const SHAPE = { boxes: 2, linesOfBox: 1, ownLines: 0, environment: {} }

/** What a box stores of its head. */
type Stored = { readonly box_id: string; readonly seed: string; readonly ca: string }

function storedBy(box: FleetProcess | undefined): Stored {
  const text = readFileSync(join(box?.dataDir ?? '', 'box.json'), 'utf8')
  return JSON.parse(text) as Stored // As `hookline join` wrote it.
}

/** A client of the broker that knows its authority. */
function dial(fleet: Fleet, seed: string | null, inboxPrefix = '_INBOX'): Promise<NatsConnection> {
  const { ca } = storedBy(fleet.boxes[0])
  const tls = { handshakeFirst: true, ca, servername: BROKER_NAME }
  return connect({
    servers: [`127.0.0.1:${fleet.brokerPort}`],
    tls,
    ...(seed !== null && { authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)) }),
    inboxPrefix,
    reconnect: false,
    timeout: 2_000,
  })
}

const refusalOf = (connection: Promise<NatsConnection>) =>
  connection.then(
    () => 'connected',
    (error: unknown) => String(error),
  )

type BoxRow = { readonly name: string; readonly status: string }

async function boxesOf(fleet: Fleet): Promise<readonly BoxRow[]> {
  const list = ['boxes', 'list', '--json', '--data-dir', fleet.head.dataDir]
  const { data } = JSON.parse(await fleet.run('head', list)) as { data: readonly BoxRow[] } // The API's.
  return data.map(({ name, status }) => ({ name, status }))
}

withServer(
  'the broker gives a stranger nothing, a box nothing of another, and a removed box nothing any more',
  async () => {
    await using fleet = await Fleet.open(SHAPE)
    const [first, second] = fleet.boxes.map(storedBy)
    if (first === undefined || second === undefined) throw new Error('There are no boxes.')
    const { seed: unknown } = await makeKey()

    const strangers = [
      await refusalOf(dial(fleet, unknown)),
      await refusalOf(dial(fleet, null)),
      await plainTextAnswer(fleet.brokerPort),
    ]
    await using spy = await dial(fleet, first.seed, inboxOf(first.box_id))
    const { heard, refused } = await spyOn(spy, fleet, second.box_id)
    const online = await boxesOf(fleet)
    await fleet.run('head', ['boxes', 'remove', 'box-1', '--data-dir', fleet.head.dataDir])
    await spy.closed()
    const removed = await refusalOf(dial(fleet, first.seed, inboxOf(first.box_id)))
    const offline = await eventually('its line is offline', () => offlineReason(fleet))

    expect(strangers).toEqual([REFUSED, REFUSED, ''])
    expect(heard).toEqual([])
    expect(refused.filter((message) => /permissions violation/i.test(message)).length).toBe(6)
    expect(online.map(({ status }) => status)).toEqual(['online', 'online'])
    expect(removed).toEqual(REFUSED)
    expect(await boxesOf(fleet)).toEqual([{ name: 'box-2', status: 'online' }])
    expect(offline).toBe('box_removed')
  },
)

/** Listens to all that is of another box, and speaks in its name, while messages go out by every line. */
async function spyOn(spy: NatsConnection, fleet: Fleet, other: string) {
  const heard: string[] = []
  const refused: string[] = []
  const watch = async () => {
    for await (const status of spy.status()) {
      if (status.type === 'error') refused.push(status.error.message)
    }
  }
  void watch()
  for (const subject of ['hl.>', SUBJECTS.to(other, '*'), SUBJECTS.hello(other), '>']) {
    spy.subscribe(subject, { callback: (_, message) => void heard.push(message.subject) })
  }
  const hello = { protocol: 1, version: '9.9.9', boot: 'stolen', sessions: [], devices: [] }
  spy.publish(SUBJECTS.hello(other), JSON.stringify(hello))
  spy.publish(SUBJECTS.up('*', other), '{}')
  for (const { id } of await fleet.allOnline()) await sendVia(fleet, id)
  await spy.flush()
  return { heard, refused }
}

async function sendVia(fleet: Fleet, lineId: string): Promise<void> {
  const body = { to: '+12025581000', phone_line_id: lineId, text: 'Soup of the day: 5' }
  const answer = await fleet.api.ask<{ status: string }>('POST', '/api/v1/messages/send', body)
  expect(answer.status).not.toBe('queued')
}

async function offlineReason(fleet: Fleet): Promise<string | null> {
  type Listed = { readonly status_reason: string | null }
  const { data } = await fleet.api.ask<{ data: readonly Listed[] }>('GET', '/api/v1/phone-lines')
  return data.find((line) => line.status_reason !== null)?.status_reason ?? null
}

/** All that a client without TLS gets until the broker hangs up. */
async function plainTextAnswer(port: number): Promise<string> {
  const ended = Promise.withResolvers<void>()
  let text = ''
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, chunk) => void (text += chunk.toString('latin1')),
      close: () => ended.resolve(),
      error: () => ended.resolve(),
    },
  })
  socket.write('CONNECT {"verbose":true}\r\nSUB > 1\r\nPING\r\n')
  await ended.promise
  // An alert of TLS may come, and no word of the protocol.
  return text.includes('INFO') || text.includes('PONG') || text.includes('+OK') ? text : ''
}
