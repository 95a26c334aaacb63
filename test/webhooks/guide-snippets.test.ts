// The two programs of the guide that verify a signature, run as a reader would run them.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { signedHeaders } from '../../src/webhooks/signature.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

const SECRET = new Uint8Array(32).fill(7)
const SECRET_TEXT = `whsec_${Buffer.from(SECRET).toString('base64')}`
const BODY = '{"event":"message.sent","text":"grüße 😀"}'

const CASES = [
  ['as it was sent', BODY, 0, true],
  ['with another body', BODY.replace('sent', 'read'), 0, false],
  ['an hour old', BODY, -3_600, false],
  ['whose time is no number', BODY, Number.NaN, false],
] as const

function signed(ageSeconds: number): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1_000) + ageSeconds
  const headers = signedHeaders({ id: 'evt_1', timestamp, body: BODY }, [
    SECRET,
    new Uint8Array(32).fill(8),
  ])
  return headers
}

function snippet(language: string): string {
  const guide = readFileSync(join(ROOT, 'src/guides/webhooks.md'), 'utf8')
  const match = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(guide)
  return match?.[1] ?? ''
}

test.each(CASES)(
  'the TypeScript of the guide judges a request %s',
  async (_, body, age, isOurs) => {
    using folder = new ScratchFolder()
    const path = join(folder.path, 'verify.ts')
    writeFileSync(path, snippet('ts'))
    const { isFromHookline } = await import(path)

    expect(isFromHookline(new Headers(signed(age)), body, SECRET_TEXT)).toBe(isOurs)
  },
)

const python = Bun.which('python3')

testNeeding('python3', python !== null)('the Python of the guide judges them alike', () => {
  const given = CASES.map(([, body, age]) => [signed(age), body, SECRET_TEXT])
  const call =
    'import json, sys\nprint(json.dumps([is_from_hookline(h, b.encode(), s) for h, b, s in json.load(sys.stdin)]))'

  const run = Bun.spawnSync([python ?? '', '-c', `${snippet('python')}\n${call}`], {
    stdin: Buffer.from(JSON.stringify(given)),
  })

  expect(JSON.parse(run.stdout.toString())).toEqual(CASES.map(([, , , isOurs]) => isOurs))
})
