// The programs in the gallery "Connect": the key or webhook that each needs, and which values to enter in which fields.
// The dashboard and `hookline connect` show the same rows.

import type { RECIPIENT_RULES, Scope, ScopeGroup } from '../domain/permissions.ts'
import type { EventName } from '../domain/webhook.ts'
import { IMSG } from './imsg/api.ts'

export type Program = KeyProgram | WebhookProgram

type Described = {
  /** Used in commands and URLs. */
  readonly name: string
  readonly title: string
  /** Its use with Hookline, in a few words. */
  readonly purpose: string
  /** A guide, with the id of a heading. */
  readonly guide: string
}

export type KeyProgram = Described & {
  readonly makes: 'key'
  /** The compatible API that it speaks; null if it speaks the relay's own. */
  readonly api: string | null
  readonly scopes: readonly (Scope | ScopeGroup)[]
  /** With `list`, its key writes only to numbers that the owner names; without any, to anyone. */
  readonly recipients?: (typeof RECIPIENT_RULES)[number]
  readonly sendsPerHour?: number
  /** The settings page of the program that has the fields. */
  readonly place: string
  /** The values, each with the name of its field in the program. */
  readonly enter: (made: Made) => readonly Entry[]
  readonly caution?: string
}

export type WebhookProgram = Described & {
  readonly makes: 'webhook'
  readonly events: readonly EventName[]
}

export type Entry = readonly [field: string, value: string]

export type Made = {
  /** The relay's address, without a path. */
  readonly relay: string
  readonly key: string
  readonly secret: string
  /** The values that the compatible API gives for the key; empty for a key of the relay's own API. */
  readonly connect: Readonly<Record<string, string>>
  /** The numbers that the owner named. */
  readonly people: readonly string[]
}

const SMS = 'sms'
const SIGNAL = 'signal-cli'
const CHATS = ['messages:read', 'messages:send'] as const
/** Programs on this machine, or in its network, register their own webhooks. */
const HOOKS = ['webhooks:write', 'webhooks:private'] as const
/** The number in examples of guides. */
const EXAMPLE = '+12025550123'

export const PROGRAMS: readonly Program[] = [
  {
    name: 'uptime-kuma',
    title: 'Uptime Kuma',
    purpose: 'Texts you if a site is down.',
    guide: 'compatible-apis#sms-gateways',
    makes: 'key',
    api: SMS,
    scopes: ['messages:send'],
    recipients: 'list',
    place: 'Settings → Notifications → Setup Notification, type SMS Gateway',
    enter: ({ relay, key, secret, people }) => [
      ['Server URL', `${relay}/compat/sms`],
      ['API Key', `${key}:${secret}`],
      ['Recipients', people.join(', ')],
    ],
  },
  {
    name: 'apprise',
    title: 'Apprise',
    purpose: 'Sends the alerts of many programs.',
    guide: 'compatible-apis#apprise',
    makes: 'key',
    api: SIGNAL,
    scopes: ['messages:send', 'attachments:write'],
    recipients: 'list',
    place: 'its URL for notifications, in any program that takes URLs of Apprise',
    // This URL also delivers titles and files, which the relay's own API can't take from Apprise.
    enter: ({ relay, key, secret, connect, people }) => [
      [
        'URL',
        [
          withCredentials(relay, key, secret).replace(/^http/, 'signal'),
          connect['number'] ?? '',
          ...people,
        ].join('/'),
      ],
    ],
  },
  {
    name: 'home-assistant',
    title: 'Home Assistant',
    purpose: 'Texts you from automations.',
    guide: 'compatible-apis#signal-cli',
    makes: 'key',
    api: SIGNAL,
    scopes: ['messages:send', 'attachments:write'],
    recipients: 'list',
    place: 'the file configuration.yaml, for the action notify.hookline',
    enter: ({ relay, key, secret, connect, people }) => [
      [
        'configuration.yaml',
        [
          'notify:',
          '  - name: hookline',
          '    platform: signal_messenger',
          `    url: "${withCredentials(relay, key, secret)}/compat/signal-cli"`,
          `    number: "${connect['number'] ?? ''}"`,
          '    recipients:',
          ...people.map((person) => `      - "${person}"`),
        ].join('\n'),
      ],
    ],
  },
  {
    name: 'grafana',
    title: 'Grafana',
    purpose: 'Texts you its alerts.',
    guide: 'compatible-apis#sms-gateways',
    makes: 'key',
    api: SMS,
    scopes: ['messages:send'],
    recipients: 'list',
    place: 'Alerting → Contact points → Add contact point, integration Webhook',
    enter: ({ relay, key, secret, people }) => [
      ['URL', `${relay}/compat/sms/send?to=${encodeURIComponent(people.join(','))}`],
      ['HTTP Basic Authentication - Username', key],
      ['HTTP Basic Authentication - Password', secret],
    ],
  },
  {
    name: 'n8n',
    title: 'n8n',
    purpose: 'Sends texts from workflows.',
    guide: 'n8n',
    makes: 'key',
    api: null,
    scopes: ['messages:send'],
    place: 'an HTTP Request node (POST), with a credential of the type Custom Auth',
    enter: ({ relay, key, secret, people: [person = EXAMPLE] }) => [
      ['URL', `${relay}/api/v1/messages/send`],
      ['Custom Auth', JSON.stringify({ headers: { 'X-API-Key': key, 'X-API-Secret': secret } })],
      ['JSON body', JSON.stringify({ to: person, text: 'Your bike is ready.' })],
    ],
  },
  {
    name: 'novu',
    title: 'Novu',
    purpose: 'Sends the SMS steps of its workflows.',
    guide: 'compatible-apis#sms-gateways',
    makes: 'key',
    api: SMS,
    scopes: ['messages:send'],
    place: 'Integrations Store → Connect Provider → SMS Webhook (Generic SMS)',
    enter: ({ relay, key, secret }) => [
      ['Base URL', `${relay}/compat/sms/send`],
      ['API Key Request Header', 'X-API-Key'],
      ['API Key', key],
      ['Secret Key Request Header', 'X-API-Secret'],
      ['Secret Key', secret],
      ['From', 'Hookline'],
      ['Id Path', 'id'],
      ['Date Path', 'date'],
    ],
  },
  {
    name: 'authentik',
    title: 'authentik',
    purpose: 'Sends sign-in codes to your own team.',
    guide: 'compatible-apis#sms-gateways',
    makes: 'key',
    api: SMS,
    scopes: ['messages:send'],
    recipients: 'known',
    place: 'a stage SMS Authenticator Setup, provider Generic, authentication type Basic',
    enter: ({ relay, key, secret }) => [
      ['External API URL', `${relay}/compat/sms/send`],
      ['API Auth Username', key],
      ['API Auth password', secret],
      ['From number', 'Hookline'],
    ],
    caution:
      'Codes to strangers by iMessage get a line flagged. The key writes only to people who have written with your ' +
      'lines: let each of them text you once.',
  },
  {
    name: 'openclaw',
    title: 'OpenClaw',
    purpose: 'An agent that reads and answers.',
    guide: 'compatible-apis#imsg-openclaws-imessage-channel',
    makes: 'key',
    api: IMSG.name,
    scopes: IMSG.scopes,
    recipients: 'replied_within_24h',
    sendsPerHour: 30,
    place: 'a terminal where OpenClaw runs',
    enter: ({ connect }) => [
      [
        'Commands',
        `${connect['env']} hookline imsg install ~/.openclaw/hookline-imsg\n` +
          'openclaw config set channels.imessage.cliPath ~/.openclaw/hookline-imsg\n' +
          `openclaw config set channels.imessage.catchup '{"enabled":true,"maxAgeMinutes":720,"perRunLimit":500}'`,
      ],
    ],
  },
  {
    name: 'bluebubbles',
    title: 'BlueBubbles clients',
    purpose: 'hermes-agent and other agents.',
    guide: 'compatible-apis#bluebubbles',
    makes: 'key',
    api: 'bluebubbles',
    scopes: [...CHATS, 'attachments:read', 'attachments:write', 'webhooks:read', ...HOOKS],
    recipients: 'replied_within_24h',
    sendsPerHour: 30,
    place: 'its settings for BlueBubbles',
    enter: ({ connect }) => [
      ['Server URL', connect['server_url'] ?? ''],
      ['Password', connect['password'] ?? ''],
    ],
  },
  {
    name: 'sendblue',
    title: 'Sendblue’s SDK',
    purpose: 'Programs that send by Sendblue.',
    guide: 'compatible-apis#sendblue',
    makes: 'key',
    api: 'sendblue',
    scopes: [...CHATS, 'attachments:read', 'webhooks:read', ...HOOKS],
    place: 'the environment of the program',
    enter: ({ connect }) => [
      ['SENDBLUE_API_BASE_URL', connect['base_url'] ?? ''],
      ['SENDBLUE_API_API_KEY', connect['api_key_id'] ?? ''],
      ['SENDBLUE_API_API_SECRET', connect['api_secret_key'] ?? ''],
      ['from_number', connect['from_number'] ?? ''],
    ],
  },
  {
    name: 'mcp',
    title: 'MCP clients',
    purpose: 'Codex, Cursor and other agents.',
    guide: 'mcp',
    makes: 'key',
    api: null,
    scopes: ['read', 'send', 'conversations:write'],
    recipients: 'replied_within_24h',
    sendsPerHour: 30,
    place: 'the client’s list of MCP servers: one of these, by command or by HTTP',
    enter: ({ relay, key, secret }) => [
      [
        'mcpServers',
        JSON.stringify(
          {
            hookline: {
              command: 'hookline',
              args: ['mcp', '--url', relay],
              env: { HOOKLINE_KEY: `${key}:${secret}` },
            },
          },
          null,
          2,
        ),
      ],
      ['URL', `${relay}/mcp`],
      ['Authorization', `Bearer ${key}:${secret}`],
    ],
  },
  {
    name: 'sms',
    title: 'Other SMS form',
    purpose: 'Programs with "bring your own SMS gateway".',
    guide: 'compatible-apis#sms-gateways',
    makes: 'key',
    api: SMS,
    scopes: ['messages:send', 'messages:read'],
    place: 'its form for an SMS gateway: the URL, and one of the credentials',
    enter: ({ relay, key, secret }) => [
      ['URL', `${relay}/compat/sms/send`],
      ['URL without a path', `${relay}/compat/sms`],
      ['Authorization', `Bearer ${key}:${secret}`],
      ['X-API-Key', `${key}:${secret}`],
      ['User', key],
      ['Password', secret],
    ],
  },
  {
    name: 'signal',
    title: 'Other Signal form',
    purpose: 'Programs that send by the Signal REST API.',
    guide: 'compatible-apis#signal-cli',
    makes: 'key',
    api: SIGNAL,
    scopes: ['messages:send', 'attachments:write'],
    place: 'its settings for Signal',
    enter: ({ relay, key, secret, connect }) => [
      ['URL', `${withCredentials(relay, key, secret)}/compat/signal-cli`],
      ['Number', connect['number'] ?? ''],
    ],
  },
  {
    name: 'twilio',
    title: 'Twilio’s libraries',
    purpose: 'Programs that send by Twilio.',
    guide: 'compatible-apis#twilio',
    makes: 'key',
    api: 'twilio',
    scopes: ['messages:read', 'send', 'attachments:read', 'webhooks:write', 'webhooks:private'],
    place: 'its settings for Twilio',
    enter: ({ connect }) => Object.entries(connect),
  },
  {
    name: 'client',
    title: 'Your own program',
    purpose: 'A typed client for TypeScript or Python.',
    guide: 'clients',
    makes: 'key',
    api: null,
    scopes: ['read', 'send'],
    place: 'the environment of your program, beside the client that the command writes',
    enter: ({ relay, key, secret }) => [
      ['Command', 'hookline client typescript --out hookline.ts'],
      ['HOOKLINE_URL', relay],
      ['HOOKLINE_KEY', `${key}:${secret}`],
    ],
  },
  {
    name: 'webhook',
    title: 'Webhook',
    purpose: 'Posts every message to a URL of yours.',
    guide: 'webhooks',
    makes: 'webhook',
    events: ['message.received', 'message.sent', 'message.delivered', 'message.read'],
  },
]

export function keyForProgram(
  { title, api, scopes, recipients = 'anyone', sendsPerHour }: KeyProgram,
  people: readonly string[],
) {
  const allow = recipients === 'anyone' ? {} : { recipients, allow: [...people] }
  const rate = sendsPerHour === undefined ? {} : { sends_per_hour: sendsPerHour }
  const rules = { ...allow, ...rate }
  return {
    name: title,
    scopes: [...scopes],
    ...(api === null ? {} : { for: api }),
    ...(Object.keys(rules).length === 0 ? {} : { rules }),
  }
}

/** A number that the owner must name before the key is made. */
export function needsPeople(program: Program): boolean {
  return program.makes === 'key' && program.recipients === 'list'
}

function withCredentials(relay: string, key: string, secret: string): string {
  return relay.replace('://', `://${key}:${secret}@`)
}
