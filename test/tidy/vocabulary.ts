// The field's words. A word on the left is found in names and comments, and the word on the right is
// what an engineer who never saw this code would look for.

import type { SourceFile } from '../support/source-files.ts'
import { COMMENT, commentsOf } from './numbers.ts'

/** Words of names and of comments, in lower case. */
const WORDS: Readonly<Record<string, string>> = {
  ground: 'runtime',
  lane: 'webhook queue',
  lanes: 'webhook queues',
  errand: 'attemptDelivery',
  courier: 'attemptDelivery',
  untold: 'unsubscribed',
  tell: 'publish, report, notify, send',
  tells: 'publishes, reports, notifies, sends',
  told: 'published, reported, notified, sent',
  telling: 'publishing, reporting, notifying, sending',
  teller: 'feed',
  bell: 'signal',
  bells: 'signals',
  attend: 'run',
  attends: 'runs',
  attended: 'run',
  attendance: 'line run',
  judgement: 'startup check',
  verdict: 'result',
  acquit: 'confirmHealthy',
  soundness: 'integrity',
  ail: 'markError',
  ails: 'has an error',
  glimpse: 'peek',
  swallow: 'ignore',
  witness: 'fingerprint',
  witnesses: 'fingerprint of the last rows',
  disguise: 'anonymizer',
  upkeep: 'maintenance',
  housekeeping: 'maintenance',
  brake: 'rate limiter',
  rung: 'stage',
  rungs: 'stages',
  whoever: 'a role: the caller, the owner, the receiver',
  somebody: 'a role: the caller, the owner, the person',
  anew: 'again',
}

/** Whole names. */
const NAMES: Readonly<Record<string, string>> = {
  LateWrites: 'nothing: it is gone',
  LateMessages: 'nothing: it is gone',
  LateNotes: 'nothing: it is gone',
  touched: 'changes',
  giveDue: 'dispatchDue',
  LineLife: 'LineRunner',
  LiveLine: 'LineSnapshot',
  BoardLine: 'LineSnapshot',
  LineBoard: 'LineDirectory',
  takePlace: 'reserveSlot',
  spendPlace: 'consumeSlot',
  givePlaceBack: 'releaseSlot',
  requireSound: 'assertIntact',
  leaveOpen: 'markUnanswered',
  isIll: 'hasError',
  illSince: 'errorSince',
  PassingMap: 'PooledMap',
  PassingSet: 'PooledSet',
  remembering: 'memoize',
  Door: 'DashboardAuth',
  Asked: 'RequestContext',
  Letter: 'SimulatedMessage',
  Happening: 'NetworkEvent',
  PhoneStop: 'PhoneBlocker',
  Stamps: 'LogicalClock',
}

/** One sentence for each word of `file` that the field has another for. */
export function foreignWords(file: SourceFile): readonly string[] {
  const names = namesOf(file)
  const spoken = [...names.flatMap(wordsOf), ...commentsOf(file).flatMap(wordsOf)]
  const found = [
    ...[...new Set(spoken)].flatMap((word) => insteadOf(WORDS, word)),
    ...[...new Set(names)].flatMap((name) => insteadOf(NAMES, name)),
  ]
  return found.map((sentence) => `${file.path}: ${sentence}`)
}

/** A text that is followed by a function: the title of a test, a story or a group. */
const TITLE = /(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,\s*(?:async\s*)?\(/g

/** One sentence for each word in the comments and titles of a test that the field has another for. */
export function foreignSentences(file: SourceFile): readonly string[] {
  const titles = [...file.text.matchAll(TITLE)].map(([, , title = '']) => title)
  const spoken = new Set([...titles, ...commentsOf(file)].flatMap(wordsOf))
  return [...spoken].flatMap((word) => insteadOf(WORDS, word)).map((it) => `${file.path}: ${it}`)
}

function insteadOf(table: Readonly<Record<string, string>>, word: string): readonly string[] {
  return Object.hasOwn(table, word) ? [`${word} (${table[word]})`] : []
}

/** The words of a name or a sentence in lower case: `tellEvent` has `tell` and `event`. */
function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
}

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

function namesOf({ text }: SourceFile): readonly string[] {
  const code = text.replace(COMMENT, '').replace(STRING, "''")
  return code.match(/[A-Za-z_$][\w$]*/g) ?? []
}
