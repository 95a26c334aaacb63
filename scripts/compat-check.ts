// Lets programs that others wrote send through `hookline fake`, each by the compatible API that it speaks: unchanged,
// and set up with what `hookline keys create --for` prints. One line of outcome for each; names as arguments
// take those alone. The programs come from their registries into a folder of temporary files, but for three.
// `--uptime-kuma FOLDER` and `--ha-bluebubbles FOLDER` are checkouts of Uptime Kuma and of Home Assistant's
// integration, which aren't in a registry. `--home-assistant PYTHON` is the Python of an environment with
// pytest-homeassistant-custom-component, which is large. The integration needs it as well.

import { cpSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { startFake } from '../test/support/fake-process.ts'
import { ApiClient } from '../test/support/relay-process.ts'
import { checkOpenClaw } from './compat/openclaw.ts'
import { checkTwilio, textsOnPhone } from './compat/twilio.ts'

const CACHE = join(tmpdir(), 'hookline-compat-check')
const PYTHON = join(CACHE, 'python/bin/python')
const PROGRAMS = join(import.meta.dir, 'compat')
const STEP_MS_MAX = 600_000
const OUTPUT_LENGTH_MAX = 4_000

const PYTHON_PACKAGES = [
  'apprise==2.3.0',
  'pysignalclirestapi==0.3.25',
  'android_sms_gateway==4.3.3',
  'requests',
  'hermes-agent==0.19.0',
  'aiohttp',
  'twilio==9.13.0',
]
const NODE_PACKAGES = [
  '@novu/providers@0.24.2',
  'axios',
  'dayjs',
  'jsonata',
  'liquidjs',
  'http-proxy-agent',
  'https-proxy-agent',
  'socks-proxy-agent',
  'openclaw@2026.9.6',
  'sendblue@3.17.0',
  'chat-adapter-sendblue@0.2.0',
  'chat@4.41.1',
  '@chat-adapter/state-memory@4.41.0',
  'twilio@6.3.1',
  '@chat-adapter/twilio@4.31.0',
]
/** OpenClaw wants a newer Node than most machines have, also to be installed. */
const NODE = `node-${process.platform}-${process.arch}`
const NODE_VERSION = '24.21.0'
const NODE_FOLDER = join(CACHE, 'node_modules', NODE, 'bin')
const KUMA_FILES = [
  'server/notification-providers/notification-provider.js',
  'server/notification-providers/signal.js',
  'server/notification-providers/sms-gateway.js',
  'src/util.js',
]

type Check = {
  readonly name: string
  readonly command: readonly string[]
  /** The API that it speaks; null for the relay's own. */
  readonly api: string | null
  /** The texts that must be on the phone of the person afterwards. */
  readonly texts: readonly string[]
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'uptime-kuma': { type: 'string' },
    'home-assistant': { type: 'string' },
    'ha-bluebubbles': { type: 'string' },
  },
})
const kuma = values['uptime-kuma']
const homeAssistant = values['home-assistant']
const { 'ha-bluebubbles': integration = '' } = values

mkdirSync(CACHE, { recursive: true })
await run(['python3', '-m', 'venv', join(CACHE, 'python')])
await run([PYTHON, '-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES])
const npmInstall = ['npm', 'install', '--silent', '--no-fund', '--no-audit']
await run([...npmInstall, `${NODE}@${NODE_VERSION}`])
await run([...npmInstall, ...NODE_PACKAGES])
if (kuma !== undefined) {
  for (const file of KUMA_FILES) cpSync(join(kuma, file), join(CACHE, 'uptime-kuma', file))
}

const CHECKS: readonly Check[] = [
  python('apprise json://', 'apprise_json.py', null, ['from Apprise']),
  python('apprise signal://', 'apprise_signal.py', 'signal-cli', ['from signal://', 'with a file']),
  python('pysignalclirestapi', 'signal_client.py', 'signal-cli', ['from the client', 'a picture']),
  python('android-sms-gateway', 'sms_gate.py', 'sms', ['from SMS Gate']),
  node('@novu/providers', 'novu.mjs', 'sms', ['from Novu']),
  python('hermes-agent', 'hermes.py', 'bluebubbles', [
    'from hermes',
    'You wrote: Is it ready?',
    '',
  ]),
  node('sendblue', 'sendblue.mjs', 'sendblue', ['from the SDK', 'with a callback']),
  node('chat-adapter-sendblue', 'sendblue-chat.mjs', 'sendblue', ['You wrote: Is it ready?']),
  ...(kuma === undefined
    ? []
    : [
        node('Uptime Kuma, SMS Gateway', 'kuma-sms.cjs', 'sms', ['[down] the shop']),
        node('Uptime Kuma, Signal', 'kuma-signal.cjs', 'signal-cli', ['[up] the shop']),
      ]),
  ...(homeAssistant === undefined
    ? []
    : [
        harnessed(homeAssistant, 'home_assistant_test.py', {
          name: 'Home Assistant, signal_messenger',
          api: 'signal-cli',
          texts: ['from Home Assistant', 'at the door', 'to both'],
        }),
      ]),
  ...(homeAssistant === undefined || integration === ''
    ? []
    : [
        harnessed(homeAssistant, 'bluebubbles_test.py', {
          name: 'Home Assistant, BlueBubbles',
          api: 'bluebubbles',
          texts: ['from Home Assistant', 'at the door', ''],
        }),
      ]),
]

const { child, ready } = await startFake('exec "$0" fake --port 0 --lines 1 --print json')
const { url, key, secret } = ready
const api = new ApiClient(() => url, ready)
const { data: lines } = await api.ask<{ data: { id: string }[] }>('GET', '/api/v1/phone-lines')
const line = lines[0]?.id ?? ''
let last = 0
for (const check of CHECKS) {
  const isWanted = positionals.length === 0 || positionals.some((name) => check.name.includes(name))
  if (isWanted) await outcomeOf(check)
}
for (const [name, command, texts] of [
  ['twilio, Node', inNode('twilio.mjs'), ['from twilio-node', 'a picture', 'You wrote: ping']],
  [
    'twilio, Python',
    [PYTHON, join(PROGRAMS, 'twilio_client.py')],
    ['from twilio-python', 'by its number', 'You wrote: ping'],
  ],
  ['@chat-adapter/twilio', inNode('twilio-chat.mjs'), ['from the *Chat SDK*', 'You wrote: ping']],
] as const) {
  const isWanted = positionals.length === 0 || positionals.some((one) => name.includes(one))
  if (isWanted) await twilio(name, command, texts)
}
if (positionals.length === 0 || positionals.some((name) => 'openclaw'.includes(name))) {
  await openClaw()
}
child.kill()

async function twilio(
  name: string,
  command: readonly string[],
  texts: readonly string[],
): Promise<void> {
  last += 1
  const to = `+1202555${String(1_000 + last)}`
  const program = { command, folder: CACHE, relay: url, to, texts }
  const seen = await checkTwilio(api, program).catch((error: unknown) => {
    process.exitCode = 1
    return error instanceof Error ? error : new Error(String(error))
  })
  const isGood = typeof seen === 'string'
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}: ${isGood ? seen : seen.message}`)
}

/** Node finds its packages beside the program. */
function inNode(file: string): readonly string[] {
  cpSync(join(PROGRAMS, file), join(CACHE, file))
  return [join(NODE_FOLDER, 'node'), join(CACHE, file)]
}

/** It takes some minutes. */
async function openClaw(): Promise<void> {
  const seen = await checkOpenClaw(CACHE).catch((error: unknown) => {
    process.exitCode = 1
    return error instanceof Error ? error : new Error(String(error))
  })
  const isGood = typeof seen === 'string'
  console.log(`${isGood ? 'ok    ' : 'FAILED'} openclaw: ${isGood ? seen : seen.message}`)
}

function python(
  name: string,
  file: string,
  speaks: string | null,
  texts: readonly string[],
): Check {
  return { name, command: [PYTHON, join(PROGRAMS, file)], api: speaks, texts }
}

function harnessed(interpreter: string, file: string, check: Omit<Check, 'command'>): Check {
  const options = ['-q', '-p', 'no:cacheprovider', '--asyncio-mode=auto']
  return { ...check, command: [interpreter, '-m', 'pytest', ...options, join(PROGRAMS, file)] }
}

function node(name: string, file: string, speaks: string | null, texts: readonly string[]): Check {
  return { name, command: ['node', join(CACHE, file)], api: speaks, texts }
}

async function outcomeOf({ name, command, api: speaks, texts }: Check): Promise<void> {
  last += 1
  const to = `+1202555${String(1_000 + last)}`
  // Node finds its packages beside the program.
  if (command[0] === 'node') cpSync(command[1]?.replace(CACHE, PROGRAMS) ?? '', command[1] ?? '')
  const made = speaks === null ? { key, secret } : await keyFor(speaks)
  const own = { owner_key: key, owner_secret: secret, line, checkout: integration }
  const problem = await run(command, { RELAY: url, TO: to, ...own, ...made }).catch(String)
  const arrived = await textsOnPhone(api, to)
  const missing = texts.filter((text) => !arrived.includes(text))
  const isGood = problem === undefined && missing.length === 0 && arrived.length === texts.length
  if (!isGood) process.exitCode = 1
  const outcome = isGood
    ? `${texts.length} sent`
    : `${problem ?? ''} arrived: ${arrived.join(', ')}`
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}: ${outcome}`)
}

type Made = {
  readonly key: string
  readonly secret: string
  readonly connect: Record<string, string>
}

async function keyFor(speaks: string): Promise<Record<string, string>> {
  const { key, secret, connect } = await api.ask<Made>('POST', '/api/v1/keys', { for: speaks })
  return { key, secret, ...connect }
}

async function run(
  command: readonly string[],
  more: Record<string, string> = {},
): Promise<undefined> {
  const child = Bun.spawn([...command], {
    cwd: CACHE,
    env: { ...process.env, PATH: `${NODE_FOLDER}:${process.env['PATH']}`, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: STEP_MS_MAX,
  })
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (exitCode === 0) return
  const said = `${output}\n${errors}`.trim().slice(-OUTPUT_LENGTH_MAX)
  throw new Error(`\`${command.join(' ')}\` ended with ${exitCode}:\n${said}`)
}
