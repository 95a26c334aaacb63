// The routes and the table of errors of WebDriverAgent 16.7.0 (FBSessionCommands.m, FBElementCommands.m,
// FBAlertViewCommands.m, FBCustomCommands.m, FBDebugCommands.m; FBCommandStatus.m).

const IN_SESSION = '/session/([^/]+)'

const ROUTES = {
  status: ['GET', '/status'],
  session: ['POST', '/session'],
  settings: ['POST', `${IN_SESSION}/appium/settings`],
  source: ['GET', `${IN_SESSION}/source`],
  url: ['POST', `${IN_SESSION}/url`],
  activate: ['POST', `${IN_SESSION}/wda/apps/activate`],
  find: ['POST', `${IN_SESSION}/element`],
  click: ['POST', `${IN_SESSION}/element/([^/]+)/click`],
  value: ['POST', `${IN_SESSION}/element/([^/]+)/value`],
  text: ['GET', `${IN_SESSION}/element/([^/]+)/text`],
  clear: ['POST', `${IN_SESSION}/element/([^/]+)/clear`],
  tap: ['POST', `${IN_SESSION}/wda/tap`],
  swipe: ['POST', `${IN_SESSION}/wda/swipe`],
  alert_text: ['GET', `${IN_SESSION}/alert/text`],
  alert_buttons: ['GET', `${IN_SESSION}/wda/alert/buttons`],
  alert_accept: ['POST', `${IN_SESSION}/alert/accept`],
  locked: ['GET', '/wda/locked'],
  unlock: ['POST', `${IN_SESSION}/wda/unlock`],
} as const satisfies Record<string, readonly [method: string, path: string]>

export type CommandName = keyof typeof ROUTES

export type Route = {
  readonly name: CommandName
  /** Null for a route without one. */
  readonly session: string | null
  readonly element: string
}

export type Answer = { readonly status: number; readonly body: string }

export function routeOf(method: string, target: string): Route | null {
  const path = target.replace(/\?.*$/, '')
  for (const [name, [verb, pattern]] of Object.entries(ROUTES)) {
    const match = verb === method ? new RegExp(`^${pattern}$`).exec(path) : null
    if (match === null) continue
    // The keys of the table are the names.
    return { name: name as CommandName, session: match[1] ?? null, element: match[2] ?? '' }
  }
  return null
}

const STATUS = {
  'no such element': 404,
  'stale element reference': 404,
  'no such alert': 404,
  'invalid session id': 404,
  'unknown command': 404,
  'invalid element state': 400,
  'unexpected alert open': 500,
  'unknown error': 500,
} as const satisfies Record<string, number>

export type WdaError = keyof typeof STATUS

/** `value.error`, `value.message` and `value.traceback`, beside the session (FBResponsePayload.m). */
export function failed(error: WdaError, sessionId: string | null): Answer {
  const value = { error, message: 'Descriptions quote what is on the screen.', traceback: '' }
  return { status: STATUS[error], body: JSON.stringify({ value, sessionId }) }
}

export function succeeded(value: unknown, sessionId: string | null): Answer {
  return { status: 200, body: JSON.stringify({ value: value ?? null, sessionId }) }
}
