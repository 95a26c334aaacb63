import { expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'

import { sourceFiles, type SourceFile } from '../support/source-files.ts'
import { importsOf, layerProblems, loadedBy, targetsOf } from './layers.ts'

test('every import of the program goes down, and to a module that the importer may know', () => {
  const problems = sourceFiles('src/**/*.{ts,tsx}').flatMap(layerProblems)

  expect(problems).toEqual([])
})

test('the reader of imports sees types, side effects, re-exports and imports over several lines', () => {
  const text = [
    "import type { A } from './a.ts'",
    "import './b.ts'",
    "import {\n  c,\n  type C,\n} from './c.ts'",
    "export { d } from './d.ts'",
    "const e = await import('./e.ts')",
  ].join('\n')

  expect(importsOf(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts'])
})

const FORBIDDEN: readonly (readonly [path: string, target: string])[] = [
  ['src/domain/message.ts', '../system/clock.ts'],
  ['src/domain/message.ts', 'node:crypto'],
  ['src/domain/message.ts', 'bun:sqlite'],
  ['src/domain/message.ts', 'typebox'],
  ['src/system/log.ts', '../storage/database.ts'],
  ['src/storage/credentials.ts', '../webhooks/publish.ts'],
  ['src/storage/credentials.ts', '../config.ts'],
  ['src/lines/kinds/simulated/driver.ts', '../../storage/lines.ts'],
  ['src/lines/kinds/simulated/driver.ts', '../mac/driver.ts'],
  ['src/lines/kinds/mac/driver.ts', '../iphone/cable/usbmux.ts'],
  ['src/lines/kinds/iphone/cable/usbmux.ts', '../driver.ts'],
  ['src/lines/kinds/iphone/agent/wda.ts', '../screens/ui-send.ts'],
  ['src/lines/kinds/iphone/screens/ui-send.ts', '../cable/usbmux.ts'],
  ['src/lines/kinds/mac/driver.ts', 'plist'],
  ['src/hosting/launchctl.ts', 'plist'],
  ['src/webhooks/post.ts', '../lines/supervisor.ts'],
  ['src/webhooks/post.ts', '../lines/kinds.ts'],
  ['src/messages/send.ts', '../webhooks/loop.ts'],
  ['src/messages/send.ts', '../http/errors.ts'],
  ['src/messages/send.ts', 'drizzle-orm'],
  ['src/messages/send.ts', 'elysia'],
  ['src/api/messages.ts', '../storage/messages.ts'],
  ['src/messages/send.ts', 'bun:sqlite'],
  ['src/http/messages.ts', '../lines/kinds.ts'],
  ['src/http/messages.ts', '@sinclair/typebox'],
  ['src/http/messages.ts', '../app.ts'],
  ['src/http/swagger.ts', '../dashboard/index.html'],
  ['src/http/messages.ts', 'preact'],
  ['src/dashboard/store.ts', '../domain/message.ts'],
  ['src/dashboard/pages/home.tsx', '../../http/messages.ts'],
  ['src/dashboard/store.ts', 'node:fs'],
  ['src/dashboard/store.ts', 'bun'],
  ['src/dashboard/store.ts', 'elysia'],
  ['src/dashboard/pages/line-test.tsx', 'uqr'],
  ['src/cli/serve.ts', '../messages/send.ts'],
  ['src/main.ts', './app.ts'],
  ['src/app.ts', '../test/support/test-clock.ts'],
]

for (const [path, target] of FORBIDDEN) {
  test(`${path} must not import ${target}`, () => {
    const text = `import type { Thing } from '${target}'\n`

    expect(layerProblems({ path, text })).toEqual([`${path} must not import ${target}`])
  })
}

test('the page knows the types of the server, and nothing that browsers would load with them', () => {
  const path = 'src/dashboard/api.ts'
  const types = "import type { Message } from '../api/messages.ts'\n"
  const values = "import { Message } from '../api/messages.ts'\n"
  const macro = "import { routes } from '../api/routes.macro.ts' with { type: 'macro' }\n"

  expect(layerProblems({ path, text: types + macro })).toEqual([])
  expect(layerProblems({ path, text: values })).toEqual([
    `${path} must import only types of ../api/messages.ts`,
  ])
})

test('the client of the broker is loaded if there is something to join, and not before', () => {
  const of = (text: string) => layerProblems({ path: 'src/boxes/enrolment.ts', text })

  expect(of("import type { NatsLink } from './nats-link.ts'\n")).toEqual([])
  expect(of("  const { nkeys } = await import('./nats-link.ts')\n")).toEqual([])
  expect(of("import { connectNats } from './nats-link.ts'\n")).toEqual([
    'src/boxes/enrolment.ts must load nats-link.ts with an import() of its own',
  ])
})

test("elysia's own t is known to the bridge only", () => {
  const text = "import { Elysia, t } from 'elysia'\n"

  const elsewhere = layerProblems({ path: 'src/http/keys.ts', text })
  const bridge = layerProblems({ path: 'src/http/bind.ts', text })

  expect(elsewhere).toEqual(["src/http/keys.ts must not use elysia's t"])
  expect(bridge).toEqual([])
})

test('no file imports itself by way of others, types included', () => {
  const sources = sourceFiles('src/**/*.{ts,tsx}')
  const imports = new Map(sources.map((file) => [file.path, targetsOf(file)]))
  const circles = sources.flatMap(({ path }) => (reaches(imports, path, path) ? [path] : []))

  expect(circles).toEqual([])
})

test('the command line starts without the relay, its routes, its database and its drivers', () => {
  const sources = sourceFiles('src/**/*.ts')
  const loaded = new Map(sources.map((file) => [file.path, loadedFiles(file)]))
  const heavy = [
    'src/app.ts',
    'src/box.ts',
    'src/mcp/server.ts',
    'src/storage/database.ts',
    'src/lines/kinds/mac/driver.ts',
    'src/lines/kinds/iphone/driver.ts',
  ]

  expect(heavy.filter((path) => reaches(loaded, 'src/main.ts', path))).toEqual([])
  expect(reaches(loaded, 'src/main.ts', 'src/cli/messages.ts')).toBe(true)
  expect(reaches(loaded, 'src/cli/serve.ts', 'src/storage/database.ts')).toBe(true)
})

test('a relay starts without what its first requests do not need', () => {
  const sources = sourceFiles('src/**/*.ts')
  const loaded = new Map(sources.map((file) => [file.path, loadedFiles(file)]))
  const late = ['src/mcp/server.ts', 'src/http/openapi.ts', 'src/lines/kinds/mac/driver.ts']

  expect(late.filter((path) => reaches(loaded, 'src/app.ts', path))).toEqual([])
})

test('a relay loads nothing of hookline fake, and no command but that one does', () => {
  const sources = sourceFiles('src/**/*.ts')
  const loaded = new Map(sources.map((file) => [file.path, loadedFiles(file)]))
  const fake = sources.map(({ path }) => path).filter((path) => path.startsWith('src/fake/'))
  const starts = ['src/main.ts', 'src/cli/serve.ts', 'src/app.ts']

  expect(fake.filter((path) => starts.some((start) => reaches(loaded, start, path)))).toEqual([])
  expect(reaches(loaded, 'src/cli/fake.ts', 'src/fake/world.ts')).toBe(true)
})

function loadedFiles({ path, text }: SourceFile): readonly string[] {
  return loadedBy(text)
    .filter((target) => target.startsWith('.'))
    .map((target) => normalize(join(dirname(path), target)))
}

/** True if the imports of `from` lead to `to`, directly or by way of others. */
function reaches(imports: ReadonlyMap<string, readonly string[]>, from: string, to: string) {
  const seen = new Set<string>()
  const open = [from]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const target of imports.get(path) ?? []) {
      if (target === to) return true
      if (!seen.has(target)) open.push(target)
      seen.add(target)
    }
  }
  return false
}
