// The first lines that a relay prints at a terminal, and their counterpart in a log.

import { realpathSync } from 'node:fs'
import { relative } from 'node:path'

import { callOperation } from '../api/client.ts'
import type { Answer, OperationId } from '../api/operations.ts'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { defaultDataDirectory } from '../system/data-directory.ts'
import type { Log } from '../system/log.ts'
import { ownExecutable } from '../system/own-process.ts'
import { VERSION } from '../system/version.ts'
import type { Call } from './command.ts'
import { describeNewKey } from './credentials.ts'
import { fields } from './table.ts'

/** Prints at most 8 lines for the owner, and the first API key at the first start. */
export async function showBanner(
  call: Call,
  app: App,
  { config, url }: { readonly config: Config; readonly url: string },
): Promise<void> {
  const { data: lines } = await ask(app, 'listPhoneLines')
  const { data: findings } = await ask(app, 'listHealthFindings')
  const worst = findings.find(({ severity }) => severity !== 'info')
  const key = await app.createFirstKey()
  const own = invocation(call)
  const pairs: [string, string][] = [
    ['Hookline', VERSION],
    ['address', url],
    ...(await setupLinkOf(app)),
    ['documentation', `${url}/swagger`],
    ['data', config.dataDir],
    ['lines', lines.length === 0 ? 'none yet' : String(lines.length)],
  ]
  if (worst !== undefined) pairs.push(['issue', `${worst.title}. Details: ${own} doctor`])
  else if (lines.length === 0) pairs.push(['try it', `${own} serve --simulated-lines 2`])
  pairs.push(['next', `${own} send TO TEXT, in another terminal`])
  call.out.note(fields(pairs))
  if (key === null) return
  // Even with --quiet: the secret cannot be shown again.
  call.out.data(key, ['', 'Your first API key:', ...describeNewKey(key), ''])
}

/** Until a password is set, each start at a terminal shows a new link to set it. */
async function setupLinkOf({ dashboard }: App): Promise<[string, string][]> {
  if (dashboard.hasPassword()) return []
  const { url } = await dashboard.createSetupLink()
  return [['dashboard', `${url} (valid once, for 30 minutes)`]]
}

/** Makes no key and no link without a terminal: secrets never reach a log. */
export function logMissingSetup(app: App, log: Log): void {
  if (!app.hasKeys()) log.warn('no API key yet: create one with "hookline keys create"')
  if (!app.dashboard.hasPassword())
    log.warn('the dashboard has no password yet: get a link with "hookline setup-link"')
}

/** Asks the relay in this process, with the rights of the control socket. */
async function ask<Id extends OperationId>(app: App, id: Id): Promise<Answer<Id>> {
  const peer = { address: null, isControl: true, liftTimeout: () => {} }
  const fetch = async (path: string, init: RequestInit) =>
    app.http.fetch(new Request(`http://localhost${path}`, init), peer)
  return (await callOperation(fetch, id, {})).body
}

/** The shell command for this executable and data directory: `hookline` if it is on the PATH, else a path. */
function invocation(call: Call): string {
  const { dataDir } = call.loadConfig().config
  const isElsewhere = dataDir !== defaultDataDirectory(call.surroundings.environment)
  return nameOf(call) + (isElsewhere ? ` --data-dir ${quoted(dataDir)}` : '')
}

function nameOf({ surroundings: { environment, folder } }: Call): string {
  const executable = ownExecutable()
  const found = Bun.which('hookline', { PATH: environment['PATH'] ?? '' })
  if (executable === null || (found !== null && realpathSync(found) === executable)) {
    return 'hookline'
  }
  const near = relative(folder, executable)
  return quoted(near.startsWith('..') ? executable : `./${near}`)
}

/** The word for a shell, in quotes if it needs them. */
function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
