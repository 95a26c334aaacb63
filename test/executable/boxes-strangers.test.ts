// Machines that are not, or no longer, a box of this head, over the compiled executables and the real broker:
// what each of them gets. The rights of users in detail are in test/boxes/broker.test.ts.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node'

import { inboxOf } from '../../src/boxes/broker-config.ts'
import { BROKER_NAME } from '../../src/boxes/certificates.ts'
import { SUBJECTS } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { NATS_SERVER } from '../support/nats-server.ts'
import { eventually } from '../support/relay-process.ts'
import { Fleet, type FleetProcess } from './torture/fleet.ts'

const withServer = test.skipIf(NATS_SERVER === null)
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
  'strangers get nothing from the broker, a box nothing of another one, and no removed box anything',
  async () => {
    await using fleet = await Fleet.open(SHAPE)
    const [first, second] = fleet.boxes.map(storedBy)
    if (first === undefined || second === undefined) throw new Error('There are no boxes.')
    const { seed: strangersSeed } = await makeKey()

    expect(await refusalOf(dial(fleet, strangersSeed))).toMatch(/authorization/i)
    expect(await refusalOf(dial(fleet, null))).toMatch(/authorization/i)
    expect(await plainTextAnswer(fleet.brokerPort)).toBe('')

    const token = await fleet.invite('box-3')
    const joinAs = (name: string) =>
      fleet.run(name, [
        'join',
        token,
        '--no-service',
        '--data-dir',
        `${fleet.head.dataDir}-${name}`,
      ])
    await joinAs('one')
    await expect(joinAs('other')).rejects.toThrow(/invitation/)
    await fleet.run('head', ['boxes', 'remove', 'box-3', '--data-dir', fleet.head.dataDir])

    const { heard, refused } = await spyOn(fleet, first, second.box_id)
    expect(heard).toEqual([])
    expect(refused.filter((message) => /permissions violation/i.test(message)).length).toBe(6)
    expect((await boxesOf(fleet)).map(({ status }) => status)).toEqual(['online', 'online'])

    const own = await dial(fleet, first.seed, inboxOf(first.box_id))
    await fleet.run('head', ['boxes', 'remove', 'box-1', '--data-dir', fleet.head.dataDir])
    await own.closed()
    expect(await refusalOf(dial(fleet, first.seed, inboxOf(first.box_id)))).toMatch(
      /authorization/i,
    )
    expect(await boxesOf(fleet)).toEqual([{ name: 'box-2', status: 'online' }])
    expect(await eventually('its line is offline', () => offlineReason(fleet))).toBe('box_removed')
  },
  180_000,
)

withServer(
  'a box with the key of another one is not heard as the one it says it is',
  async () => {
    await using fleet = await Fleet.open(SHAPE)
    const [thief, victim] = fleet.boxes
    if (thief === undefined || victim === undefined) throw new Error('There are no boxes.')
    await victim.end('SIGTERM')
    await thief.end('SIGTERM')
    const path = join(thief.dataDir, 'box.json')
    const changed = { ...storedBy(thief), box_id: storedBy(victim).box_id }
    writeFileSync(path, JSON.stringify(changed))

    const statuses = async () => (await boxesOf(fleet)).map(({ status }) => status).join()
    const areOffline = async () => ((await statuses()) === 'offline,offline' ? true : null)
    await eventually('both are offline', areOffline, 60_000)
    thief.start()
    const isRefused = () => {
      const log = readFileSync(`${thief.dataDir}.log`, 'utf8')
      return /permissions violation/i.test(log) ? true : null
    }
    await eventually('the broker refuses what it says', isRefused, 60_000)

    expect(await statuses()).toBe('offline,offline')
  },
  180_000,
)

/** Lets the first box listen to, and speak as, the other one, while messages go to both. */
async function spyOn(fleet: Fleet, { seed, box_id: own }: Stored, other: string) {
  await using spy = await dial(fleet, seed, inboxOf(own))
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
