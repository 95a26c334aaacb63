// A cluster that its owner runs for other programs too: the relay uses it only from an account of its own.

import { afterAll, expect } from 'bun:test'

import { HEAD_INBOX, inboxOf } from '../../src/boxes/broker-config.ts'
import { createHeadBroker } from '../../src/boxes/head-broker.ts'
import type { NatsLink } from '../../src/boxes/nats-link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { NatsCluster } from '../support/nats-cluster.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { natsTools, until } from '../support/nats.ts'
import { testNeeding } from '../support/needs.ts'

const withServer = testNeeding(A_BROKER, NATS_SERVER !== null)

/** The head and one box at a cluster, by the configuration that `boxes config` prints. */
async function startHead() {
  const cluster = await NatsCluster.start()
  const [head, box] = [await makeKey(), await makeKey()]
  const options = {
    natsServer: null,
    brokerPort: 1,
    broker: cluster.servers,
    brokerCa: cluster.caFile,
    brokerSeed: head.seed,
    publicUrl: null,
    acceptUnsigned: false,
  }
  const users = { boxes: [{ id: 'studio', nkey: box.publicKey }], invitations: [] }
  const directory = dataDirectoryAt('/nowhere')
  const host = { machine: natsTools, directory, users: () => users }
  const broker = createHeadBroker(options, host)
  const printed = await broker.users()
  const list = /users: \[\n(.*)\n {2}\]/s.exec(printed)?.[1] ?? ''
  return { cluster, head, box, broker, printed, list }
}

const shared = { head: null as ReturnType<typeof startHead> | null, link: null as NatsLink | null }
afterAll(async () => {
  await shared.link?.close()
  await (await shared.head)?.cluster[Symbol.asyncDispose]()
})

async function linkOf() {
  const given = await (shared.head ??= startHead())
  shared.link ??= (await given.broker.connect()) as NatsLink // Of a cluster.
  return { ...given, link: shared.link }
}

type Given = Awaited<ReturnType<typeof startHead>>
const REFUSED: readonly (readonly [string, (given: Given) => readonly [string, string], string])[] =
  [
    ['beside other users', ({ list }) => ['', `, ${list}`], 'does not say'],
    [
      'in an account, without the right to ask for it',
      ({ printed }) => [printed.replace('"$SYS.REQ.USER.INFO", ', ''), ''],
      'does not say',
    ],
  ]

for (const [where, config, why] of REFUSED) {
  withServer(
    `a relay whose users stand ${where} uses no connection until they are moved`,
    async () => {
      const given = await linkOf()
      const { cluster, broker, link, printed } = given
      const heard: string[] = []
      const stop = link.serve('hl.1.hello.*', async (request) => {
        heard.push(request)
        return 'here'
      })

      await cluster.reload('')
      await until(() => !link.status().isConnected)
      await cluster.reload(...config(given))
      await until(() => broker.findings().some((finding) => finding.why.includes(why)))
      const finding = broker.findings()[0]
      await using app = await cluster.dial()
      app.publish('hl.1.hello.studio', 'from a stranger')
      await app.flush()
      const whileRefused = [link.status().isConnected, ...heard]
      await cluster.reload(printed)
      await until(() => link.status().isConnected)
      stop()

      expect(finding).toMatchObject({ code: 'broker_shared', severity: 'error' })
      expect(finding?.fix).toStartWith('Put what "hookline boxes config" prints into')
      expect(whileRefused).toEqual([false])
      expect(broker.findings()).toEqual([])
    },
  )
}

withServer('no other account hears or reaches the relay and its boxes', async () => {
  const { cluster, box, link, printed } = await linkOf()
  await cluster.reload(printed)
  await until(() => link.status().isConnected)
  const asked: string[] = []
  link.serve('hl.1.hello.*', async (request) => {
    asked.push(request)
    return 'for the box'
  })
  await using app = await cluster.dial()
  const heard: string[] = []
  for (const subject of ['hl.>', `${HEAD_INBOX}.>`, `${inboxOf('studio')}.>`, '>']) {
    app.subscribe(subject, { callback: (_, message) => void heard.push(message.string()) })
  }
  app.publish('hl.1.hello.studio', 'from a stranger')
  await app.flush()
  await using studio = await cluster.dial(box.seed, inboxOf('studio'))

  const answer = await studio.request('hl.1.hello.studio', 'from the box')
  await app.flush()

  expect(answer.string()).toBe('for the box')
  expect(asked).toEqual(['from the box'])
  expect(new Set(heard)).toEqual(new Set(['from a stranger']))
})

withServer('one box opens no more connections than the account may have', async () => {
  const { cluster, box, printed } = await linkOf()
  await cluster.reload(printed)
  const opened = []
  let refusal: unknown = null
  while (refusal === null && opened.length < 100) {
    try {
      opened.push(await cluster.dial(box.seed, inboxOf('studio')))
    } catch (error) {
      refusal = error
    }
  }
  await using _app = await cluster.dial()
  await Promise.all(opened.map((one) => one.close()))

  expect(String(refusal)).toContain('maximum account active connections exceeded')
  expect(opened.length).toBeLessThan(16)
})
