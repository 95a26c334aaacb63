// A relay and a box at a cluster that others use too, by the compiled executables: what other users get, one of
// the shared account, and one who was put into the relay's own account without a key of a box.

import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { NatsConnection } from '@nats-io/transport-node'

import { SUBJECTS } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import { INTRUDER, NatsCluster } from '../support/nats-cluster.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { testNeeding } from '../support/needs.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { carriedIn } from './ledgers.ts'

const TIMEOUT_MS = 120_000
const SILENCE_MS = 500
const TEXT = 'Ready at eight.'

type Heard = { readonly subject: string; readonly text: string }

/** All that a user hears from now on. */
function listen(connection: NatsConnection): Heard[] {
  const heard: Heard[] = []
  connection.subscribe('>', {
    callback: (_, message) => void heard.push({ subject: message.subject, text: message.string() }),
  })
  return heard
}

/** What a stranger asks, who knows all subjects and what was said on them. */
function attemptsOf(heard: readonly Heard[], box: string): readonly Heard[] {
  const asked = heard.filter(({ subject }) => /^hl\.1\.(to|up|hello)\./.test(subject))
  const unsigned = (text: string) => text.replace(/,?"signed":"[^"]+"\}$/, '}')
  const [to = ''] = asked.map(({ subject }) => subject).filter((one) => one.startsWith('hl.1.to.'))
  const orders = [
    { op: 'ping' },
    { op: 'checkup', kind: 'simulated' },
    { op: 'end', session: '1.1', kind: 'simulated', key: 'x', boot: 'x', messages: [] },
    {
      op: 'upgrade',
      order: 'o',
      epoch: 1,
      to: '9.9.9',
      name: 'hookline',
      sha256: 'a'.repeat(64),
      size: 1,
      sums: '',
      signature: null,
      isUnverified: true,
      lines: [],
    },
  ]
  const outdated = {
    op: 'hello',
    protocol: 1,
    version: '9.9.9',
    platform: 'linux',
    boot: 'stranger',
    fence: 900_000,
    sessions: [],
    kinds: [],
    devices: [],
    health: {},
  }
  return [
    ...asked,
    ...asked.map(({ subject, text }) => ({ subject, text: unsigned(text) })),
    ...orders.map((order) => ({ subject: to, text: JSON.stringify(order) })),
    { subject: SUBJECTS.hello(box), text: JSON.stringify(outdated) },
  ]
}

/** The attempts that had an answer. */
async function answered(connection: NatsConnection, attempts: readonly Heard[]) {
  const tried = attempts.map(async ({ subject, text }) => {
    try {
      const answer = await connection.request(subject, text, { timeout: SILENCE_MS })
      return [`${subject}: ${text} -> ${answer.string()}`]
    } catch {
      return []
    }
  })
  return (await Promise.all(tried)).flat()
}

testNeeding(A_BROKER, NATS_SERVER !== null)(
  'nobody but the head gives orders to a box, and nobody but the box reports for it',
  async () => {
    using headDir = temporaryDataDir()
    using boxDir = temporaryDataDir()
    await using cluster = await NatsCluster.start()
    const { seed } = await makeKey()
    await using head = await RelayProcess.start({
      dataDir: headDir.path,
      environment: {
        HOOKLINE_BROKER: `tls://localhost:${cluster.port}`,
        HOOKLINE_BROKER_SEED: seed,
        HOOKLINE_BROKER_CA: cluster.caFile,
      },
    })
    const api = new ApiClient(() => head.url, await createKey(headDir.path))
    const onHead = (...args: string[]) => hookline([...args, '--data-dir', headDir.path])
    const added = await onHead('boxes', 'add', 'studio')
    const [, token = ''] = /hookline join (\S+)/.exec(added.stdout) ?? []
    const { stdout: printed } = await onHead('boxes', 'config')
    const intruder = `{ user: ${INTRUDER.user}, password: ${INTRUDER.pass} }`
    await cluster.reload(printed.replace('users: [', `users: [\n${intruder}`))
    const joined = await hookline(['join', token, '--no-service', '--data-dir', boxDir.path])
    await using stranger = await cluster.dial()
    await using spy = await cluster.dial(INTRUDER)
    const [heardOutside, heard] = [listen(stranger), listen(spy)]
    const box = Bun.spawn([builtExecutable(), 'box', '--data-dir', boxDir.path], {
      env: cleanEnvironment({ HOOKLINE_SIMULATED_LINES: '1' }),
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    const isOnline = async () => {
      type Lines = { readonly data: readonly { readonly status: string }[] }
      const { data } = await api.ask<Lines>('GET', '/api/v1/phone-lines')
      return data.some(({ status }) => status === 'online') ? true : null
    }
    await eventually('the line is online', isOnline)

    const first = await onHead('send', '+12025550147', TEXT)
    await eventually('it was heard', () =>
      heard.some(({ text }) => text.includes(TEXT)) ? 1 : null,
    )
    const stored = JSON.parse(readFileSync(join(boxDir.path, 'box.json'), 'utf8'))
    const attempts = attemptsOf([...heard], stored.box_id)
    // It hears what it asks itself later.
    const outside = heardOutside.filter(({ subject }) => subject.startsWith('hl.'))
    const got = await answered(spy, attempts)
    const gotOutside = await answered(stranger, attempts)
    const second = await onHead('send', '+12025550147', 'And at nine.')
    const carried = carriedIn(boxDir.path).length
    const stillOnline = await isOnline()
    box.kill('SIGTERM')
    await box.exited
    await head.end()

    expect([joined.exitCode, first.exitCode, second.exitCode]).toEqual([0, 0, 0])
    expect(stored.head_key).toStartWith('U')
    expect(attempts.length).toBeGreaterThan(20)
    expect([got, gotOutside]).toEqual([[], []])
    expect(outside).toEqual([])
    expect([stillOnline, carried]).toEqual([true, 2])
  },
  TIMEOUT_MS,
)
