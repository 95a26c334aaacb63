// What another user of the broker gets who hears all that a head and a box say, and says what it likes to both.

import { expect, test } from 'bun:test'

import type { Link } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { SignedLink } from '../../src/boxes/signed-link.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { MemoryNetwork } from '../support/memory-link.ts'
import { TestClock } from '../support/test-clock.ts'

const TO = 'hl.1.to.studio.boot'
const HELLO = 'hl.1.hello.studio'
const REQUEST = '{"op":"run"}'
const MINUTES = 60_000

type Key = Awaited<ReturnType<typeof makeKey>>
const [HEAD, BOX, STRANGER] = [await makeKey(), await makeKey(), await makeKey()]

class Stage {
  readonly clock = new TestClock()
  readonly network = new MemoryNetwork(this.clock)
  readonly heard: {
    readonly direction: string
    readonly subject: string
    readonly text: string
  }[] = []
  /** The network loses everything. */
  isCut = false
  /** Requests that a side has taken. */
  readonly taken: string[] = []

  constructor() {
    this.network.loses = (passing) => {
      this.heard.push(passing)
      return this.isCut
    }
  }

  /** A side that knows the other one by `key`, or not yet. */
  side(
    own: Key,
    other: Key | null,
    mustSign = other !== null,
  ): SignedLink & { readonly known: () => unknown } {
    const tools = { clock: this.clock, random: systemRandom, log: silentLog }
    let peer = { key: other?.publicKey ?? null, mustSign }
    const trust = {
      peer: () => peer,
      insist: (_box: string, key: string) => void (peer = { key, mustSign: true }),
    }
    const link = new SignedLink(this.network.link(), own, trust, tools)
    return Object.assign(link, { known: () => peer })
  }

  /** A side of a version that signs nothing. */
  old(): Link {
    return this.network.link()
  }

  serve(link: Link, subject: string): void {
    link.serve(subject, async (request) => {
      this.taken.push(request)
      return `{"isRunning":true,"count":${this.taken.length}}`
    })
  }

  /** The answer, or `none`. */
  async ask(link: Link, subject: string, text = REQUEST): Promise<string> {
    const answer = link.ask(subject, text, 1_000).catch(() => 'none')
    await this.clock.advance(0)
    await this.clock.advance(1_000)
    return answer
  }

  last(direction: 'request' | 'answer'): string {
    return this.heard.findLast((one) => one.direction === direction)?.text ?? ''
  }
}

type Forged = { readonly subject?: string; readonly text: string }

/** What a stranger has: a request that came, its answer, a request that did not come, and one of its own. */
type Heard = Record<'taken' | 'answer' | 'lost' | 'own', string>

/** What a stranger says. */
const FORGERIES: Record<string, (heard: Heard) => Forged> = {
  'a request without a signature': () => ({ text: REQUEST }),
  'a request with its own signature': ({ own }) => ({ text: own }),
  'its own signature in the name of the other': ({ own }) => ({
    text: own.replace(STRANGER.publicKey, HEAD.publicKey),
  }),
  'a request that came before': ({ taken }) => ({ text: taken }),
  'the signature of a request with another text': ({ lost }) => ({
    text: lost.replace('run', 'end'),
  }),
  'a request of one process of the box to another': ({ lost }) => ({
    subject: `${TO}2`,
    text: lost,
  }),
  'a request with another count': ({ lost }) => ({ text: lost.replace(/\.\d+\.0\./, '.77.0.') }),
  'a request that says that it is for good': ({ lost }) => ({ text: lost.replace('.0.', '.1.') }),
  'an answer as a request': ({ answer }) => ({ text: answer }),
  'a signature that is none': () => ({ text: '{"signed":"U.x.1.1.y"}' }),
}

for (const [what, forge] of Object.entries(FORGERIES)) {
  test(`a stranger gives no order by ${what}`, async () => {
    const stage = new Stage()
    const [head, box] = [stage.side(HEAD, BOX), stage.side(BOX, HEAD)]
    for (const subject of [TO, `${TO}2`]) stage.serve(box, subject)
    const given = await stage.ask(head, TO)
    const [taken, answer] = [stage.last('request'), stage.last('answer')]
    stage.isCut = true
    await stage.ask(head, TO)
    const lost = stage.last('request')
    await stage.ask(stage.side(STRANGER, null), TO)
    const own = stage.last('request')
    stage.isCut = false
    const { subject = TO, text } = forge({ taken, answer, lost, own })

    const got = await stage.ask(stage.old(), subject, text)

    expect([given, got]).toEqual(['{"isRunning":true,"count":1}', 'none'])
    expect(stage.taken).toEqual([REQUEST])
    expect(await stage.ask(head, TO)).toBe('{"isRunning":true,"count":2}')
  })
}

/** What a stranger answers in place of a box, from the head's request and an answer to an earlier one. */
const ANSWERS: Record<string, (request: string, answer: string) => string> = {
  'without a signature': () => '{"isRunning":true}',
  'with an answer to another request': (_request, answer) => answer,
  'with the request': (request) => request,
  'with another text under a signature': (_request, answer) => answer.replace('true', 'null'),
}

for (const [how, forge] of Object.entries(ANSWERS)) {
  test(`a stranger changes nothing by answering ${how}`, async () => {
    const stage = new Stage()
    const head = stage.side(HEAD, BOX)
    stage.serve(stage.side(BOX, HEAD), TO)
    await stage.ask(head, TO)
    const answer = stage.last('answer')
    stage.old().serve(TO, async (request) => forge(request, answer))

    expect(await stage.ask(head, TO)).toBe('none')
  })
}

test('a side that has never signed is heard without, in both directions', async () => {
  const stage = new Stage()
  stage.serve(stage.old(), TO)
  stage.serve(stage.side(BOX, null), HELLO)
  const upgraded = stage.side(HEAD, BOX, false)

  expect(await stage.ask(upgraded, TO)).toBe('{"isRunning":true,"count":1}')
  expect(await stage.ask(stage.old(), HELLO)).toBe('{"isRunning":true,"count":2}')
  // The older version ignores the signature.
  expect(JSON.parse(stage.taken[0] ?? '')).toMatchObject({ op: 'run' })
  expect(stage.taken[1]).toBe(REQUEST)
})

test('a side that has signed for ten minutes is never heard without again', async () => {
  const stage = new Stage()
  const [head, box] = [stage.side(HEAD, BOX, false), stage.side(BOX, null)]
  stage.serve(head, HELLO)

  await stage.ask(box, HELLO)
  // A new version that is taken back finds the other side as it was.
  const early = await stage.ask(stage.old(), HELLO)
  await stage.clock.advance(10 * MINUTES)
  await stage.ask(box, HELLO)
  const late = await stage.ask(stage.old(), HELLO)

  expect([early, late]).toEqual(['{"isRunning":true,"count":2}', 'none'])
  expect([head.known(), box.known()]).toEqual([
    { key: BOX.publicKey, mustSign: true },
    { key: HEAD.publicKey, mustSign: true },
  ])
  // Another head, as a stranger is one.
  stage.serve(stage.side(STRANGER, BOX), HELLO)
  expect(await stage.ask(box, HELLO)).toBe('none')
})

test('a request that another one overtakes is taken, and one of long ago is not', async () => {
  const stage = new Stage()
  const [head, box] = [stage.side(HEAD, BOX), stage.side(BOX, HEAD)]
  stage.serve(box, TO)
  await stage.ask(head, TO)
  const held: string[] = []
  const hold = async () => {
    stage.network.loses = ({ text }) => held.push(text) > 0
    await stage.ask(head, TO)
    stage.network.loses = () => false
  }
  await hold()
  await stage.ask(head, TO)
  const overtaken = await stage.ask(stage.old(), TO, held[0])
  await hold()
  for (let count = 0; count < 1_100; count += 1) void head.ask(TO, REQUEST, 1_000)
  await stage.clock.advance(0)

  expect(JSON.parse(overtaken)).toMatchObject({ isRunning: true })
  expect(await stage.ask(stage.old(), TO, held[1])).toBe('none')
})

test('a refusal is reported while the other side sends something, and not once it is silent', async () => {
  const stage = new Stage()
  const box = stage.side(BOX, HEAD)
  stage.serve(box, TO)
  const before = box.refuses('studio')
  await stage.ask(stage.old(), TO)
  const after = box.refuses('studio')
  await stage.clock.advance(10_000)

  expect([before, after, box.refuses('studio')]).toEqual([false, true, false])
})
