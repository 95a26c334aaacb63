// The handlers of what a test asserts on and decides: the outbox, webhook calls, people and faults.

import { invalidRequest } from '../domain/errors.ts'
import { bind, type Binding, type Input } from '../http/bind.ts'
import { readHandle } from '../http/input.ts'
import { messagesOnPhones } from '../lines/kinds/simulated/phones.ts'
import { numberOfLine } from '../storage/lines.ts'
import { awaitEnough, outboxMessage, textFilter, webhookCall } from './assertions.ts'
import { durationIn } from './durations.ts'
import { FAULTS_MAX, issuesOfFault } from './faults.ts'
import { FAKE_OPERATIONS } from './operations.ts'
import { PEOPLE_SCHEMA } from './people-file.ts'
import type { World } from './world.ts'

export function scriptBindings(world: World): readonly Binding[] {
  const { script } = world
  const faults = () => ({ data: script.faults.map(({ fault }) => fault) })
  return [
    bind(FAKE_OPERATIONS.listOutbox, (input) => {
      const { query } = input
      const { to, line } = query
      const handle = readHandle(to)
      const number = line === undefined ? undefined : numberIn(world, line)
      const isMeant = textFilter(query)
      const find = () =>
        messagesOnPhones(world.network, { to: handle, line: number }).filter(({ text }) =>
          isMeant(text),
        )
      return found(world, input, find, outboxMessage)
    }),
    bind(FAKE_OPERATIONS.listWebhookCalls, (input) => {
      const { query } = input
      const { url = '', event } = query
      const isMeant = textFilter(query)
      const find = () =>
        script.calls
          .filter((one) => one.url.includes(url) && (event ?? one.event) === one.event)
          .filter(({ body }) => isMeant(body))
      return found(world, input, find, webhookCall)
    }),
    bind(FAKE_OPERATIONS.getFakePeople, () => script.file),
    bind(FAKE_OPERATIONS.replaceFakePeople, ({ body }) => {
      script.replace(body, world.network)
      return script.file
    }),
    bind(FAKE_OPERATIONS.getFakePeopleSchema, () => PEOPLE_SCHEMA),
    bind(FAKE_OPERATIONS.listFaults, faults),
    bind(FAKE_OPERATIONS.addFault, ({ body }) => {
      const issues = [...issuesOfFault(body, '')]
      if (script.faults.length >= FAULTS_MAX) {
        const message = `is one too many: ${FAULTS_MAX} are not over. DELETE ends them`
        issues.push({ path: 'fault', message })
      }
      if (issues.length > 0) throw invalidRequest(...issues)
      script.addFault(body, world.network)
      return faults()
    }),
    bind(FAKE_OPERATIONS.clearFaults, () => {
      script.clearFaults(world.network)
      return faults()
    }),
  ]
}

/** The number of a line by its id or its number. Throws `invalid_request` if there is none. */
function numberIn(world: World, line: string): string {
  const number = numberOfLine(world.db, line) ?? readHandle(line) ?? line
  if (world.lineNumbers.includes(number)) return number
  const message = `must be the id of a line or one of ${world.lineNumbers.join(', ')}`
  throw invalidRequest({ path: 'line', message })
}

const WAIT_MS_MAX = 60_000

/** Answers 408 with what there is if there is not enough in time. */
async function found<T, R>(
  { clock }: World,
  {
    request,
    query,
    set,
  }: Pick<Input<typeof FAKE_OPERATIONS.listOutbox>, 'request' | 'set'> & {
    readonly query: { readonly count?: number | undefined; readonly wait?: string | undefined }
  },
  find: () => readonly T[],
  resource: (one: T) => R,
) {
  const { count = query.wait === undefined ? 0 : 1, wait = '0' } = query
  const waitMs = durationIn('wait', wait)
  if (waitMs < 0 || waitMs > WAIT_MS_MAX) {
    throw invalidRequest({ path: 'wait', message: 'must be 60s at most' })
  }
  const data = (await awaitEnough(request, find, { count, waitMs })).map(resource)
  if (data.length >= count) return { data }
  set.status = 408
  const message =
    `There ${data.length === 1 ? 'is' : 'are'} ${data.length} of ${count} wanted.` +
    (clock.isFrozen ? ' The clock stands still: what is due later happens when you move it.' : '')
  return { error: { code: 'timeout' as const, message }, data }
}
