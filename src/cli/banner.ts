// What a start tells the person who began it, or the log where nobody sits before it.

import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import type { Log } from '../system/log.ts'
import { VERSION } from '../system/version.ts'
import { rowsOf, textOf } from './answers.ts'
import type { Call } from './command.ts'
import { invocation } from './invocation.ts'
import { describeNewKey } from './keys.ts'
import { fields } from './table.ts'

/** At most 8 lines of what the owner wants to know, and at the first start the first key. */
export async function showBanner(
  call: Call,
  app: App,
  { config, url }: { readonly config: Config; readonly url: string },
): Promise<void> {
  const lines = rowsOf(await ask(app, '/phone-lines'))
  const findings = rowsOf(await ask(app, '/health'))
  const worst = findings.find((finding) => textOf(finding, 'severity') !== 'info')
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
  if (worst !== undefined) pairs.push(['missing', `${textOf(worst, 'title')}: ${own} doctor`])
  else if (lines.length === 0) pairs.push(['to try it', `${own} serve --simulated-lines 2`])
  pairs.push(['next', `${own} send TO TEXT, in another terminal`])
  for (const line of fields(pairs)) call.out.note(line)
  if (key === null) return
  // With --quiet too: nobody could ever read the secret again.
  call.out.data(key, ['', 'Your first API key:', ...describeNewKey(key), ''])
}

/** Before there is a password, each start at a terminal shows a new link that sets it. */
async function setupLinkOf({ dashboard }: App): Promise<[string, string][]> {
  if (dashboard.isClaimed()) return []
  const { url } = await dashboard.createSetupLink()
  return [['dashboard', `${url} (good once, for 30 minutes)`]]
}

/** Secrets never reach a log, so a relay without a terminal makes no key and no link of its own. */
export async function sayWhatIsMissing(app: App, log: Log): Promise<void> {
  const keys = rowsOf(await ask(app, '/keys?limit=1'))
  if (keys.length === 0) log.warn('there is no API key yet: make one by "hookline keys create"')
  if (!app.dashboard.isClaimed())
    log.warn('the dashboard has no password yet: get a link by "hookline setup-link"')
}

/** Asks the relay in this process, as the control socket does. */
async function ask(app: App, path: string): Promise<unknown> {
  const request = new Request(`http://localhost/api/v1${path}`)
  const peer = { address: null, isControl: true, liftTimeout: () => {} }
  return (await app.http.fetch(request, peer)).json()
}
