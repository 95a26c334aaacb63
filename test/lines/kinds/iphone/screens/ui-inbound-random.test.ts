// Days on a phone at random: people write in several chats, somebody types on the phone, the line sends, is
// killed and comes back. What is told is what was said, in the order of each chat, once.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { FRIEND, makeUiRig, OTHER } from '../../../../support/iphone/ui-rig.ts'

const RUNS = Number(process.env['HOOKLINE_INBOUND_RUNS'] ?? '60')
const PEOPLE = [FRIEND, OTHER]

const PERSON = fc.constantFrom(...PEOPLE)
/** Few texts, so that many are equal; one looks like a label of ours. */
const TEXT = fc.constantFrom('ok', 'yes', 'Your iMessage, ok, 1:30 PM', 'a, b')

const ACT = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constantFrom('receive', 'type'), person: PERSON, text: TEXT }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('send'), person: PERSON, text: TEXT }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('poll', 'tapback', 'kill') }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('wait'), ms: fc.nat({ max: 7_200_000 }) }) },
)

type Act = {
  readonly act: string
  readonly person?: typeof FRIEND
  readonly text?: string
  readonly ms?: number
}

async function live(acts: readonly Act[]) {
  const rig = makeUiRig()
  const said: string[] = []
  let line = { poll: rig.poll, send: rig.send, kill: rig.kill }
  const doing: Readonly<Record<string, (act: Act) => unknown>> = {
    receive: ({ person = FRIEND, text = '' }) => {
      said.push(`${person} < ${text}`)
      rig.phone.receive(person, text)
    },
    // The list does not show that somebody typed what was said last: each is another text.
    type: ({ person = FRIEND }) => {
      said.push(`${person} > typed ${said.length}`)
      rig.phone.write(person, `typed ${said.length - 1}`)
    },
    send: ({ person = FRIEND, text = '' }) => line.send(text, { to: person }),
    poll: () => line.poll(),
    wait: ({ ms = 0 }) => rig.clock.advance(ms),
    // What has a tapback when it is first seen is told with it: its words are not known.
    tapback: async () => {
      await line.poll()
      for (const { bubbles } of rig.phone.chats) loveOne(bubbles)
    },
    kill: () => {
      line.kill()
      line = rig.restart()
    },
  }
  await line.poll()
  await rig.clock.advance(90_000)
  for (const act of acts) {
    await doing[act.act]?.(act)
    // Bubbles of one moment have no order of their own.
    await rig.clock.advance(1_000)
  }
  await line.poll()
  await line.poll()
  const told = rig.told.messages.map(
    ({ handle, isFromMe, text }) => `${handle} ${isFromMe ? '>' : '<'} ${text}`,
  )
  return { said, told, guids: rig.told.messages.map(({ guid }) => guid) }
}

/** The other side marks one of our messages, or we mark theirs: the label of an old bubble grows. */
function loveOne(bubbles: readonly { text: string; tapback: string | null }[]): void {
  const unique = bubbles.find(({ text }) => bubbles.filter((one) => one.text === text).length === 1)
  if (unique !== undefined) unique.tapback = 'Loved by you'
}

function ofChat(lines: readonly string[], person: string): readonly string[] {
  return lines.filter((line) => line.startsWith(person))
}

test(`in ${RUNS} days what is told is what was said`, async () => {
  const property = fc.asyncProperty(fc.array(ACT, { maxLength: 25 }), async (acts) => {
    const { said, told, guids } = await live(acts)

    for (const person of PEOPLE) expect(ofChat(told, person)).toEqual(ofChat(said, person))
    expect(new Set(guids).size).toBe(guids.length)
  })

  await fc.assert(property, { numRuns: RUNS })
}, 120_000)
