// The unchanged OpenClaw with its iMessage channel: people write, a model on this machine answers, and both OpenClaw
// and the relay are killed and started again. Every message must reach the model, and every answer the phone, once.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { eventually } from '../../test/support/eventually.ts'
import { hookline } from '../../test/support/executable.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
} from '../../test/support/relay-process.ts'

/** A start of OpenClaw takes most of a minute on a busy machine, and so does its first answer. */
const PATIENCE_MS = 300_000
const SIMULATED = { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' }

/** OpenClaw gets it from the registry: it trusts no plugin from a folder. */
const PLUGIN = '@openclaw/imessage@2026.9.6'

/**
 * The messages that OpenClaw is answering as it is killed. They must reach the model. OpenClaw doesn't repeat an answer
 * of which it can't say whether it went out.
 */
const IN_FLIGHT = [4, 5, 6]

type Message = { readonly text: string }

/** `folder` has the packages openclaw and node; returns what was seen. */
export async function checkOpenClaw(folder: string): Promise<string> {
  using dir = temporaryDataDir()
  const owner = await createKey(dir.path)
  let relay = await RelayProcess.start({ dataDir: dir.path, environment: SIMULATED })
  const { port } = relay
  const api = new ApiClient(() => relay.url, owner)
  using model = startModel()
  const place = join(dir.path, 'openclaw')
  const made = await api.ask<Record<'key' | 'secret', string>>('POST', '/api/v1/keys', {
    for: 'imsg',
  })
  await setUp({ folder, place, model: model.url, relay: relay.url, ...made })
  const traffic = await trafficOn(api)
  let gateway = startGateway(folder, place)
  try {
    await traffic.write(3)
    await traffic.allAnswered('at first')
    await traffic.write(3)
    await model.hasHeard(`ping-${traffic.count() - 1}.`)
    killAll(gateway)
    await traffic.write(3)
    gateway = startGateway(folder, place)
    await traffic.allAnswered('after a kill of OpenClaw')
    await traffic.write(3)
    await relay.end('SIGKILL')
    relay = await RelayProcess.start({ dataDir: dir.path, port, environment: SIMULATED })
    await traffic.write(3)
    await traffic.allAnswered('after a kill of the relay')
    for (const n of IN_FLIGHT) await model.hasHeard(`ping-${n}.`)
    const texts = await traffic.answers()
    // OpenClaw writes sentences of its own after a kill, one for each request that it goes on with.
    const own = texts.filter((text) => !/^pong-[1-9]\d*\.$/.test(text))
    const pongs = texts.filter((text) => !own.includes(text))
    const twice = pongs.filter((text, place) => pongs.indexOf(text) !== place)
    const repeated = twice.filter((text) => model.timesAnswered(text) < 2)
    if (repeated.length > 0)
      throw new Error(`Sent more often than the model said: ${repeated.join(', ')}`)
    const answers = texts.length - own.length - twice.length
    const more = `${twice.length} repeated by OpenClaw, and of its own: ${JSON.stringify(own)}`
    return `${traffic.count()} received, ${answers} answered, ${more}`
  } finally {
    killAll(gateway)
    await relay.end('SIGKILL')
  }
}

/** People who write to the relay's line, and what they get. */
async function trafficOn(api: ApiClient) {
  const { data: lines } = await api.ask<{ data: { id: string }[] }>('GET', '/api/v1/phone-lines')
  const line = lines[0]?.id ?? ''
  let sent = 0
  const answers = async () => {
    const path = '/api/v1/messages?direction=outbound&limit=200'
    const { data } = await api.ask<{ data: Message[] }>('GET', path)
    return data.map(({ text }) => text)
  }
  return {
    count: () => sent,
    answers,
    async write(count: number) {
      for (const _ of Array(count).keys()) {
        sent += 1
        const from = `+1202555${String(1_200 + sent)}`
        const body = { type: 'message', from, text: `ping-${sent}.` }
        await api.ask('POST', `/api/v1/simulated/lines/${line}/events`, body)
      }
    },
    allAnswered: (when: string) =>
      eventually(
        `${when}: ${sent} answers`,
        async () => {
          const texts = await answers().catch((): readonly string[] => [])
          const wanted = Array.from({ length: sent }, (_, i) => i + 1)
          return wanted.every((n) => IN_FLIGHT.includes(n) || texts.includes(`pong-${n}.`)) || null
        },
        PATIENCE_MS,
      ),
  }
}

type Setup = {
  readonly folder: string
  readonly place: string
  readonly model: string
  readonly relay: string
  readonly key: string
  readonly secret: string
}

/** The settings of the guide, and a model. */
async function setUp({ folder, place, model, relay, key, secret }: Setup): Promise<void> {
  mkdirSync(join(place, 'state'), { recursive: true })
  const program = join(place, 'hookline-imsg')
  const { exitCode, stderr } = await hookline(['imsg', 'install', program, '--url', relay], {
    HOOKLINE_KEY: `${key}:${secret}`,
  })
  if (exitCode !== 0) throw new Error(stderr)
  const provider = {
    baseUrl: `${model}/v1`,
    apiKey: 'none',
    api: 'openai-completions',
    models: [{ id: 'echo', name: 'echo', contextWindow: 128_000, maxTokens: 4_096 }],
  }
  const config = {
    gateway: { mode: 'local', bind: 'loopback', auth: { mode: 'token', token: 'none' } },
    session: { dmScope: 'per-channel-peer' },
    models: { providers: { local: provider } },
    agents: { defaults: { model: { primary: 'local/echo' }, workspace: join(place, 'work') } },
  }
  const imessage = {
    cliPath: program,
    dmPolicy: 'open',
    allowFrom: ['*'],
    catchup: { enabled: true, maxAgeMinutes: 720, perRunLimit: 500 },
  }
  writeFileSync(join(place, 'state/openclaw.json'), JSON.stringify(config))
  for (const args of [
    ['plugins', 'install', PLUGIN, '--force', '--accept-capabilities'],
    ['config', 'set', 'channels.imessage', JSON.stringify(imessage)],
  ]) {
    if ((await openclaw(folder, place, args).exited) === 0) continue
    const log = readFileSync(join(place, `${args[0]}.log`), 'utf8')
    const errors = readFileSync(join(place, `${args[0]}-errors.log`), 'utf8')
    throw new Error(`openclaw ${args.slice(0, 2).join(' ')} failed:\n${log}\n${errors}`)
  }
}

function openclaw(folder: string, place: string, args: readonly string[]) {
  const packages = join(folder, 'node_modules')
  const node = join(packages, `node-${process.platform}-${process.arch}/bin/node`)
  return Bun.spawn([node, join(packages, 'openclaw/openclaw.mjs'), ...args], {
    cwd: place,
    env: {
      // Its installation of a plugin needs what this machine needs to reach the registry.
      ...process.env,
      NPM_CONFIG_USERCONFIG: join(homedir(), '.npmrc'),
      HOME: place,
      OPENCLAW_STATE_DIR: join(place, 'state'),
    },
    stdin: 'ignore',
    stdout: Bun.file(join(place, `${args[0]}.log`)),
    stderr: Bun.file(join(place, `${args[0]}-errors.log`)),
    detached: true,
  })
}

function startGateway(folder: string, place: string) {
  return openclaw(folder, place, ['gateway', '--port', '18997', '--verbose'])
}

/** Ends OpenClaw and everything that it started, at once. */
function killAll({ pid }: { readonly pid: number }): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** A model that answers `ping-1.` with `pong-1.`. */
function startModel() {
  const heard: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = await request.text()
      const ping = [...text.matchAll(/ping-\d+\./g)].at(-1)?.[0] ?? 'ping-0.'
      heard.push(ping)
      const content = ping.replace('ping', 'pong')
      const isStream = /"stream":\s*true/.test(text)
      const base = { id: 'chatcmpl-1', created: 1, model: 'echo' }
      const choice = (more: object) => ({ ...base, choices: [{ index: 0, ...more }] })
      if (!isStream) {
        const message = { role: 'assistant', content }
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
        return Response.json({ ...choice({ message, finish_reason: 'stop' }), usage })
      }
      const chunks = [
        choice({ delta: { role: 'assistant', content }, finish_reason: null }),
        choice({ delta: {}, finish_reason: 'stop' }),
      ]
      const events = chunks.map((chunk) => {
        return `data: ${JSON.stringify({ ...chunk, object: 'chat.completion.chunk' })}\n\n`
      })
      const headers = { 'content-type': 'text/event-stream' }
      return new Response(`${events.join('')}data: [DONE]\n\n`, { headers })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    hasHeard: (ping: string) =>
      eventually(`the model hears ${ping}`, () => heard.includes(ping) || null, PATIENCE_MS),
    timesAnswered: (text: string) =>
      heard.filter((ping) => ping.replace('ping', 'pong') === text).length,
    [Symbol.dispose]: () => void server.stop(true),
  }
}
