// Answers of a relay that can't use its database. Everyone sees that a person must act; callers on the machine
// itself also see the reason and the next step.

import type { Config } from '../config.ts'
import { RelayError } from '../domain/errors.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import { hostsOf, isLoopbackOnly, type Hosts } from './hosts.ts'
import { smallPage, wantsPage } from './html-pages.ts'
import { listen, listenEverywhere, type Listener } from './listener.ts'
import { requestIds } from './request-context.ts'
import { errorResponse, respond } from './respond.ts'
import type { Http } from './server.ts'
import { readTls } from './tls.ts'

export type SafeMode = {
  /** For the owner, in whole sentences. */
  readonly reason: string
  /** For the owner, in whole sentences. */
  readonly nextStep: string
  readonly code: 'starting' | 'storage_full'
}

const RETRY_SECONDS = 60

/** Listens on the port, and on the control socket at `path` if it isn't null. */
export function listenInSafeMode(
  mode: SafeMode,
  options: {
    readonly config: Config
    readonly path: string | null
    readonly random: Random
    readonly log: Log
  },
): Listener {
  const { config, path, random, log } = options
  const { host, port } = config
  const http = createSafeMode(mode, { hosts: hostsOf(config), random })
  const at = { host, port, log, tls: readTls(config) }
  return path === null ? listen(http, at) : listenEverywhere(http, { ...at, path })
}

export function createSafeMode(
  { reason, ...rest }: SafeMode,
  given: { readonly hosts: Pick<Hosts, 'publicUrl' | 'isTrustedProxy'>; readonly random: Random },
): Http {
  const { hosts, random } = given
  // A reason may end with a command instead of a full stop, and another sentence follows it.
  const mode = { ...rest, reason: reason.replace(/\.?$/, '.') }
  const nextId = requestIds(random)
  return {
    async fetch(request, peer) {
      // Only for the owner, because the reason names folders of this machine.
      const isOwner = isLoopbackOnly(request.headers, peer, hosts)
      return answer(mode, { request, isOwner, requestId: nextId() })
    },
    endStreams() {},
  }
}

type Asking = {
  readonly request: Request
  readonly isOwner: boolean
  readonly requestId: string
}

function answer(mode: SafeMode, { request, isOwner, requestId }: Asking): Response {
  const path = pathOf(request)
  if (path === '/healthz') return alive(isOwner ? mode : null, requestId)
  const shown = isOwner ? mode : forOthers(mode)
  const isPage = !path.startsWith('/api') && path !== '/readyz' && wantsPage(request)
  if (isPage) return page(shown, requestId)
  const { reason, nextStep, code } = shown
  const message = `The relay is in safe mode and serves nothing. ${reason} ${nextStep}`.trim()
  const error = new RelayError(code, message, { retryAfterSeconds: RETRY_SECONDS })
  return errorResponse(error, requestId)
}

function forOthers({ code }: SafeMode): SafeMode {
  const reason =
    code === 'storage_full' ? 'The disk of the relay is full.' : 'It cannot use its database.'
  return { reason, nextStep: 'On the machine itself, "hookline status" says more.', code }
}

/** Answers 200, so that a supervisor doesn't restart the relay, which wouldn't help. */
function alive(mode: SafeMode | null, requestId: string): Response {
  const more = mode === null ? {} : { reason: mode.reason, next_step: mode.nextStep }
  return respond(JSON.stringify({ status: 'safe_mode', ...more }), { status: 200, requestId })
}

function page({ reason, nextStep }: SafeMode, requestId: string): Response {
  const paragraphs = [
    'It takes and sends no messages. What it has accepted is kept.',
    Bun.escapeHTML(reason),
    Bun.escapeHTML(nextStep),
  ]
  const headers = { 'retry-after': String(RETRY_SECONDS) }
  return smallPage({ title: 'Safe mode', paragraphs }, { status: 503, requestId, headers })
}

/** The path of a request. Without a usable Host its URL is only a path. */
function pathOf({ url }: Request): string {
  return URL.canParse(url) ? new URL(url).pathname : (url.split('?')[0] ?? '')
}
