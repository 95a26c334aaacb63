// What is unsent or edited, and written again with equal words in the same minute: the screen shows the same bubble.
// Each text that stands there in the end was reported, and one that was edited may be reported twice.

import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { FRIEND, makeKnownLine, textsOf, type UiRig } from '../../../../support/iphone/ui-rig.ts'

const MINUTE_MS = 60_000
const OLD = 'before the line'

type Step =
  | { readonly what: 'say' | 'edit'; readonly text: string }
  | { readonly what: 'unsend' | 'look' }

const look: Step = { what: 'look' }
const unsend: Step = { what: 'unsend' }
const say = (text: string): Step => ({ what: 'say', text })
const edit = (text: string): Step => ({ what: 'edit', text })

/** A line at the beginning of a minute, with a friend in it of whom it knows an older message, or none. */
async function lineOf(isKnown: boolean): Promise<UiRig> {
  const rig = await makeKnownLine()
  if (!isKnown) rig.phone.chat(FRIEND).bubbles = []
  await rig.clock.advance(MINUTE_MS - (rig.clock.now() % MINUTE_MS))
  return rig
}

/** Plays the steps within a minute; the line looks once more after it. */
async function play(rig: UiRig, steps: readonly Step[]): Promise<readonly string[]> {
  const chat = rig.phone.chat(FRIEND)
  for (const step of steps) {
    if (step.what === 'look') await rig.poll()
    if (step.what === 'say') rig.phone.receive(FRIEND, step.text)
    const last = chat.bubbles.at(-1)
    if (last?.text === OLD) continue
    if (step.what === 'unsend') chat.bubbles = chat.bubbles.slice(0, -1)
    if (step.what === 'edit' && last !== undefined) last.text = step.text
  }
  await rig.poll()
  await rig.clock.advance(3 * MINUTE_MS)
  await rig.poll()
  return textsOf(rig)
}

describe.each([
  ['a new chat', false],
  ['a known chat', true],
])('in %s', (_what, isKnown) => {
  test.each([
    ['unsent, and written again below another', 'No|words', [say('No'), look, unsend, say('words'), say('No')]],
    ['two unsent, the second written again', 'No|Yes|words', [say('Yes'), say('No'), look, unsend, unsend, say('words'), say('No')]],
    ['two unsent after a third', 'No|Yes|a|words', [say('a'), say('Yes'), say('No'), look, unsend, unsend, say('words'), say('No')]],
    ['another in the place of an unsent one, with the mark of an edit', 'No|Yes, Edited', [say('No'), look, unsend, say('Yes, Edited')]],
    ['edited to the text of the next', 'No|Yes|Yes', [say('No'), look, edit('Yes'), say('Yes')]],
    ['an unsent one below an edited one', 'No|Yes, Edited', [say('Yes, Edited'), say('No'), look, unsend]],
  ])('%s: each text is reported', async (_story, told, steps) => {
    expect((await play(await lineOf(isKnown), steps)).toSorted().join('|').replaceAll('< ', '')).toBe(told)
  })
}) // prettier-ignore

test('what stands above the window, over a text that was written again, is reported', async () => {
  const rig = await lineOf(false)
  rig.phone.windowRows = 3
  const words = ['one', 'two', 'three', 'four']

  const told = await play(rig, [say('No'), look, unsend, ...words.map(say), say('No')])

  expect(told).toEqual(['No', ...words].map((text) => `< ${text}`))
})

const WORDS = fc.constantFrom('No', 'Yes', 'words')
const STEPS = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: WORDS.map(say) },
    { weight: 2, arbitrary: fc.constantFrom(look, unsend) },
    { weight: 1, arbitrary: WORDS.map(edit) },
  ),
  { maxLength: 12 },
)

test('whatever is unsent and edited within a minute, no text that stays is lost', async () => {
  const property = fc.asyncProperty(fc.boolean(), STEPS, async (isKnown, steps) => {
    const rig = await lineOf(isKnown)
    const told = await play(rig, steps)
    const left = [...told]
    const isLost = ({ text }: { readonly text: string }) => {
      const place = left.indexOf(`< ${text}`)
      if (place !== -1) left.splice(place, 1)
      return place === -1
    }
    const shown = rig.phone.chat(FRIEND).bubbles.filter(({ text }) => text !== OLD)

    expect(shown.filter(isLost)).toEqual([])
  })

  await fc.assert(property, { numRuns: 100 })
})
