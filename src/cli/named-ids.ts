// Puts ids in place of the names, numbers and short ids that a person writes in a command.

import { folded } from '../domain/search-text.ts'
import { Options, UsageError, type Call, type Command } from './command.ts'
import { namedIds, type IdKind, type NamedId } from './completion-ids.ts'
import type { ControlClient } from './control-client.ts'
import { clientOf } from './own-file.ts'

/** Names are looked for in this many entries. */
const LOOKED_AT_MAX = 1_000
const CHOICES_MAX = 10
/** The options that take several, with commas between. */
const LISTS_OF_IDS = ['lines', 'sites', 'conversations']
/** An id, which the relay checks itself. */
const WHOLE_ID = /^[a-z]{2,8}_[0-9a-z_]+$/
/** As tables show it: `wh_…ay27n`, or its end alone. */
const SHORT_ID = /^(?:([a-z]+_)(?:…|\.{2,3}))?([0-9a-z]{5,25})$/

/**
 * The call with ids. Leaves words that it can't find as they are, so that the relay's own answer says what is
 * wrong. Throws a UsageError with the choices if a word means several things.
 */
export async function withIds({ args = [], options = [] }: Command, call: Call): Promise<Call> {
  const places = call.args.flatMap((written, index) => {
    const kind = (args[index] ?? args.at(-1))?.ids
    return isNamed(kind, written) ? [{ kind, written, index }] : []
  })
  const named = options.flatMap(({ name, ids: kind }) => {
    const written = call.options.get(name) ?? ''
    return isNamed(kind, written) ? [{ kind, written, name }] : []
  })
  if (places.length + named.length === 0) return call
  const client = clientOf(call)
  if (!(await client.isThere())) return call
  const [found, values] = [[...call.args], new Options(call.options)]
  for (const { kind, written, index } of places) found[index] = await idOf(client, kind, written)
  for (const { kind, written, name } of named) {
    const words = LISTS_OF_IDS.includes(name)
      ? written.split(',').map((word) => word.trim())
      : [written]
    const ids: string[] = []
    for (const word of words) ids.push(requireKnown(name, kind, await idOf(client, kind, word)))
    values.set(name, ids.join(','))
  }
  return { ...call, args: found, options: values }
}

/** Throws for an unknown line or site: as a filter it would find nothing, which looks like an empty result. */
function requireKnown(option: string, kind: IdKind, id: string): string {
  if (WHOLE_ID.test(id) || (kind !== 'lines' && kind !== 'sites')) return id
  const name = kind === 'lines' ? 'line' : 'site'
  throw new UsageError(`--${option}: there is no ${name} "${id}". List them: hookline ${kind}`)
}

/** Boxes are left out, because the API takes their names. */
function isNamed(kind: IdKind | undefined, written: string): kind is IdKind {
  if (kind === undefined || kind === 'boxes' || written === '') return false
  return !written.split(',').every((word) => WHOLE_ID.test(word.trim()))
}

async function idOf(client: ControlClient, kind: IdKind, written: string): Promise<string> {
  if (WHOLE_ID.test(written)) return written
  const all = await namedIds(client, kind, LOOKED_AT_MAX)
  const called = all.filter((one) => isCalled(one, written))
  const found = called.length > 0 ? called : all.filter(({ id }) => isShortFor(written, id))
  return theOnly(written, found)?.id ?? written
}

/** The only one of `found`; undefined if there is none. Throws a UsageError that lists several. */
export function theOnly(written: string, found: readonly NamedId[]): NamedId | undefined {
  const [only, ...others] = found
  if (others.length === 0) return only
  const choices = found.slice(0, CHOICES_MAX).map(({ id, name }) => `  ${id}  ${name}`)
  const more = found.length > CHOICES_MAX ? ['  …'] : []
  const head = `"${written}" is the name of ${found.length}. Use one of these:`
  throw new UsageError([head, ...choices, ...more].join('\n'))
}

export function isCalled({ name, names = [name] }: NamedId, written: string): boolean {
  return names.some((one) => plain(one) === plain(written))
}

/** Without case, accents, and the spaces and signs between the digits of a number. */
function plain(name: string): string {
  return /^\+?[\d\s().-]+$/.test(name) ? name.replaceAll(/[^\d+]/g, '') : folded(name.trim())
}

function isShortFor(written: string, id: string): boolean {
  const [, start = '', end = ''] = SHORT_ID.exec(written) ?? []
  return end !== '' && id.startsWith(start) && id.endsWith(end)
}
