// Everything that can be seen of the relay from outside, as one picture: the OpenAPI document, who may call which
// operation, the command line's help and completion, and the names of metrics. A change of structure changes none of
// it; a meant change is in the diff of the snapshot (`bun test test/spec/whole-surface --update-snapshots`).

import { expect, test } from 'bun:test'

import { SCOPES } from '../../src/domain/permissions.ts'
import { OPERATIONS, pathOf } from '../http/dashboard-operations.ts'
import { startDashboard, type Browser } from '../http/dashboard-rig.ts'
import { startHttp } from '../http/http-relay.ts'
import { objectAt, readDocument } from '../http/openapi-document.ts'
import { hookline } from '../support/command-line.ts'
import { makeKey, openShop } from '../support/limited-keys.ts'

const HOUR_MS = 3_600_000

/** The code of an answer that refuses its caller; `open` for any other. */
async function verdict(response: Response): Promise<string> {
  const isRefused = response.status === 401 || response.status === 403
  const text = isRefused ? await response.text() : ''
  await response.body?.cancel().catch(() => {})
  return isRefused ? (/"code":"(\w+)"/.exec(text)?.[1] ?? text) : 'open'
}

test('the OpenAPI document is the same', async () => {
  expect(await readDocument('/swagger/whole.json')).toMatchSnapshot()
})

test('each scope opens the same operations of the API', async () => {
  await using relay = await openShop()
  const paths = objectAt(await readDocument('/swagger/whole.json'), 'paths')
  const operations = Object.keys(paths).flatMap((path) =>
    Object.keys(objectAt(paths, path)).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const keys = new Map<string, Awaited<ReturnType<typeof makeKey>>>()
  for (const scope of SCOPES) keys.set(scope, await makeKey(relay, { scopes: [scope] }))

  const opened: Record<string, readonly string[]> = {}
  for (const operation of operations.filter((one) => one.includes(' /api/v1/'))) {
    const [method = '', path = ''] = operation.replaceAll(/\{(\w+)\}/g, ':$1').split(' ')
    const [, body] = OPERATIONS[`${method} ${path}`] ?? []
    const url = pathOf(path).replace('/dashboard/api/', '/')
    const ask = async (headers: Readonly<Record<string, string>>) =>
      verdict(
        await relay.fetch(`/api/v1${url}`, {
          method,
          headers: {
            ...headers,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
    const open = (await ask({})) === 'open' ? ['nobody'] : []
    for (const [scope, { headers }] of keys) {
      if ((await ask(headers)) === 'open') open.push(scope)
    }
    opened[operation] = open
  }

  expect(opened).toMatchSnapshot()
})

test('the dashboard lets the owner, the owner after an hour and a member do the same', async () => {
  await using relay = await startDashboard()
  const owner = await relay.claim()
  const member = await relay.join(owner)
  const stranger = relay.browser()
  const callers: Readonly<Record<string, Browser>> = { owner, member, stranger }
  const table: Record<string, Record<string, string>> = {}
  for (const [when, who] of [
    ['fresh', ['owner', 'member', 'stranger']],
    ['after an hour', ['owner']],
  ] as const) {
    if (when !== 'fresh') relay.clock.doze(HOUR_MS)
    for (const [operation, [, body]] of Object.entries(OPERATIONS)) {
      // Ends the session that the rest of the table needs.
      if (/^(?:DELETE \/dashboard\/sessions?|POST \/dashboard\/password)$/.test(operation)) continue
      for (const name of who) {
        const [method = '', route = ''] = operation.split(' ')
        const answer = await callers[name]?.fetch(method, pathOf(route), { body })
        const code = answer === undefined ? 'unknown' : await verdict(answer)
        table[operation] = { ...table[operation], [`${name} ${when}`]: code }
      }
    }
  }

  expect(table).toMatchSnapshot()
})

test('help and completion of every command are the same', async () => {
  const { data } = JSON.parse((await hookline('help --json')).stdout)
  const pages: Record<string, string> = {}
  for (const { name } of data as { name: string }[]) {
    pages[name] = (await hookline(`help ${name}`)).stdout
  }
  for (const shell of ['bash', 'zsh', 'fish']) {
    pages[`completion for ${shell}`] = (await hookline(`completions ${shell}`)).stdout
  }

  expect(Object.keys(pages).length).toBeGreaterThan(40)
  expect(pages).toMatchSnapshot()
})

test('the metrics have the same names', async () => {
  await using rig = await startHttp({ environment: { HOOKLINE_PUBLIC_URL: '' } })
  const text = await (await rig.call('GET', '/metrics')).text()

  expect(text.split('\n').filter((line) => line.startsWith('# '))).toMatchSnapshot()
})
