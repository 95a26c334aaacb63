// The idempotency keys of the manual. A recipe that two installations copy, with one API key for both, gives each item
// in each of them a key of its own, and a repeated try of an item the same key again.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { GUIDES } from '../../src/guides/guides.ts'
import { blocks, blocksIn, evaluate, node, runCode } from '../support/guide-recipes.ts'
import { testNeeding } from '../support/needs.ts'
import { ROOT } from '../support/source-files.ts'
import type { Json } from '../support/test-relay.ts'

const python = Bun.which('python3')
const hasJinja = python !== null && Bun.spawnSync([python, '-c', 'import jinja2']).exitCode === 0
const ITEMS = ['one', 'two'] as const
const ANN = '+12025550123'
const BEN = '+12025550147'

/** The key that a node of n8n's workflow sends with an item. */
function keyOf(name: string, item: Json): string {
  const parameters: readonly Json[] = node(name).headerParameters.parameters
  const header = parameters.find((one) => one.name === 'Idempotency-Key')
  return evaluate(header.value, { ...item, $execution: { id: '1' } })
}

test("two n8ns that begin to count send two items each under four keys, and repeat each item's own", async () => {
  const installation = async () => {
    const items: readonly Json[] = await runCode(node('Key for each item').jsCode, {
      $input: { all: () => ITEMS.map((text) => ({ json: { text } })) },
      $execution: { id: '1' },
    })
    return items.map(({ json }, $itemIndex) => ({ $json: json, $itemIndex }))
  }

  const items = [...(await installation()), ...(await installation())]
  const keys = items.map((item) => keyOf('Send', item))

  expect(new Set(keys).size).toBe(4)
  expect(items.map((item) => keyOf('Send', item))).toEqual(keys)
  expect(items.map(({ $json }) => $json.text)).toEqual([...ITEMS, ...ITEMS])
  for (const key of keys) expect(key).toMatch(/^[\x20-\x7e]{1,255}$/)
})

test('two n8ns that get the same two events reply under four keys, and to an event that comes twice under one', async () => {
  const reply = async (webhook: string, id: string) => {
    const code = node('Check the signature').jsCode
    const [{ json }]: Json = await runCode(
      code.replace("'wh_…'", `'${webhook}'`).replace('whsec_…', 'whsec_AAAA'),
      {
        helpers: { getBinaryDataBuffer: async () => Buffer.from('{}') },
        $input: { first: () => ({ json: { headers: { 'webhook-id': id } } }) },
      },
    )
    return keyOf('Reply', { $json: json })
  }
  const replies = () =>
    Promise.all(
      ['wh_a', 'wh_b'].flatMap((webhook) => ['evt_1', 'evt_2'].map((id) => reply(webhook, id))),
    )

  const keys = await replies()

  expect(new Set(keys).size).toBe(4)
  expect(await replies()).toEqual(keys)
})

/** Renders templates as Home Assistant does, by a sandbox of Jinja; each is a template and its variables. */
const JINJA = `
import datetime, json, sys
from jinja2.sandbox import ImmutableSandboxedEnvironment
environment = ImmutableSandboxedEnvironment()
day = datetime.datetime(2026, 11, 27, 9, 30)
environment.globals["now"] = lambda: day
print(json.dumps([environment.from_string(text).render(given) for text, given in json.load(sys.stdin)]))
`

function render(templates: readonly (readonly [template: string, variables: Json])[]): string[] {
  const run = Bun.spawnSync([python ?? '', '-c', JINJA], {
    stdin: Buffer.from(JSON.stringify(templates)),
  })
  return JSON.parse(run.stdout.toString())
}

/** The files of the recipe for Home Assistant, each with the values of secrets.yaml in place. */
function homeAssistant(installation: string): readonly Json[] {
  const [secrets, ...files] = blocks('home-assistant', 'yaml')
  const values: Json = Bun.YAML.parse((secrets ?? '').replace('"…', `"${installation}`))
  return files.map((text) =>
    Bun.YAML.parse(text.replaceAll(/!secret (\w+)/g, (_, name) => JSON.stringify(values[name]))),
  )
}

/** The template of the header, and those of `key` in the recipe's automations by the step that they name. */
function templates(installation: string) {
  const files = homeAssistant(installation)
  const sends = files.find((file) => file.rest_command)?.rest_command.hookline_send
  const actions: readonly Json[] = files.flatMap((file) =>
    Array.isArray(file) ? file : (file.automation ?? []).flatMap(({ actions: all }: Json) => all),
  )
  const keys: readonly string[] = actions.flatMap(({ data }) => data.key ?? [])
  return { header: sends.headers['Idempotency-Key'] as string, keys }
}

testNeeding('jinja2', hasJinja)(
  'two Home Assistants send two items each under four keys, and repeat each item under its own',
  () => {
    const { keys } = templates('a')
    expect(keys).toHaveLength(3)

    for (const template of keys) {
      // Two messages of one person, or, if nothing came in, one to each of two people.
      const people = template.includes('trigger') ? [ANN, ANN] : [ANN, BEN]
      const items = people.map((to, index) => {
        const id = `id-${index}`
        return { to, trigger: { json: { message: { id } }, event: { data: { id } } } }
      })
      const own = render(items.map((item) => [template, item]))
      const given = (installation: string) =>
        items.map(({ to }, at) => [templates(installation).header, { to, key: own[at] }] as const)
      const sent = render([...given('house'), ...given('cabin'), ...given('house')])

      expect(new Set(sent).size).toBe(4)
      expect(sent.slice(4)).toEqual(sent.slice(0, 2))
      for (const key of sent) expect(key).toMatch(/^[\x20-\x7e]{1,255}$/)
    }
  },
)

testNeeding('jinja2', hasJinja)(
  'calls of Home Assistant without a key are messages of their own, in the same instant too',
  () => {
    const { header } = templates('house')
    const sent = render(Array.from({ length: 3 }, () => [header, { to: ANN }] as const))

    expect(new Set(sent).size).toBeGreaterThan(1)
  },
)

test("before an id of the installation is filled in, the relay refuses Home Assistant's key", () => {
  expect(templates('…').header).not.toMatch(/^[\x20-\x7e]{1,255}$/)
})

/** What sends, the item with its number, and the step. */
const NAMED = /^berlin-[a-z]+(-\d+)+-[a-z]+$/

test('every sample that sends has a key of one installation, one item and one step', () => {
  const texts = [
    { name: 'README', text: readFileSync(`${ROOT}/README.md`, 'utf8') },
    ...GUIDES.filter(({ name }) => name !== 'command-line'),
  ]
  const commands = texts.flatMap(({ name, text }) =>
    blocksIn(text, 'sh')
      .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
      .filter((line) => /^curl .*\/(messages\/send|conversations\/\S+\/messages) /.test(line))
      .map((line) => [name, /-H 'Idempotency-Key: ([^']+)'/.exec(line)?.[1] ?? 'none'] as const),
  )
  const clients = texts.flatMap(({ name, text }) =>
    [...text.matchAll(/\bkey(?:(?:: |=f?)(?=['"])| = (?=`))(['"`])((?:(?!\{\{)[^'"`])+)\1/g)].map(
      // A day stands for its number.
      ([, , key = '']) => [name, key.replace(/\$?\{[^}]*\}/, '20261128')] as const,
    ),
  )

  expect(commands.length).toBeGreaterThan(5)
  expect(clients.length).toBe(4)
  expect([...commands, ...clients].filter(([, key]) => !NAMED.test(key))).toEqual([])
})
