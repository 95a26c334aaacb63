// Runs the tests of a booking bot in TypeScript and in Python, as its makers would, and the unchanged Twilio adapter of
// the Chat SDK, against `hookline fake` of dist/hookline. Names as arguments take those alone. The adapter comes from
// npm into a folder of temporary files.

import { cpSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startFake } from '../test/support/fake-process.ts'
import { ApiClient } from '../test/support/relay-process.ts'
import { checkTwilio } from './compat/twilio.ts'

const BIN = join(import.meta.dir, '../dist')
const TESTS = join(import.meta.dir, 'fake')
const CACHE = join(tmpdir(), 'hookline-fake-check')
const PACKAGES = ['chat@4.41.1', '@chat-adapter/twilio@4.31.0']
const ENVIRONMENT = { ...process.env, PATH: `${BIN}:${process.env['PATH']}` }
const PATIENCE_MS = 120_000

const CHECKS: Readonly<Record<string, () => Promise<unknown>>> = {
  typescript: () =>
    run([process.execPath, 'test', `--timeout=${PATIENCE_MS}`, './booking-bot.test.ts']),
  python: () => run(['python3', '-m', 'unittest', 'booking_bot_test']),
  '@chat-adapter/twilio': adapter,
}

const wanted = process.argv.slice(2)
for (const [name, check] of Object.entries(CHECKS)) {
  if (wanted.length > 0 && !wanted.some((one) => name.includes(one))) continue
  const problem = await check().then(
    () => null,
    (error: unknown) => String(error),
  )
  if (problem !== null) process.exitCode = 1
  console.log(problem === null ? `ok     ${name}` : `FAILED ${name}: ${problem}`)
}

async function adapter(): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  await run(['npm', 'install', '--silent', '--no-fund', '--no-audit', ...PACKAGES], CACHE)
  const program = join(CACHE, 'twilio-chat.mjs')
  cpSync(join(import.meta.dir, 'compat/twilio-chat.mjs'), program)
  const { child, ready: fake } = await startFake('exec "$0" fake --port 0 --print json')
  await checkTwilio(new ApiClient(() => fake.url, fake), {
    command: ['node', program],
    folder: CACHE,
    relay: fake.url,
    to: '+12025551000',
    texts: ['from the *Chat SDK*', 'You wrote: ping'],
  })
  child.kill()
}

async function run(command: readonly string[], folder = TESTS): Promise<void> {
  const options = { cwd: folder, env: ENVIRONMENT, stdout: 'pipe', stderr: 'pipe' } as const
  const child = Bun.spawn([...command], options)
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${output}\n${errors}`)
}
