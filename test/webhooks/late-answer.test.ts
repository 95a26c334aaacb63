// Receivers that say their status at once, and end the body late, badly or never.

import { expect, spyOn, test } from 'bun:test'

import { postTo, servers } from '../support/post-rig.ts'
import { settle, TestClock } from '../support/test-clock.ts'

type Receiver = {
  readonly port: number
  /** Settles once a request is there. */
  readonly asked: Promise<void>
  /** Settles once the relay has closed the connection. */
  readonly left: Promise<void>
  answer(text: string): void
  close(): void
}

/** A receiver that answers only what the test asks. */
function receiver(): Receiver {
  const asked = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  let caller: Bun.Socket | null = null
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        caller = socket
        asked.resolve()
      },
      close: () => left.resolve(),
    },
  })
  servers.push(listener)
  return {
    port: listener.port,
    asked: asked.promise,
    left: left.promise,
    answer: (text) => void caller?.write(text),
    close: () => caller?.terminate(),
  }
}

const BODIES = {
  'a body': 'Transfer-Encoding: chunked\r\n\r\n5\r\nthank\r\n',
  'a short body': 'Content-Length: 9\r\n\r\nthank',
}

type Act = (to: Receiver, clock: TestClock, stop: AbortController) => Promise<void> | void
const LATE: Readonly<Record<string, Act>> = {
  'never ends it': (_, clock) => clock.advance(1_000),
  'breaks the connection off': (to) => to.close(),
  'sends no chunk but garbage': (to) => to.answer('zz\r\n\r\n'),
  'is still at it when the relay stops': async (_, clock, stop) => {
    stop.abort()
    await clock.advance(1_000)
  },
  'is still at it when the ten seconds are over': (_, clock) => clock.advance(500),
}

for (const [body, begun] of Object.entries(BODIES)) {
  for (const [what, act] of Object.entries(LATE)) {
    test(`a status counts on arrival, though the receiver of the event begins ${body} and ${what}`, async () => {
      using fetching = spyOn(globalThis, 'fetch')
      const clock = new TestClock()
      const stop = new AbortController()
      const to = receiver()
      const posted = postTo(`http://127.0.0.1:${to.port}/`, { clock }, stop.signal)
      await to.asked
      await clock.advance(9_500)
      to.answer(`HTTP/1.1 202 Accepted\r\n${begun}`)
      await fetching.mock.results[0]?.value
      await settle()

      await act(to, clock, stop)
      // Garbage within a length is a body that isn't over.
      if (body === 'a short body') await clock.advance(1_000)

      expect(await posted).toMatchObject({ result: 'answered', statusCode: 202 })
      await to.left
    })
  }
}

test.each(Object.entries(BODIES))(
  'the connection of a receiver that does not end %s within a second is closed',
  async (_body, begun) => {
    using fetching = spyOn(globalThis, 'fetch')
    const clock = new TestClock()
    const to = receiver()
    const posted = postTo(`http://127.0.0.1:${to.port}/`, { clock })
    await to.asked
    to.answer(`HTTP/1.1 202 Accepted\r\n${begun}`)
    await fetching.mock.results[0]?.value
    await settle()

    await clock.advance(1_000)

    expect(await posted).toMatchObject({ result: 'answered', statusCode: 202 })
    await to.left
  },
)
