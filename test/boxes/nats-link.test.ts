// The link over a real nats-server. The server itself, and who may do what, is broker.test.ts.

import { afterAll, expect, test } from 'bun:test'

import { keepCertificates } from '../../src/boxes/certificates.ts'
import { connectNats, type NatsLink } from '../../src/boxes/nats-link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { BrokerRig, freePort, natsTools, until } from '../support/nats.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const withServer = testNeeding(A_BROKER, NATS_SERVER !== null)
const HELLO = 'hl.1.hello.studio'

/** A head and a box that no test harms, at one broker. */
const shared = { pair: null as ReturnType<typeof startPair> | null }
const sharedPair = () => (shared.pair ??= startPair())

afterAll(async () => (await shared.pair)?.[Symbol.asyncDispose]())

async function startPair(pingMs?: number) {
  const rig = await BrokerRig.start()
  const seed = await rig.addBox('studio')
  const head = await rig.connect({ pingMs })
  await until(() => head.status().isConnected)
  const box = await rig.connectBox('studio', seed, { pingMs })
  return { rig, seed, head, box, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() }
}

/** Resolves when the broker knows of everything that `link` serves. */
async function settled(link: NatsLink): Promise<void> {
  await link.ask('hl.1.nobody', '', 1_000).catch(() => {})
}

withServer(
  'a request has the answer of who serves its subject, and a later one may overtake',
  async () => {
    const pair = await sharedPair()
    const slow = Promise.withResolvers<string>()
    const stop = pair.head.serve('hl.1.hello.*', async (request, subject) =>
      request === 'slow' ? slow.promise : `${request} on ${subject}`,
    )
    await settled(pair.head)

    const first = pair.box.ask(HELLO, 'slow', 5_000)
    const second = await pair.box.ask(HELLO, 'é', 5_000)
    slow.resolve('at last')
    const answers = [await first, second]
    stop()
    await settled(pair.head)
    const stopped = await pair.box.ask(HELLO, '', 5_000).catch(String)

    expect(answers).toEqual(['at last', `é on ${HELLO}`])
    expect(stopped).toBe('LinkError: Nobody listens to the request.')
  },
)

withServer('nobody who listens is an error at once, no answer is one after its time', async () => {
  const pair = await sharedPair()
  pair.head.serve('hl.1.up.e.studio', async () => null)
  pair.head.serve('hl.1.up.f.studio', () => Promise.reject(new Error('broken')))
  await settled(pair.head)
  const ask = (subject: string, ms: number) => pair.box.ask(subject, '', ms).catch(String)

  // Longer than the test may take: what ends them is the broker's word.
  const unheard = await ask('hl.1.up.g.studio', 600_000)
  const forbidden = await ask('hl.1.hello.other', 600_000)
  const silent = await Promise.all([ask('hl.1.up.e.studio', 50), ask('hl.1.up.f.studio', 50)])

  const noAnswer = 'LinkError: The request had no answer.'
  expect(unheard).toBe('LinkError: Nobody listens to the request.')
  expect([forbidden, ...silent]).toEqual([noAnswer, noAnswer, noAnswer])
})

withServer('after a broker that was killed all are back, and serve what they served', async () => {
  await using pair = await startPair()
  const asked = Promise.withResolvers<void>()
  pair.head.serve('hl.1.hello.*', async (request) => {
    if (request !== 'wait') return 'here'
    asked.resolve()
    return null
  })
  await settled(pair.head)
  const changes: boolean[] = []
  pair.box.onChange(() => void changes.push(pair.box.status().isConnected))

  const open = pair.box.ask(HELLO, 'wait', 60_000).catch(String)
  await asked.promise
  process.kill(pair.rig.pid, 'SIGKILL')
  const broken = await open
  await until(() => changes.includes(true) && pair.head.status().isConnected)
  await settled(pair.head)

  expect(broken).toBe('LinkError: The request had no answer.')
  expect(await pair.box.ask(HELLO, '', 2_000)).toBe('here')
  expect([changes[0], changes.at(-1)]).toEqual([false, true])
})

withServer('a request waits for a connection as long as for its answer', async () => {
  await using pair = await startPair()
  pair.head.serve('hl.1.hello.*', async () => 'here')
  await pair.rig.stop()
  await until(() => !pair.head.status().isConnected && !pair.box.status().isConnected)

  const given = await pair.box.ask(HELLO, '', 50).catch(String)
  const waiting = pair.head.ask('hl.1.nobody', '', 5_000).catch(String)
  pair.rig.run()

  expect(given).toBe('LinkError: There is no connection to the broker.')
  expect(await waiting).toBe('LinkError: Nobody listens to the request.')
})

withServer('a broker that answers no more is noticed by pings, and found again', async () => {
  await using pair = await startPair(100)
  const { pid } = pair.rig

  process.kill(pid, 'SIGSTOP')
  // More than the kernel takes for it: the client would wait for this before it closes.
  for (let index = 0; index < 20; index += 1) {
    pair.box.ask(HELLO, 'x'.repeat(1_000_000), 60_000).catch(() => {})
  }
  await until(() => !pair.box.status().isConnected && !pair.head.status().isConnected)
  process.kill(pid, 'SIGCONT')

  await until(() => pair.box.status().isConnected && pair.head.status().isConnected)
})

withServer('of several addresses the one that answers is taken', async () => {
  const { rig, seed } = await sharedPair()
  using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const servers = [
    `127.0.0.1:${silent.port}`,
    `127.0.0.1:${await freePort()}`,
    `localhost:${rig.port}`,
  ]

  const box = await rig.connectBox('studio', seed, { servers })

  expect(box.status()).toMatchObject({ server: `localhost:${rig.port}`, problem: null })
})

withServer('another authority, another name and an unknown key each have their name', async () => {
  const { rig, seed } = await sharedPair()
  using folder = new ScratchFolder()
  const { ca } = keepCertificates(dataDirectoryAt(folder.path), natsTools)
  const { seed: unknown } = await makeKey()
  const servers = [`127.0.0.1:${await freePort()}`]

  const links = await Promise.all([
    rig.connect({ seed, ca }),
    rig.connect({ seed, serverName: 'other-name' }),
    rig.connect({ seed, ca: null }),
    rig.connect({ seed: unknown }),
    rig.connect({ seed, servers }),
  ])
  await until(() => links.every((link) => link.status().problem !== null))

  expect(links.map((link) => link.status().problem)).toEqual([
    'untrusted',
    'untrusted',
    'untrusted',
    'refused',
    'unreachable',
  ])
})

test('a link without a broker is closed while it dials, and its requests end', async () => {
  const dials = { begun: Promise.withResolvers<void>(), ended: 0 }
  using silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => dials.begun.resolve(), close: () => void (dials.ended += 1), data() {} },
  })
  const { seed } = await makeKey()
  const servers = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${silent.port}`]
  const more = { ca: null, serverName: null, seed, inboxPrefix: '_INBOX_x', name: 'test' }
  const link = connectNats({ servers, ...more }, natsTools)
  const open = link.ask(HELLO, '', 60_000).catch(String)

  await dials.begun.promise
  await link.close()

  expect(dials.ended).toBe(0)
  expect(await open).toBe('LinkError: There is no connection to the broker.')
  expect(await link.ask(HELLO, '', 60_000).catch(String)).toBe(await open)
})
