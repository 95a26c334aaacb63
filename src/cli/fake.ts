// `hookline fake`: runs a relay in memory for the tests of other programs, until a signal or its parent ends it.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { RelayError, type Issue } from '../domain/errors.ts'
import { startFake } from '../fake/bindings.ts'
import { credentialsFor, connections, webhookSecret } from '../fake/credentials.ts'
import { readPeopleFile, type PeopleFile } from '../fake/people-file.ts'
import type { World } from '../fake/world.ts'
import { systemClock, whenAborted } from '../system/clock.ts'
import { jsonLog } from '../system/log.ts'
import { exitOnCrash, parentEnd, stopSignal } from '../system/own-process.ts'
import { EXIT, UsageError, type Call, type ExitCode } from './command.ts'
import { terminalLog, writeLogLine } from './output.ts'
import { fields } from './table.ts'

const PORT = 4666
const FORMS = ['env', 'json'] as const

export async function runFake(call: Call): Promise<ExitCode> {
  const { options, surroundings } = call
  if (options.has('data-dir')) {
    throw new UsageError(
      'hookline fake keeps nothing: it takes no --data-dir. A relay with data: hookline serve',
    )
  }
  const form = call.options.choice('print', FORMS)
  const log = (surroundings.isTerminal ? terminalLog : jsonLog)(writeLogLine, () =>
    systemClock.now(),
  )
  exitOnCrash((message, error) => log.error(message, { error }))
  const signal = stopSignal()
  const orphaned = options.has('stay') ? whenAborted(signal) : parentEnd()
  const world = await startFake({
    host: options.get('host') ?? '127.0.0.1',
    port:
      options.get('port') === '0'
        ? 0
        : call.options.number('port', { fallback: PORT, max: 65_535 }),
    lines: call.options.number('lines', { fallback: 2, max: 99 }),
    seed: options.has('seed')
      ? call.options.number('seed', { fallback: 1, max: 999_999_999 })
      : null,
    webhook: options.get('webhook') ?? null,
    people: peopleIn(call),
    publicUrl: options.get('public-url'),
    // Lines come and go at each reset, which would clutter the output of the tests that use the fake.
    log: { ...log, info: () => {} },
  })
  if (!world.hasRoomForFiles) {
    log.warn(
      'messages with files will fail: neither the temporary folder nor /dev/shm can be written',
    )
  }
  printReady(call, world, form)
  await Promise.race([whenAborted(signal), orphaned])
  await world.stop()
  return EXIT.ok
}

/** The file of people; undefined without one. Each of its faults is a line of the error. */
function peopleIn({ options, surroundings }: Call): PeopleFile | undefined {
  const name = options.get('people')
  if (name === undefined) return undefined
  const path = resolve(surroundings.folder, name)
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  try {
    return readPeopleFile(readFileSync(path, 'utf8'))
  } catch (error) {
    if (!(error instanceof RelayError)) throw error
    const issues = (error.details?.['issues'] ?? []) as readonly Issue[] // Of `invalid_request`.
    const faults = issues.map(({ path: place, message }) => `  ${place}: ${message}`)
    throw new UsageError([`${path} makes no sense:`, ...faults].join('\n'))
  }
}

function printReady({ out }: Call, world: World, form: (typeof FORMS)[number] | undefined): void {
  const url = world.url()
  const numbers = world.lineNumbers
  const facts = {
    url,
    ...credentialsFor(null),
    webhook_secret: webhookSecret(),
    lines: numbers,
    connect: connections(url, numbers),
  }
  if (form === 'json') return out.data(facts, [JSON.stringify(facts)])
  const { key, secret, webhook_secret } = facts
  if (form === 'env') {
    const variables = { URL: url, KEY: `${key}:${secret}`, WEBHOOK_SECRET: webhook_secret }
    const rows = Object.entries(variables).map(([name, value]) => `HOOKLINE_${name}=${value}`)
    return out.data(facts, [...rows, `HOOKLINE_LINES=${numbers.join(',')}`])
  }
  const rows: [string, string][] = [
    ['Hookline', 'fake: nothing leaves this machine, and nothing is kept'],
    ['address', url],
    ['dashboard', `${url}/ (no password)`],
    ['X-API-Key', key],
    ['X-API-Secret', secret],
    ['webhooks', `signed with ${webhook_secret}`],
    ['lines', numbers.join(', ')],
    ['more', `hookline guide fake; credentials of other APIs: --print json`],
  ]
  out.data(facts, [fields(rows)])
}
