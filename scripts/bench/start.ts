// (f): from the start of the process to the first 200 of `/readyz`, with a million messages, and to the end of a
// command that needs no relay.

import { builtExecutable, cleanEnvironment } from '../../test/support/executable.ts'
import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atMost, median, type Figure } from './figure.ts'
import { populate } from './population.ts'
import { startBenchRelay, withDatabase } from './relay.ts'

const MESSAGES = 1_000_000
const CONVERSATIONS = 1_000
const ROUNDS = 7

export async function start(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  withDatabase(dir.path, (sqlite) => populate(sqlite, MESSAGES, CONVERSATIONS))
  const { relay } = await startBenchRelay(dir.path)
  const { port } = relay
  await relay.end()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) times.push(await timeOfStart(dir.path, port))
  const ms = median(times)
  const commands: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) commands.push(await timeOfCommand())
  const commandMs = median(commands)
  return [
    atMost({
      id: 'f',
      what: 'start to `/readyz` 200 with a million messages',
      measured: `${ms.toFixed(0)} ms`,
      yardstick: '',
      value: ms,
      floor: 500,
    }),
    atMost({
      id: 'f',
      what: '`hookline version`, from start to end',
      measured: `${commandMs.toFixed(0)} ms`,
      yardstick: '',
      value: commandMs,
      floor: 40,
    }),
  ]
}

async function timeOfStart(dataDir: string, port: number): Promise<number> {
  const startedAt = performance.now()
  const child = Bun.spawn(
    [...UNDER, builtExecutable(), 'serve', '--data-dir', dataDir, '--port', String(port)],
    { env: cleanEnvironment({}), stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  )
  while (!(await isReady(port))) await Bun.sleep(1)
  const tookMs = performance.now() - startedAt
  child.kill()
  await child.exited
  return tookMs
}

async function timeOfCommand(): Promise<number> {
  const startedAt = performance.now()
  const child = Bun.spawn([...UNDER, builtExecutable(), 'version'], { stdout: 'ignore' })
  await child.exited
  return performance.now() - startedAt
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`, { keepalive: false })).status === 200
  } catch {
    return false
  }
}
