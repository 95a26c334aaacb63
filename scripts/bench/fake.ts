// (q): from the start of `hookline fake` to its first answered send, and 73 hours of its clock.

import { builtExecutable, cleanEnvironment } from '../../test/support/executable.ts'
import { UNDER } from './cores.ts'
import { atMost, median, type Figure } from './figure.ts'

const ROUNDS = 7

type Ready = { readonly url: string; readonly key: string; readonly secret: string }

export async function fake(): Promise<readonly Figure[]> {
  const starts: number[] = []
  for (let round = 1; round < ROUNDS; round += 1) starts.push((await timesOfFake(null)).sendMs)
  const { sendMs, moveMs } = await timesOfFake('73h')
  const ms = median([...starts, sendMs])
  return [
    atMost({
      id: 'q',
      what: 'start of `hookline fake` to its first answered send',
      measured: `${ms.toFixed(0)} ms`,
      yardstick: '',
      value: ms,
      floor: 1_000,
    }),
    atMost({
      id: 'q',
      what: '73 hours of its clock',
      measured: `${(moveMs / 1_000).toFixed(1)} s`,
      yardstick: '',
      value: moveMs,
      floor: 5_000,
    }),
  ]
}

async function timesOfFake(advance: string | null) {
  const startedAt = performance.now()
  const command = [builtExecutable(), 'fake', '--port', '0', '--seed', '1', '--print', 'json']
  const child = Bun.spawn([...UNDER, ...command], {
    env: cleanEnvironment({}),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const { value } = await child.stdout.getReader().read()
  const ready = JSON.parse(new TextDecoder().decode(value)) as Ready // As the fake prints it.
  await call(ready, 'messages/send', { to: '+12025550123', text: 'Your bike is ready.' })
  const sentAt = performance.now()
  if (advance !== null) await call(ready, 'simulated/clock', { advance })
  const moveMs = performance.now() - sentAt
  child.kill()
  await child.exited
  return { sendMs: sentAt - startedAt, moveMs }
}

async function call({ url, key, secret }: Ready, path: string, body: object): Promise<void> {
  const headers = { 'X-API-Key': key, 'X-API-Secret': secret, 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const { ok, status } = await fetch(`${url}/api/v1/${path}`, init)
  if (!ok) throw new Error(`${path} answered ${status}.`)
}
