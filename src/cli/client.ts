// `hookline client`: a typed client of the API in one file, generated from this version's OpenAPI document.

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

import type { App } from '../app.ts'
import { loadConfig } from '../config.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { VERSION } from '../system/version.ts'
import type { ApiDocument } from './clients/description.ts'
import { pythonClient } from './clients/python.ts'
import { typescriptClient } from './clients/typescript.ts'
import { type Call, type Command, EXIT, type ExitCode } from './command.ts'

const CLIENTS: Readonly<Record<string, (document: ApiDocument) => readonly string[]>> = {
  typescript: typescriptClient,
  python: pythonClient,
}

export const CLIENT_COMMAND: Command = {
  name: 'client',
  args: [{ name: 'LANGUAGE', choices: Object.keys(CLIENTS) }],
  options: [
    { name: 'out', value: 'FILE', sentence: 'Write it to this file.' },
    { name: 'fake', value: null, sentence: 'With the calls that only hookline fake answers.' },
  ],
  sentence: 'Print a typed API client for this version: one file, nothing to install.',
  run: printClient,
}

async function printClient({ args, options, out, surroundings }: Call): Promise<ExitCode> {
  const [language = ''] = args
  const document = await (options.has('fake') ? documentOfFake() : documentOfThisVersion())
  const lines = CLIENTS[language]?.(document) ?? []
  const text = `${lines.join('\n').replaceAll('{{version}}', VERSION).trimEnd()}\n`
  const given = options.get('out')
  if (given === undefined) {
    out.data({ language, version: VERSION, text }, text.trimEnd().split('\n'))
    return EXIT.ok
  }
  const path = resolve(surroundings.folder, given)
  writeFileSync(path, text)
  out.data({ language, version: VERSION, path }, [path])
  return EXIT.ok
}

/** Asks a relay that never starts, with its data in memory and no option set. */
async function documentOfThisVersion(): Promise<ApiDocument> {
  const { createApp } = await import('../app.ts')
  const { closeDatabase, openDatabase } = await import('../storage/database.ts')
  const { db } = openDatabase(':memory:', { version: VERSION })
  const nowhere = { defaultDataDir: '/', folder: '/', readText: () => null }
  const { config } = loadConfig({ ...nowhere, flags: {}, environment: {} })
  const app = createApp(config, {
    data: {
      db,
      directory: dataDirectoryAt(config.dataDir),
      secretKey: new Uint8Array(32),
      close: () => closeDatabase(db),
    },
    isListening: false,
  })
  try {
    return await documentFrom(app.http)
  } finally {
    await app.stop()
  }
}

async function documentOfFake(): Promise<ApiDocument> {
  const { startFake } = await import('../fake/bindings.ts')
  const url = 'http://localhost'
  const listener = { url, localUrl: url, port: 0, renew: () => {}, stop: async () => {} }
  const one = { host: '127.0.0.1', port: 0, lines: 1, seed: 1, webhook: null }
  const fake = await startFake({ ...one, open: () => listener })
  try {
    return await documentFrom(fake)
  } finally {
    await fake.stop()
  }
}

async function documentFrom(http: Pick<App['http'], 'fetch'>): Promise<ApiDocument> {
  const request = new Request('http://localhost/swagger/json', { headers: { host: 'localhost' } })
  const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
  const response = await http.fetch(request, peer)
  return (await response.json()) as ApiDocument // Tests check our own document.
}
