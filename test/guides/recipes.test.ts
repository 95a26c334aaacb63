// The recipes of the manual: every file that a reader copies is whole and fits this version, and the programs
// that check signatures do so with deliveries of a real relay.

import { afterAll, expect, test } from 'bun:test'

import { parseCommandLine } from '../../src/cli/parse.ts'
import { COMMAND_GROUPS } from '../../src/cli/run.ts'
import { loadConfig, optionsOf } from '../../src/config.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { GUIDES, findGuide } from '../../src/guides/guides.ts'
import { blocks, evaluate, node, runCode, workflow } from '../support/guide-recipes.ts'
import { testNeeding } from '../support/needs.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'
import { WebhookSink, type Posted } from '../support/webhook-sink.ts'

const COMMANDS = COMMAND_GROUPS.flatMap(({ commands }) => commands)
const RECIPES = ['n8n', 'home-assistant', 'openclaw', 'mcp', 'caddy', 'tailscale', 'grafana']
const python = Bun.which('python3')
const caddy = Bun.which('caddy')

const clock = new TestClock()
const driver = new ScriptedDriver()
const device = driver.add('+12025550801')
const sink = new WebhookSink(clock)
const relay = await startRelay({ drivers: [driver], post: sink.post, clock })
afterAll(() => relay[Symbol.asyncDispose]())

const webhook = await relay.post('/api/v1/webhooks', {
  url: 'https://n8n.example/webhook/hookline',
  events: ['message.received'],
})
const secret: string = webhook.body.secret
await device.receive({ guid: 'in-1', text: 'What are your hours? Grüße 😀' })
await clock.advance(1_000)
const delivered = sink.posts[0] as Posted // The only one: a message came in.
const { body: document } = await relay.request('GET', '/swagger/json', undefined, {
  host: 'localhost',
})

test('each recipe is a guide', () => {
  const names = GUIDES.map(({ name }) => name)

  expect(RECIPES.filter((name) => !names.includes(name))).toEqual([])
})

test('every command in a guide is one of this version', () => {
  const inline = RECIPES.flatMap((name) => {
    const text = (findGuide(name)?.text ?? '').replaceAll(/^```[^]*?^```$/gm, '')
    return text.match(/(?<=`)hookline [^`]+/g) ?? []
  })
  const lines = GUIDES.flatMap(({ name }) => blocks(name, '(?:sh)?'))
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .concat(inline)
    .flatMap((line) => /^hookline ([^|#>]+)/.exec(line)?.[1] ?? [])
    .map((line) =>
      (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^['"]|['"]$/g, '')),
    )
  const events = lines.flatMap((words) => words[words.indexOf('--events') + 1]?.split(',') ?? [])

  for (const words of lines) expect(() => parseCommandLine(words, COMMANDS)).not.toThrow()
  expect(lines.length).toBeGreaterThan(10)
  expect(
    events.filter(
      (event) => event.includes('.') && !(EVENT_NAMES as readonly string[]).includes(event),
    ),
  ).toEqual([])
})

test.each(['caddy', 'tailscale'])(
  'the options in hookline.env of the guide %s are right',
  (name) => {
    const env = blocks(name, 'sh').find((block) => block.startsWith('HOOKLINE_')) ?? ''
    const { config } = loadConfig({
      flags: {},
      environment: {},
      defaultDataDir: '/data',
      folder: '/',
      readText: (path) => (path === '/data/hookline.env' ? env : null),
    })

    expect(config.publicUrl).toStartWith('https://')
    expect(config.trustedProxies).toContain('127.0.0.1')
  },
)

test('recipes name the port on which the relay listens, and routes that it has', () => {
  const port = String(optionsOf()['port']?.default)
  for (const name of RECIPES) {
    const text = findGuide(name)?.text ?? ''
    const ports = [...text.matchAll(/(?:127\.0\.0\.1|192\.168\.1\.10):(\d+)/g)].map(([, it]) => it)
    expect([name, ports.filter((it) => !['5678', '8123', port].includes(it ?? ''))]).toEqual([
      name,
      [],
    ])
    const routes = [...text.matchAll(/\/api\/v1(\/[a-z/-]+)/g)].map(([, path]) => path ?? '')
    expect([name, routes.filter((path) => document.paths[`/api/v1${path}`] === undefined)]).toEqual(
      [name, []],
    )
  }
})

test("the n8n workflow is what the guide's command writes, and each of its connections has its node", () => {
  const command = /^hookline guide n8n \| (sed [^>]+) >/m.exec(findGuide('n8n')?.text ?? '')?.[1]
  const run = Bun.spawnSync(['sh', '-c', command ?? ''], {
    stdin: Buffer.from(findGuide('n8n')?.text ?? ''),
  })
  const names = workflow().nodes.map(({ name }) => name)
  const ends = Object.entries(workflow().connections).flatMap(([from, { main }]) => [
    from,
    ...main.flat().map((to: Json) => to.node),
  ])

  expect(JSON.parse(run.stdout.toString())).toEqual(workflow())
  expect(workflow().id).toBeString() // `n8n import:workflow` refuses a file without one.
  expect(ends.filter((name) => !names.includes(name))).toEqual([])
})

/** What n8n's node says of a request. */
async function checkInN8n(
  headers: Readonly<Record<string, string>>,
  body: string,
  atMs: number,
  pasted = { id: webhook.body.id, secret },
): Promise<Json> {
  const code = node('Check the signature').jsCode
  const [item]: Json = await runCode(
    code.replace("'wh_…'", `'${pasted.id}'`).replace('whsec_…', pasted.secret),
    {
      helpers: { getBinaryDataBuffer: async () => Buffer.from(body) },
      $input: { first: () => ({ json: { headers } }) },
      Date: { now: () => atMs },
    },
  )
  return item.json
}

const signature = delivered.headers['webhook-signature'] ?? ''
const sentAt = delivered.timestamp * 1_000
/** Requests, and true for those of the relay. */
const REQUESTS: readonly (readonly [
  string,
  { headers?: Readonly<Record<string, string>>; body?: string; atMs?: number; isOurs: boolean },
])[] = [
  ['as it was delivered', { isOurs: true }],
  [
    'while the secret changes',
    { headers: { 'webhook-signature': `v1,AAAA ${signature}` }, isOurs: true },
  ],
  ['with another text', { body: delivered.body.replace('hours', 'house'), isOurs: false }],
  ['under another id', { headers: { 'webhook-id': 'evt_other' }, isOurs: false }],
  [
    'with a later time',
    { headers: { 'webhook-timestamp': String(delivered.timestamp + 9) }, isOurs: false },
  ],
  ['with an empty signature', { headers: { 'webhook-signature': 'v1,' }, isOurs: false }],
  ['an hour later', { atMs: sentAt + 3_600_000, isOurs: false }],
]

test.each(REQUESTS)(
  "n8n's node judges a request %s",
  async (_, { headers, body, atMs, isOurs }) => {
    const given = { ...delivered.headers, ...headers }
    const json = await checkInN8n(given, body ?? delivered.body, atMs ?? sentAt)

    expect(json.isGenuine).toBe(isOurs)
    expect(json).toEqual({
      ...(isOurs ? JSON.parse(delivered.body) : {}),
      isGenuine: isOurs,
      id: given['webhook-id'],
      idempotency_key: `reply-${webhook.body.id}-${given['webhook-id']}`,
    })
  },
)

test("n8n's node takes no request without headers, and none before it has its webhook's id and secret", async () => {
  const bare = await checkInN8n({}, delivered.body, sentAt)

  expect(bare).toMatchObject({ isGenuine: false, id: '' })
  for (const pasted of [
    { id: webhook.body.id, secret: 'whsec_…' },
    { id: 'wh_…', secret },
  ]) {
    const unset = checkInN8n(delivered.headers, delivered.body, sentAt, pasted)
    await expect(unset).rejects.toThrow('Put the id and the signing secret')
  }
})

test("n8n's replies go to the person who wrote, once for an event that comes twice", async () => {
  const $json = await checkInN8n(delivered.headers, delivered.body, sentAt)
  const { url, jsonBody, headerParameters } = node('Reply')
  const [{ name, value }] = headerParameters.parameters
  const post = () =>
    relay.request('POST', new URL(url).pathname, JSON.parse(evaluate(jsonBody, { $json, JSON })), {
      [name]: evaluate(value, { $json }),
    })

  const [first, second] = [await post(), await post()]

  expect([first.status, second.status, second.body.id]).toEqual([200, 200, first.body.id])
  expect(device.sent.map(({ to }) => to)).toEqual([JSON.parse(delivered.body).message.handle])
})

/** Stands in for Home Assistant: gives each request twice to the integration, prints statuses and events. */
const HOME_ASSISTANT = `
import asyncio, json, sys, types
given, fired, handlers = json.load(sys.stdin), [], []
def module(name, **members):
    sys.modules[name] = types.SimpleNamespace(**members)
same = lambda *given, **options: given[0]
module("aiohttp", web=types.SimpleNamespace(Response=lambda status: status))
module("voluptuous", Schema=same, Required=same, ALLOW_EXTRA=1)
register = lambda *given, **options: handlers.append(given[4])
module("homeassistant.components", webhook=types.SimpleNamespace(async_register=register))
module("homeassistant.helpers", config_validation=types.SimpleNamespace(string=str))
integration = {}
exec(given["code"], integration)
hass = types.SimpleNamespace(
    bus=types.SimpleNamespace(async_fire=lambda name, data: fired.append([name, data]))
)
class Request:
    def __init__(self, headers, body):
        self.headers, self.body = headers, body
    async def read(self):
        return self.body.encode()
async def receive(headers, body, now):
    fired.clear()
    integration["time"] = types.SimpleNamespace(time=lambda: now)
    await integration["async_setup"](None, {"hookline": {"secret": given["secret"]}})
    request = Request(headers, body)
    statuses = [await handlers[-1](hass, "hookline", request) for _ in range(2)]
    return {"statuses": statuses, "fired": list(fired)}
async def main():
    return [await receive(*one) for one in given["requests"]]
print(json.dumps(asyncio.run(main())))
`

testNeeding('python3', python !== null)(
  "Home Assistant's integration judges requests as n8n's node does",
  () => {
    const [code] = blocks('home-assistant', 'python')
    const requests = REQUESTS.map(([, { headers, body, atMs }]) => [
      { ...delivered.headers, ...headers },
      body ?? delivered.body,
      (atMs ?? sentAt) / 1_000,
    ])

    const run = Bun.spawnSync([python ?? '', '-c', HOME_ASSISTANT], {
      stdin: Buffer.from(JSON.stringify({ code, secret, requests: [...requests, [{}, '{}', 0]] })),
    })

    const event = { id: delivered.id, ...JSON.parse(delivered.body) }
    const right = { statuses: [204, 204], fired: [['hookline', event]] }
    const wrong = { statuses: [401, 401], fired: [] }
    const expected = REQUESTS.map(([, { isOurs }]) => (isOurs ? right : wrong))
    expect(JSON.parse(run.stdout.toString())).toEqual([...expected, wrong])
  },
)

test("Home Assistant's files are whole, and its fields are those of a send", () => {
  const yaml = blocks('home-assistant', 'yaml').map((block) => Bun.YAML.parse(block) as Json)
  const { rest_command: commands, notify } = yaml.find((block) => block.rest_command)
  const fields = document.components.schemas.SendRequest.properties
  const { payload } = commands.hookline_send
  const named = [...payload.matchAll(/'(\w+)':/g)].map(([, name]) => name)

  expect(Object.keys(JSON.parse(blocks('home-assistant', 'json')[0] ?? ''))).toContain('version')
  expect(named).toEqual(['to', 'text'])
  expect(Object.keys(fields)).toContainValues([
    ...named,
    notify[0].target_param_name,
    notify[0].message_param_name,
  ])
})

test('rules for Prometheus are whole', () => {
  const [scrape, , rules] = blocks('grafana', 'yaml').map((block) => Bun.YAML.parse(block) as Json)

  expect(scrape.scrape_configs[0].job_name).toBe('hookline')
  expect(rules.groups[0].rules.map(({ alert }: Json) => alert)).toContain('HooklineDown')
  expect(rules.groups[0].rules[0].expr).toContain('job="hookline"')
})

test('settings for hosts of agents start the server that there is', () => {
  const hosts = ['mcp', 'openclaw'].flatMap((name) =>
    blocks(name, 'json').map((block) => JSON.parse(block)),
  )
  const servers = hosts.map((host) => (host.mcpServers ?? host.mcp.servers).hookline)

  for (const { args } of servers) expect(() => parseCommandLine(args, COMMANDS)).not.toThrow()
  expect(servers.map(({ command }) => command)).toEqual(servers.map(() => 'hookline'))
})

testNeeding('caddy', caddy !== null)('Caddy takes its files', () => {
  const runs = blocks('caddy', 'caddyfile').map((file) =>
    Bun.spawnSync([caddy ?? '', 'adapt', '--config', '-', '--adapter', 'caddyfile'], {
      stdin: Buffer.from(file),
    }),
  )

  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
})
