// The broker as the head's child: what each user may do, changes of users, and everything that ends it.

import { afterAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'

import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node'

import { HEAD_INBOX, brokerConfig, inboxOf } from '../../src/boxes/broker-config.ts'
import { findNatsServer } from '../../src/boxes/nats-server.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { NEVER } from '../../src/system/clock.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { BrokerRig, natsTools, until } from '../support/nats.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const withServer = testNeeding(A_BROKER, NATS_SERVER !== null)

/** The client itself: the link gives no way to do what is forbidden. */
async function connectRaw(rig: BrokerRig, seed: string, inbox: string): Promise<NatsConnection> {
  const { servers, ca, serverName } = await rig.broker.access()
  const tls = { handshakeFirst: true, ca: ca ?? '', servername: serverName ?? '' }
  const authenticator = nkeyAuthenticator(new TextEncoder().encode(seed))
  return connect({
    servers: [...servers],
    tls,
    authenticator,
    inboxPrefix: inbox,
    reconnect: false,
  })
}

type Tried = Record<'publish' | 'subscribe', readonly string[]>

/** No user may say it: its refusal comes after all others. */
const LAST = 'nobody.may'

/** The operations that the broker refuses, of those that are tried. */
async function refusals(
  connection: NatsConnection,
  { publish, subscribe }: Tried,
): Promise<readonly string[]> {
  const refused: string[] = []
  const watch = async () => {
    for await (const status of connection.status()) {
      if (status.type !== 'error') continue
      const found = /Permissions Violation for (\w+) to "([^"]+)"/i.exec(status.error.message)
      refused.push(found === null ? status.error.message : `${found[1]} ${found[2]}`)
    }
  }
  void watch()
  for (const subject of publish) connection.publish(subject, 'x')
  for (const subject of subscribe) connection.subscribe(subject, { callback: () => {} })
  connection.publish(LAST, 'x')
  await until(() => refused.some((line) => line.endsWith(LAST)))
  return refused.slice(0, -1).map((line) => line.toLowerCase())
}

const asRefused = ({ publish, subscribe }: Tried) =>
  [
    ...publish.map((subject) => `publish ${subject}`),
    ...subscribe.map((subject) => `subscription ${subject}`),
  ].map((line) => line.toLowerCase())

/** A broker with the boxes `one` and `two` and the invitation `i7`, which no test changes. */
const shared = { rig: null as Promise<BrokerRig> | null, seeds: {} as Record<string, string> }

function sharedRig(): Promise<BrokerRig> {
  shared.rig ??= BrokerRig.start().then(async (rig) => {
    const invited = await makeKey()
    rig.users.invitations = [{ id: 'i7', nkey: invited.publicKey }]
    const [one, two] = [await rig.addBox('one'), await rig.addBox('two')]
    const { seed: head } = await rig.broker.access()
    shared.seeds = { one, two, head, i7: invited.seed }
    return rig
  })
  return shared.rig
}

async function connectAs(user: string): Promise<NatsConnection> {
  const rig = await sharedRig()
  return connectRaw(rig, shared.seeds[user] ?? '', inboxOf(user))
}

afterAll(async () => (await shared.rig)?.[Symbol.asyncDispose]())

type Rights = readonly [user: string, what: string, own: Tried, foreign: Tried]

const RIGHTS: readonly Rights[] = [
  [
    'one',
    'a box says and hears what is its own, and nothing of another',
    {
      publish: ['hl.1.hello.one', 'hl.1.up.e7.one'],
      subscribe: ['hl.1.to.one.boot', 'hl.1.to.one.>', '_INBOX_one.x', '_INBOX_one.>'],
    },
    {
      publish: [
        'hl.1.hello.two hl.1.up.e7.two hl.1.to.two.boot hl.1.to.one.boot hl.1.join.i x',
        `${HEAD_INBOX}.x _INBOX_two.x _INBOX_one.x $SYS.REQ.SERVER.PING`,
      ].flatMap((line) => line.split(' ')),
      subscribe: [
        'hl.1.hello.one hl.1.hello.* hl.1.up.> hl.1.to.two.boot hl.1.to.> hl.>',
        `${HEAD_INBOX}.> _INBOX_two.> _INBOX.> *.> > $SYS.>`,
      ].flatMap((line) => line.split(' ')),
    },
  ],
  [
    'i7',
    'the user of an invitation reaches nothing but its own request',
    { publish: ['hl.1.join.i7'], subscribe: ['_INBOX_i7.>'] },
    {
      publish: ['hl.1.join.i8', 'hl.1.hello.i7', 'hl.1.up.e.i7', `${HEAD_INBOX}.x`, '_INBOX_i7.x'],
      subscribe: ['hl.1.join.i7', 'hl.1.to.i7.boot', 'hl.1.>', `${HEAD_INBOX}.>`, '>'],
    },
  ],
  [
    'head',
    'the head reaches all of ours, answers its boxes, and hears no answer to them',
    {
      publish: ['hl.1.to.one.boot', '_INBOX_one.x'],
      subscribe: ['hl.1.>', `${HEAD_INBOX}.>`],
    },
    { publish: ['_INBOX_three.x', 'x'], subscribe: ['_INBOX_one.>', '>'] },
  ],
]

for (const [user, what, own, foreign] of RIGHTS) {
  withServer(what, async () => {
    await using connection = await connectAs(user)
    await using other = await connectAs(user)

    expect(await refusals(connection, own)).toEqual([])
    expect(await refusals(other, foreign)).toEqual(asRefused(foreign))
  })
}

withServer('a box answers a request once, and only the one that it got', async () => {
  await using box = await connectAs('one')
  const head = await (await sharedRig()).connect({})
  let reply = ''
  box.subscribe('hl.1.to.one.boot', {
    callback: (_, message) => {
      reply = message.reply ?? ''
      message.respond('first')
    },
  })
  await box.flush()

  const answer = await head.ask('hl.1.to.one.boot', 'x', 5_000)
  const again = { publish: [reply], subscribe: [] }

  expect(answer).toBe('first')
  expect(await refusals(box, again)).toEqual(asRefused(again))
})

withServer('a box that is removed is cut off, and nothing happens to the others', async () => {
  await using rig = await BrokerRig.start()
  const [removed, kept] = [await rig.addBox('removed'), await rig.addBox('kept')]
  const box = await rig.connectBox('removed', removed)
  const other = await rig.connectBox('kept', kept)
  const { pid } = rig
  let changes = 0
  other.onChange(() => (changes += 1))

  rig.users.boxes = rig.users.boxes.filter(({ id }) => id === 'kept')
  const isApplied = await rig.broker.apply()
  await until(() => box.status().problem === 'refused')
  await rig.addBox('new')
  const answer = await other.ask('hl.1.hello.kept', '', 5_000).catch(String)

  expect({ isApplied, changes, pid: rig.pid }).toEqual({ isApplied: true, changes: 0, pid })
  expect(answer).toBe('LinkError: Nobody listens to the request.')
})

withServer(
  'without a box or an invitation no server runs, and its files are its owner’s only',
  async () => {
    await using rig = await BrokerRig.start()
    const isIdle = (await rig.broker.apply()) && !rig.broker.isListening
    const hasFilesBefore = existsSync(rig.folder.file('broker'))
    await rig.addBox('one')
    const { pid } = rig
    const folder = rig.folder.file('broker')
    const modes = ['', ...readdirSync(folder)]
      .filter((name) => name !== 'nats.pid')
      .map((name) => statSync(`${folder}/${name}`).mode & 0o077)

    rig.users.boxes = []
    await rig.broker.apply()

    expect({ isIdle, hasFilesBefore, modes: new Set(modes) }).toEqual({
      isIdle: true,
      hasFilesBefore: false,
      modes: new Set([0]),
    })
    expect(rig.broker.isListening).toBe(false)
    expect(() => process.kill(pid, 0)).toThrow()
  },
)

withServer('a server that a killed head left behind is ended, another process never', async () => {
  await using rig = await BrokerRig.start()
  const seed = await rig.addBox('one')
  await rig.stop()
  const config = rig.folder.file('broker/nats.conf')
  const stranger = Bun.spawn(['sleep', '60'])
  writeFileSync(rig.folder.file('broker/nats.pid'), String(stranger.pid))
  rig.run()
  await rig.connectBox('one', seed)
  await rig.stop()

  const orphan = Bun.spawn([NATS_SERVER ?? '', '--config', config], { stderr: 'ignore' })
  await until(() => rig.pid === orphan.pid)
  rig.run()
  await orphan.exited
  await until(() => rig.broker.isListening)

  const strangerEnded = [stranger.exitCode, stranger.signalCode]
  stranger.kill()
  expect(rig.pid).not.toBe(orphan.pid)
  expect(strangerEnded).toEqual([null, null])
})

withServer('a port that another program uses is a finding, until it is free', async () => {
  await using rig = await BrokerRig.start()
  const squatter = Bun.listen({ hostname: '0.0.0.0', port: rig.port, socket: { data() {} } })
  const adding = rig.addBox('one')
  await until(() => rig.broker.findings().length > 0)
  const [finding] = rig.broker.findings()

  squatter.stop(true)
  await adding
  await until(() => rig.broker.findings().length === 0)

  expect(finding).toMatchObject({ code: 'broker_failed', severity: 'error', key: null })
  expect(finding?.why).toContain(`uses port ${rig.port}.`)
})

withServer('a box that connects without end gets a few connections for each user', async () => {
  await using rig = await BrokerRig.start()
  const seed = await rig.addBox('one')
  const first = await rig.connectBox('one', seed)
  const opened: NatsConnection[] = []
  const open = () => connectRaw(rig, seed, inboxOf('one')).then((one) => opened.push(one))

  await expect(
    (async () => {
      for (let count = 0; count < 100; count += 1) await open()
    })(),
  ).rejects.toThrow()

  expect(opened.length).toBeWithin(8, 16)
  expect(first.status().isConnected).toBeTrue()
  await Promise.all(opened.map((one) => one.close()))
})

test('a server that is missing or too old is a finding with the line that installs one', async () => {
  using folder = new ScratchFolder()
  const script = (name: string, text: string) => {
    writeFileSync(folder.file(name), `#!/bin/sh\n${text}\n`)
    chmodSync(folder.file(name), 0o700)
    return folder.file(name)
  }
  const find = (wanted: string | null, platform = 'linux') =>
    findNatsServer(wanted, { ...natsTools, findTool: () => null, platform }, NEVER)
  const [old, good, other] = ['2.10.3', '2.11.0', ''].map((version, index) =>
    script(`server-${index}`, `echo "nats-server: v${version}"`),
  )

  const findings = [
    await find(null),
    await find(null, 'darwin'),
    await find(other ?? ''),
    await find(old ?? ''),
  ]

  expect(findings.map((one) => 'code' in one && [one.code, one.why])).toEqual([
    ['broker_missing', 'It is not installed.'],
    ['broker_missing', 'It is not installed.'],
    ['broker_missing', `${other} does not start, or is another program.`],
    ['broker_outdated', `${old} is version 2.10.3. Hookline needs 2.10.4 or later.`],
  ])
  expect(findings[1]).toMatchObject({ fix: 'Run: brew install nats-server' })
  expect(await find(good ?? '')).toEqual({ path: good ?? '', version: '2.11.0' })
})

test('an id that would be a right to more than its own is no part of a configuration', () => {
  const files = { server: '/c', serial: '4C', pid: '/p' }
  const config = (id: string) => () =>
    brokerConfig({ port: 1, files, head: 'UA', boxes: [{ id, nkey: 'UB' }], invitations: [] })

  for (const id of ['*', '>', 'a.b', 'a"b', '', 'a b', 'a\n'])
    expect(config(id)).toThrow('cannot be')
  expect(config('box_7-a')).not.toThrow()
})
