// The contract with clients of earlier versions. From before files, groups and reactions: what they asked for
// and got about direct text messages stays as it was. `direct-text-bodies.json` was recorded by the same deeds from
// the version that had texts only. Of errors, the words may change, and fields that have come since are left out.

import { expect, test } from 'bun:test'

import { directTextBodies, settingsBodies } from './direct-text-deeds.ts'

type Bodies = readonly (readonly [string, string])[]

const fixture = (name: string): Promise<Bodies> =>
  Bun.file(new URL(`../fixtures/${name}.json`, import.meta.url)).json()
const RECORDED = await fixture('direct-text-bodies')

test('answers and webhook bodies of direct text messages are those of before, byte for byte', async () => {
  const bodies = await directTextBodies()

  expect(bodies.map(([name]) => name)).toEqual(RECORDED.map(([name]) => name))
  for (const [place, [, body]] of bodies.entries()) {
    expect(withoutWords(body)).toBe(withoutWords(RECORDED[place]?.[1] ?? ''))
  }
})

test('answers about keys, lines and webhooks are those from before keys had limits, byte for byte', async () => {
  const recorded = await fixture('settings-bodies')

  const bodies = await settingsBodies()

  expect(bodies.map(([name, body]) => [name, withoutWords(body)])).toEqual(
    recorded.map(([name, body]) => [name, withoutWords(body)]),
  )
})

/** An answer such as `404 {"error":…}` without what is for people; any other text as it is. */
function withoutWords(text: string): string {
  const [, status, json = ''] = /^([45]\d\d) (\{"error".*)$/.exec(text) ?? []
  if (status === undefined) return text
  const { code, details } = JSON.parse(json).error
  const issues = details?.issues?.map(({ path }: { readonly path: string }) => path)
  return `${status} ${JSON.stringify({ code, details: issues ?? details })}`
}
