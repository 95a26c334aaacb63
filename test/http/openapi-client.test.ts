// A typed client, as programs in TypeScript make it of the OpenAPI document: compiled strictly by the
// compiler of this checkout, and run against the real relay as a later version may answer. The other
// generators take minutes: `scripts/clients-check.ts` tries them.

import { expect, test } from 'bun:test'
import { cpSync, symlinkSync } from 'node:fs'

import { plugin } from 'bun'

import { startLaterRelay } from '../../scripts/clients/later-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { ROOT } from '../support/source-files.ts'
import { startRelay } from '../support/test-relay.ts'

const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
const MODULES = ['--module', 'preserve', '--target', 'esnext', '--allowImportingTsExtensions']

test('a client made of the document compiles strictly, and works against a later version too', async () => {
  using folder = new ScratchFolder()
  const driver = new ScriptedDriver()
  driver.add('+12025550101')
  await using relay = await startRelay({ drivers: [driver] })
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => relay.app.http.fetch(request, PEER),
  })
  using later = await startLaterRelay(server.url.origin)
  const document = await fetch(`${server.url.origin}/swagger/json`)
  await Bun.write(folder.file('api.ts'), await typesOf(await document.json()))
  cpSync(`${ROOT}/scripts/clients/programs/openapi-fetch.ts`, folder.file('main.ts'))
  symlinkSync(`${ROOT}/node_modules`, folder.file('node_modules'))

  const types = ['--noEmit', '--skipLibCheck', '--types', 'bun-types']
  const compiled = await run(
    [`${ROOT}/node_modules/.bin/tsc`, ...types, ...STRICT, ...MODULES, 'main.ts'],
    folder.path,
  )
  const ran = await run([process.execPath, 'main.ts'], folder.path, {
    API_URL: later.url.origin,
    API_KEY: relay.key?.key ?? '',
    API_SECRET: relay.key?.secret ?? '',
  })

  expect(compiled).toEqual({ exitCode: 0, output: '' })
  expect(ran).toEqual({ exitCode: 0, output: '' })
})

/** openapi-typescript writes with the compiler of before, which has an API for that in JavaScript. */
async function typesOf(document: unknown): Promise<string> {
  plugin({
    name: 'typescript of openapi-typescript',
    setup(build) {
      const load = async () => ({
        exports: await import('typescript-5'),
        loader: 'object' as const,
      })
      build.module('typescript', load)
    },
  })
  const { default: openapiTypescript, astToString } = await import('openapi-typescript')
  // It takes any document, and checks it.
  return astToString(await openapiTypescript(document as Parameters<typeof openapiTypescript>[0]))
}

async function run(
  command: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
) {
  const env = { ...process.env, ...more }
  const child = Bun.spawn([...command], { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, output: output + errors }
}
