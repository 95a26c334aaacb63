// The contract with clients of earlier versions. From before files, groups and reactions: what they asked for
// and got about direct text messages stays as it was. `direct-text-bodies.json` was recorded by the same deeds from
// the version that had texts only.

import { expect, test } from 'bun:test'

import { directTextBodies, settingsBodies } from './direct-text-deeds.ts'

type Bodies = readonly (readonly [string, string])[]

const fixture = (name: string): Promise<Bodies> =>
  Bun.file(new URL(`../fixtures/${name}.json`, import.meta.url)).json()
const RECORDED = await fixture('direct-text-bodies')

test('answers and webhook bodies of direct text messages are those of before, byte for byte', async () => {
  const bodies = await directTextBodies()

  expect(bodies.map(([name]) => name)).toEqual(RECORDED.map(([name]) => name))
  for (const [place, [, body]] of bodies.entries()) expect(body).toBe(RECORDED[place]?.[1] ?? '')
})

test('answers about keys, lines and webhooks are those from before keys had limits, byte for byte', async () => {
  const recorded = await fixture('settings-bodies')

  expect(await settingsBodies()).toEqual(recorded)
})
