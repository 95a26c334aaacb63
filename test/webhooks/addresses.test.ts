// Names with several addresses, of which one is dead: every kind of call gets through to the others.

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import { createDownload } from '../../src/webhooks/network.ts'
import { createGet, createPost } from '../../src/webhooks/post.ts'
import { testNeeding } from '../support/needs.ts'
import { never, partsWith, resolving, serve, servers } from '../support/post-rig.ts'
import { TestClock } from '../support/test-clock.ts'

// Programs are started, which a busy machine is slow at.
setDefaultTimeout(60_000)

const programs: Bun.Subprocess[] = []
afterAll(() => programs.forEach((program) => program.kill()))

/** Lets connections to 127.0.0.2 hang, as a machine that is gone does: the queue of a port is full. */
const FULL = `
import socket, sys, time
port = int(sys.argv[1])
full = socket.socket()
full.bind(("127.0.0.2", port))
full.listen(0)
waiting = [socket.socket() for _ in range(4)]
for one in waiting:
    one.setblocking(False)
    one.connect_ex(("127.0.0.2", port))
time.sleep(0.1)
print("full", flush=True)
time.sleep(600)
`

async function silentAt(port: number): Promise<void> {
  const command = ['python3', '-c', FULL, String(port)]
  const program = Bun.spawn(command, { stdout: 'pipe' })
  programs.push(program)
  await program.stdout.getReader().read()
}

const NAME = 'name.example'
const TWO = { lookup: resolving('127.0.0.2', '127.0.0.1') }
const linuxTest = testNeeding('Linux', process.platform === 'linux')

linuxTest(
  'an address that is silent is passed over in the same call, for every kind of call',
  async () => {
    const port = serve(() => new Response('here'))
    await silentAt(port)
    const url = `http://${NAME}:${port}/`
    const tools = partsWith(TWO)

    const posted = await createPost(tools)({ url, headers: {}, body: '{}' }, never)
    const got = await createGet(tools)({ url, headers: {} }, never)
    const downloaded = await createDownload(tools)(url, (response) => response.text())

    expect(posted).toMatchObject({ statusCode: 200 })
    expect(got).toMatchObject({ statusCode: 200 })
    expect(downloaded).toEqual({ value: 'here' })
  },
)

linuxTest('a host whose every address is silent is a time-out after the ten seconds', async () => {
  const clock = new TestClock()
  const port = serve(() => new Response('nobody asks'))
  await silentAt(port)
  const tools = partsWith({ clock, lookup: resolving('127.0.0.2', '127.0.0.2') })
  const request = { url: `http://${NAME}:${port}/`, headers: {}, body: '{}' }
  const posted = createPost(tools)(request, never)

  await clock.advance(10_000)

  expect(await posted).toEqual({ result: 'failed', error: 'timeout', isPrivateTarget: true })
})

linuxTest(
  'an address that takes requests and never answers is not the one that the next attempt begins with',
  async () => {
    const clock = new TestClock()
    const seen: string[] = []
    const port = serve(() => {
      seen.push('good')
      return new Response()
    })
    const asked = Promise.withResolvers<void>()
    const mute = Bun.listen({
      hostname: '127.0.0.2',
      port,
      socket: {
        data() {
          seen.push('mute')
          asked.resolve()
        },
      },
    })
    servers.push(mute)
    const post = createPost(partsWith({ ...TWO, clock }))
    const request = { url: `http://${NAME}:${port}/`, headers: {}, body: '{}' }
    const first = post(request, never)
    await asked.promise
    await clock.advance(10_000)

    const results = [await first, await post(request, never), await post(request, never)]

    expect(results).toMatchObject([{ error: 'timeout' }, { statusCode: 200 }, { statusCode: 200 }])
    expect(seen).toEqual(['mute', 'good', 'good'])
  },
)

test('an address that answered and then refuses is followed by another in the same call', async () => {
  const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('first') })
  const port = gone.port ?? 0
  const url = `http://${NAME}:${port}/`
  const post = createPost(partsWith({ lookup: resolving('127.0.0.1', '::1') }))
  const request = { url, headers: {}, body: '{}' }

  const before = await post(request, never)
  await gone.stop(true)
  const other = Bun.serve({ hostname: '::1', port, fetch: () => new Response('other') })
  servers.push(other)

  expect([before, await post(request, never)]).toMatchObject([
    { excerpt: 'first' },
    { excerpt: 'other' },
  ])
})
