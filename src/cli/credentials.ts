// Commands for API keys, and for the link that sets the dashboard's password.

import type { CreatedKey, Key, KeyCreation, KeyRules, RevokedKey } from '../api/keys.ts'
import { COMPAT_NAMES, withCompatScopes, withConnection } from '../compat/apis.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { countWords } from '../domain/number-words.ts'
import { filledPage } from '../domain/pages.ts'
import {
  APPROVAL_RULES,
  EVERYTHING,
  RECIPIENT_RULES,
  SCOPES,
  SCOPE_GROUPS,
  collapsedScopes,
  limitsLike,
  type Scope,
  type ScopeGroup,
} from '../domain/permissions.ts'
import type { FileCore } from '../storage/core.ts'
import { systemClock } from '../system/clock.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'
import type { Seal } from '../system/seal.ts'
import { UsageError, argument, type Call, type Command, type CommandOption } from './command.ts'
import { askRelay, runningRelay, throughRelayOrFile, type OwnFile } from './own-file.ts'
import { plainRecipient } from './recipient.ts'
import { fields, stateCell, table, timeCell, type Cell, type Line } from './table.ts'

/** Loaded only if no relay runs, when the command opens the database itself. */
const stored = () => import('../keys/credentials.ts')

export const FIRST_PAGE = { limit: 200, cursor: null }
export const FIRST_PAGE_QUERY = { query: { limit: String(FIRST_PAGE.limit) } }

const LIMIT_OPTIONS: readonly CommandOption[] = [
  {
    name: 'scopes',
    value: 'LIST',
    sentence: 'What it may do, such as read,send. Default: all.',
  },
  {
    name: 'lines',
    value: 'LIST',
    ids: 'lines',
    sentence: 'The only lines it may use: ids, numbers or labels.',
  },
  {
    name: 'sites',
    value: 'LIST',
    ids: 'sites',
    sentence: 'The only sites whose lines it may use, also after lines have moved.',
  },
  {
    name: 'conversations',
    value: 'LIST',
    ids: 'conversations',
    sentence: 'The only conversations it may use: ids or names.',
  },
  { name: 'expires', value: 'TIME', sentence: 'When it ends: 90d, 12h, or a date and time.' },
  {
    name: 'recipients',
    value: 'WHO',
    sentence: `Who it may write to: ${RECIPIENT_RULES.join(', ')}.`,
  },
  { name: 'allow', value: 'LIST', sentence: 'Numbers that it may write to besides.' },
  { name: 'per-hour', value: 'N', sentence: 'How many messages it may send in an hour.' },
  { name: 'per-day', value: 'N', sentence: 'How many messages it may send in 24 hours.' },
  {
    name: 'approval',
    value: 'WHICH',
    sentence: `Which messages wait for approval: ${APPROVAL_RULES.join(', ')}.`,
  },
  { name: 'quiet-hours', value: 'HH:MM-HH:MM', sentence: 'When its messages wait.' },
]

/** The former name of `keys create` with limits, which still works. */
export const KEYS_ADD_COMMAND: Command = {
  name: 'keys add',
  args: [{ name: 'NAME' }],
  options: LIMIT_OPTIONS,
  sentence: 'Create an API key with limits. Its secret is shown only once.',
  run: createApiKey,
}

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: 'keys create',
    args: [{ name: 'NAME', isOptional: true }],
    options: [
      { name: 'name', value: 'NAME', sentence: 'A name for the key, such as its app.' },
      {
        name: 'for',
        value: 'API',
        sentence: `A compatible API; the key works only there: ${COMPAT_NAMES.join(', ')}.`,
      },
      {
        name: 'like',
        value: 'ID',
        ids: 'keys',
        sentence: 'A key whose limits it gets, except for those in other options.',
      },
      ...LIMIT_OPTIONS,
    ],
    sentence: 'Create an API key. Its secret is shown only once.',
    run: createApiKey,
  },
  {
    name: 'keys list',
    short: 'keys',
    sentence: 'List API keys and their limits, including revoked ones. Short: keys.',
    run: listApiKeys,
  },
  {
    name: 'keys rotate',
    args: [{ name: 'ID', ids: 'keys' }],
    options: [
      {
        name: 'overlap',
        value: 'TIME',
        sentence: 'How long the old key goes on working, such as 1h. Default: 24h.',
      },
      {
        name: 'expires',
        value: 'TIME',
        sentence: 'When the new key ends: 90d, or a date and time.',
      },
    ],
    sentence: 'Create a key that takes the place of another one, which ends a day later.',
    run: rotateApiKey,
  },
  {
    name: 'keys revoke',
    args: [{ name: 'ID', ids: 'keys' }],
    options: [
      {
        name: 'all',
        value: null,
        sentence: 'End also its keys, webhooks, bridges and waiting messages.',
      },
    ],
    sentence: 'Revoke an API key permanently. Takes effect at once.',
    run: revokeApiKey,
  },
]

export const SETUP_LINK_COMMAND: Command = {
  name: 'setup-link',
  sentence: 'Print a one-time link to set or reset the dashboard password.',
  run: printSetupLink,
}

/** A new key, with the headers it goes into, or with what to enter into the program that it was made for. */
export function describeNewKey(
  made: Pick<CreatedKey, 'id' | 'key' | 'secret' | 'for' | 'connect'>,
): readonly Line[] {
  const { id, key, secret, for: madeFor, connect } = made
  const saved = "Save it now. You won't see it again."
  if (connect !== undefined) {
    return [
      `The key ${id} works only for programs that speak ${madeFor}. Enter there what it asks for:`,
      fields(Object.entries(connect)),
      `${saved} More: hookline guide compatible-apis`,
    ]
  }
  return [
    fields(Object.entries({ id, 'X-API-Key': key, 'X-API-Secret': secret })),
    "Save the secret now. You won't see it again.",
  ]
}

async function createApiKey(call: Call): Promise<undefined> {
  const name = call.args[0] ?? call.options.get('name') ?? null
  const limits = await limitsAsked(call)
  const key = await throughRelayOrFile(call, {
    relay: (client) => client.ask('createKey', { body: { name: name ?? undefined, ...limits } }),
    async file(file) {
      const { permissionsAsked } = await import('../keys/permissions.ts')
      const { for: madeFor, ...asked } = withCompatScopes(limits)
      const permissions = permissionsAsked(file, asked, EVERYTHING)
      const { createKey } = await stored()
      const seal = await sealOf(file)
      const made = await createKey(file, { name, origin: COMMAND_LINE, permissions, madeFor, seal })
      return connected(call, file, made)
    },
  })
  const undo = `The key was made, and nobody has its secret. Revoke it: hookline keys revoke ${key.id}`
  call.out.data(key, describeNewKey(key), undo)
}

/** The limits given by options, in addition to those of the key that `--like` names. */
async function limitsAsked(call: Call): Promise<Omit<KeyCreation, 'name'>> {
  const own = limitsIn(call)
  const id = call.options.get('like')
  if (id === undefined) return own
  const client = await runningRelay(call)
  const read = (more: { readonly cursor?: string }) =>
    client.ask('listKeys', { query: { ...FIRST_PAGE_QUERY.query, ...more } })
  const all = await filledPage(await read({}), Infinity, (cursor) => read({ cursor }))
  const other = all.data.find((key) => key.id === id)
  if (other === undefined) throw new UsageError(`There is no key ${id}. hookline keys lists all.`)
  const like = limitsLike(other)
  const rules = { ...like.rules, ...own.rules }
  return { ...like, ...own, ...(Object.keys(rules).length === 0 ? {} : { rules }) }
}

/** Reads `secret.key` if it is needed. */
async function sealOf({ directory, db, random }: OwnFile): Promise<() => Seal> {
  const { secretKeyOf } = await import('../storage/data.ts')
  const { createSeal } = await import('../system/seal.ts')
  return () => createSeal(secretKeyOf(directory.secretKey, db, random), random)
}

/** Adds what to enter into the key's program, as the running relay would. */
async function connected<K extends CreatedKey>(call: Call, { db }: FileCore, made: K): Promise<K> {
  const { linesOfKey } = await import('../storage/sites.ts')
  const { publicUrl, port } = call.loadConfig().config
  const url = publicUrl ?? `http://127.0.0.1:${port}`
  return withConnection(made, { url, lines: linesOfKey(db, made) })
}

async function rotateApiKey(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  const [until, end] = [call.options.time('overlap', true), call.options.time('expires', true)]
  const body = {
    ...(until === undefined ? {} : { overlap: Math.round((until - systemClock.now()) / 1_000) }),
    ...(end === undefined ? {} : { expires_at: isoTime(end) }),
  }
  const key = await throughRelayOrFile(call, {
    relay: (client) => client.ask('rotateKey', { params: { id }, body }),
    async file(file) {
      const { rotateKey } = await stored()
      const seal = await sealOf(file)
      const made = await rotateKey(file, id, { asked: body, origin: COMMAND_LINE, seal })
      return connected(call, file, made)
    },
  })
  const undo = `The key was made, and nobody has its secret. Revoke it: hookline keys revoke ${key.id}`
  call.out.data(key, describeNewKey(key), undo)
  call.out.note(`The old key ${id} goes on working until ${key.old_key_expires_at}.`)
}

/** The most that is written at `--per-hour` and `--per-day`; the relay knows the rest. */
const SENDS_MAX = 100_000

function limitsIn(call: Call): Omit<KeyCreation, 'name'> {
  const { options } = call
  const end = call.options.time('expires', true)
  const rules = {
    recipients: call.options.choice('recipients', RECIPIENT_RULES),
    allow: options.list('allow')?.map(plainRecipient),
    sends_per_hour: options.count('per-hour', SENDS_MAX),
    sends_per_day: options.count('per-day', SENDS_MAX),
    approval: call.options.choice('approval', APPROVAL_RULES),
    quiet_hours: options.quietHours(),
  }
  const given = Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== undefined))
  const scopes = options.list('scopes')?.map(scopeNamed)
  const [lines, sites] = [options.list('lines'), options.list('sites')]
  const conversations = options.list('conversations')
  const madeFor = call.options.choice('for', COMPAT_NAMES)
  return {
    ...(madeFor === undefined ? {} : { for: madeFor }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(lines === undefined ? {} : { phone_line_ids: lines }),
    ...(sites === undefined ? {} : { site_ids: sites }),
    ...(conversations === undefined ? {} : { conversation_ids: conversations }),
    ...(end === undefined ? {} : { expires_at: isoTime(end) }),
    ...(Object.keys(given).length === 0 ? {} : { rules: given }),
  }
}

function scopeNamed(name: string): Scope | ScopeGroup {
  const names = [...Object.keys(SCOPE_GROUPS), ...SCOPES]
  if (names.includes(name)) return name as Scope | ScopeGroup // Just checked.
  throw new UsageError(`--scopes must be of: ${names.join(', ')}.`)
}

/** Such as `for sms · read,send · 1 line · known · 30/h`. */
function limitWords(key: Key): string {
  const { for: api, scopes, phone_line_ids: lines, site_ids: sites, rules } = key
  const { conversation_ids: conversations } = key
  const parts = [
    api === undefined ? null : `for ${api}`,
    scopes === undefined ? null : collapsedScopes(scopes).join(','),
    lines === undefined ? null : countWords(lines.length, 'line'),
    sites === undefined ? null : countWords(sites.length, 'site'),
    conversations === undefined ? null : countWords(conversations.length, 'conversation'),
    ...(rules === undefined ? [] : ruleWords(rules)),
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

function ruleWords({ recipients, approval, ...rules }: KeyRules): readonly (string | null)[] {
  const { sends_per_hour: hour, sends_per_day: day, quiet_hours: quiet } = rules
  return [
    recipients === 'anyone' ? null : recipients,
    hour === null ? null : `${hour}/h`,
    day === null ? null : `${day}/d`,
    approval === 'never' ? null : `approval ${approval}`,
    quiet === null ? null : `quiet ${quiet.from}-${quiet.to}`,
  ]
}

function stateOf({ revoked_at: revokedAt, expires_at: end }: Key): Cell {
  if (revokedAt !== null) return stateCell('revoked')
  const at = end === undefined ? null : parseIsoTime(end)
  return at !== null && at <= systemClock.now() ? stateCell('expired') : ''
}

async function listApiKeys(call: Call): Promise<undefined> {
  const page = await throughRelayOrFile(call, {
    relay: (client) => client.ask('listKeys', FIRST_PAGE_QUERY),
    file: async (file) => (await stored()).listKeys(file.db, FIRST_PAGE),
  })
  const rows = page.data.map((key) => [
    key.id,
    key.name,
    key.key_hint,
    timeCell(key.created_at),
    timeCell(key.last_used_at),
    stateOf(key),
    limitWords(key),
    timeCell(key.expires_at),
  ])
  const isLimited = page.data.some((key) => key.expires_at !== undefined || limitWords(key) !== '')
  const common = ['ID', 'NAME', 'KEY', 'CREATED', 'LAST USED', 'STATE']
  const head = isLimited ? [...common, 'LIMITS', 'EXPIRES'] : common
  call.out.data(page, [table(head, rows, ['KEY', 'CREATED', 'EXPIRES'])])
  if (rows.length === 0) call.out.note('No API keys yet.')
}

async function revokeApiKey(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  // Only the running relay can end the messages and webhooks that the key left behind.
  const answer = call.options.has('all')
    ? await askRelay(call, 'revokeKey', { params: { id }, query: { all: 'true' } })
    : await throughRelayOrFile(call, {
        relay: (client) => client.ask('revokeKey', { params: { id } }),
        file: async (file) => (await stored()).revokeKey(file, id, { origin: COMMAND_LINE }),
      })
  const { created, ended } = answer
  call.out.data(answer, [
    `Revoked ${answer.id}.`,
    ...(ended === undefined ? [] : [`Ended with it: ${madeWords(ended)}`]),
  ])
  if (created === undefined) return
  call.out.note(`Created with this key and still active: ${madeWords(created)}`)
  call.out.note(`To end them too: hookline keys revoke ${answer.id} --all`)
}

function madeWords({ keys, webhooks, bridges, messages }: NonNullable<RevokedKey['created']>) {
  return [...keys, ...webhooks, ...bridges, ...messages].join(', ')
}

async function printSetupLink(call: Call): Promise<undefined> {
  const link = await askRelay(call, 'createSetupLink', { body: {} })
  call.out.data(link, [link.url, ...(link.lan_url === null ? [] : [link.lan_url])])
  call.out.note('Valid once, for 30 minutes. Setting a password signs out every browser.')
}
