// The file of people: who answers what. It is JSON, and its schema is the documentation of its fields.

import { Type } from 'typebox'

import { parsed } from '../api/client.ts'
import { enumOf, objectSchema, type Shape } from '../api/schema.ts'
import { invalidRequest, type Issue } from '../domain/errors.ts'
import { parseRecipient } from '../domain/handle.ts'
import { TEXT_LENGTH_MAX } from '../domain/message.ts'
import { bodyCheck } from '../http/bind.ts'
import { Group } from '../lines/kinds/simulated/script.ts'
import { File, FILES_MAX, issuesOfFile, type Words } from '../lines/kinds/simulated/writing.ts'
import { DEVICE_FAULT_NAMES, Fault, FAULTS_MAX, issuesOfFault, TIMES_MAX } from './faults.ts'

const ROWS_MAX = 1_000
/** A week. */
const AFTER_SECONDS_MAX = 604_800
/** Everybody whom the file doesn't name, and whose digits mean nothing. */
export const EVERYBODY = '*'

const words = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX, description }))
const name = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }))

/** Words and files of a person. */
const WRITTEN = {
  say: words('The text that they write. STOP opts out.'),
  files: Type.Optional(Type.Array(File, { maxItems: FILES_MAX })),
  after_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: AFTER_SECONDS_MAX, description: 'How much later.' }),
  ),
}

const Answer = objectSchema(
  'FakeAnswer',
  {
    equals: words('Only if the text is this. Case and spaces around don’t count.'),
    contains: words('Only if the text has this in it. Case does not count.'),
    matches: words(
      'Only if this regular expression matches the text, as JavaScript writes it, with the flag i.',
    ),
    group: name(
      'Only in the group with this identifier. Without it: only in a direct conversation.',
    ),
    state: name('Only if the person is in this state. Everybody begins in `start`.'),
    go_to: name('The state of the person from then on.'),
    times: Type.Optional(
      Type.Integer({ minimum: 1, maximum: TIMES_MAX, description: 'At most so often.' }),
    ),
    ...WRITTEN,
    react: Type.Optional(
      enumOf('FakeReaction', ['love', 'like', 'dislike', 'laugh', 'emphasize', 'question']),
    ),
    reply: Type.Optional(Type.Boolean({ description: 'True to reply to this very message.' })),
    device: Type.Optional(
      enumOf('FakeDeviceFault', DEVICE_FAULT_NAMES, 'What the sending device does, as in a fault.'),
    ),
  },
  'The first one that fits counts; one without conditions always fits. With nothing to say, the person is silent.',
)
export type Answer = Shape<typeof Answer>

const Person = objectSchema('FakePerson', {
  number: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'A number or an email address; `*` is everybody else whose digits mean nothing.',
  }),
  reach: Type.Optional(enumOf('FakeReach', ['imessage', 'sms', 'nothing'])),
  receipts: Type.Optional(enumOf('FakeReceipts', ['read', 'delivered', 'none'])),
  answers: Type.Optional(Type.Array(Answer, { maxItems: ROWS_MAX })),
})
export type Person = Shape<typeof Person>

const Start = objectSchema('FakeStart', {
  from: Type.String({ minLength: 1, maxLength: 255 }),
  group: name('The identifier of one of `groups`.'),
  line: name('The number of the line; the first one if left out.'),
  ...WRITTEN,
})

export const PeopleFile = objectSchema('FakePeople', {
  people: Type.Optional(Type.Array(Person, { maxItems: ROWS_MAX })),
  groups: Type.Optional(Type.Array(Group, { maxItems: ROWS_MAX })),
  starts: Type.Optional(
    Type.Array(Start, { maxItems: ROWS_MAX, description: 'What people write by themselves.' }),
  ),
  faults: Type.Optional(Type.Array(Fault, { maxItems: FAULTS_MAX })),
})
export type PeopleFile = Shape<typeof PeopleFile>

type Conditions = Readonly<Partial<Record<'equals' | 'contains' | 'matches', string | undefined>>>

/** True if the text meets all conditions. */
export function fits({ equals, contains = '', matches = '' }: Conditions, text: string): boolean {
  const plain = text.trim().toLowerCase()
  return (
    plain === (equals ?? plain).trim().toLowerCase() &&
    text.toLowerCase().includes(contains.toLowerCase()) &&
    new RegExp(matches, 'i').test(text)
  )
}

/** The schema for an editor: a file may name it. */
export const PEOPLE_SCHEMA = {
  ...PeopleFile,
  properties: { $schema: { type: 'string' }, ...PeopleFile.properties },
}

const requireFields = bodyCheck(PeopleFile)

/** Reads a file from its text. Throws `invalid_request` with the place of each fault. */
export function readPeopleFile(text: string): PeopleFile {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) {
    throw invalidRequest({ path: '', message: 'This must be a JSON object such as {"people":[]}.' })
  }
  const { $schema: _, ...file } = value as { readonly $schema?: unknown } // Any object.
  requireFields(file)
  requireSense(file)
  return file
}

/** Throws `invalid_request` for what the schema can't say. */
export function requireSense(file: PeopleFile): void {
  const issues = [...issuesOf(file)]
  if (issues.length > 0) throw invalidRequest(...issues)
}

function* issuesOf(file: PeopleFile): Generator<Issue, undefined> {
  const { people = [], groups = [], starts = [], faults = [] } = file
  for (const [index, person] of people.entries()) {
    const isTwice = people.findIndex(({ number }) => number === person.number) < index
    yield* issuesOfPerson(person, isTwice, `people.${index}`)
  }
  for (const [index, { participants }] of groups.entries()) {
    for (const one of participants) yield* issuesOfHandle(one, `groups.${index}.participants`)
  }
  for (const [index, start] of starts.entries()) {
    const path = `starts.${index}`
    yield* issuesOfHandle(start.from, `${path}.from`)
    yield* issuesOfWords(start, path)
    if (isSilent(start)) yield { path: `${path}.say`, message: 'is required without files' }
    const known = [undefined, ...groups.map(({ identifier }) => identifier)]
    if (!known.includes(start.group))
      yield { path: `${path}.group`, message: 'is none of the `groups` of this file' }
  }
  for (const [index, fault] of faults.entries()) yield* issuesOfFault(fault, `faults.${index}.`)
}

function* issuesOfPerson(
  { number, answers = [] }: Person,
  isTwice: boolean,
  path: string,
): Generator<Issue, undefined> {
  if (isTwice) yield { path: `${path}.number`, message: `${number} is in the file twice` }
  else if (number !== EVERYBODY) yield* issuesOfHandle(number, `${path}.number`)
  for (const [at, answer] of answers.entries()) {
    yield* issuesOfPattern(answer.matches ?? '', `${path}.answers.${at}.matches`)
    yield* issuesOfWords(answer, `${path}.answers.${at}`)
  }
}

export function issuesOfPattern(pattern: string, path: string): Issue[] {
  try {
    RegExp(pattern, 'i')
    return []
  } catch {
    return [{ path, message: 'must be a regular expression, such as ^yes\\b' }]
  }
}

function* issuesOfWords(words: Words, path: string): Generator<Issue, undefined> {
  const { reply, files = [] } = words
  if (reply === true && isSilent(words))
    yield { path: `${path}.reply`, message: 'needs words in `say`' }
  for (const [index, file] of files.entries()) yield* issuesOfFile(file, `${path}.files.${index}`)
}

function isSilent({ say, files = [] }: Words): boolean {
  return say === undefined && files.length === 0
}

function issuesOfHandle(handle: string, path: string): Issue[] {
  const message = `must be a number like +12025550147 or an email address, and this is ${handle}`
  return parseRecipient(handle) === null ? [{ path, message }] : []
}
