// Random histories of rows of chat.db through the real driver and the real relay: nothing is lost, nothing doubled,
// nothing under a wrong name, and nothing old reported as new.

import { drawRun } from './draw.ts'
import { FEATURES, wordsOf, type Feature, type Move, type Run } from './history.ts'
import { faultsOf, type Fault } from './laws.ts'
import { perform } from './perform.ts'

export type RowsFigures = {
  readonly histories: number
  readonly line: string
  readonly faults: readonly string[]
}

/** Shorter histories that are tried for one fault: each takes about a second. */
const TRIES_MAX = 80

type Asked = {
  readonly count: number
  readonly seed: number
  readonly features?: readonly Feature[] | undefined
  /** How many faults are shown with the shortest history that has them: that takes some seconds for each. */
  readonly shown?: number | undefined
}

/** Histories that share one relay: they happen at the same time, to other people. */
export const HISTORIES_OF_RUN = 50

/** Lives through so many histories, and says what broke a law, each with the shortest history that does. */
export async function runRows({
  count,
  seed,
  features = FEATURES,
  shown = 5,
}: Asked): Promise<RowsFigures> {
  const faults: string[] = []
  const sum = { moves: 0, broken: 0 }
  for (let done = 0; done < count; done += HISTORIES_OF_RUN) {
    const histories = Math.min(HISTORIES_OF_RUN, count - done)
    const run = drawRun({ seed: seed + done, histories, features: new Set(features) })
    sum.moves += run.moves.length
    const found = await live(run)
    if (found.length > 0) sum.broken += 1
    for (const fault of firstOfEach(found)) {
      faults.push(faults.length < shown ? await shortest(run, fault) : wordsOfFault(run, fault))
    }
  }
  const line = `${count} histories, ${sum.moves} moves, ${sum.broken} runs with faults`
  return { histories: count, line, faults }
}

async function live(run: Run): Promise<readonly Fault[]> {
  const lived = await perform(run)
  await using _ = lived.world
  return await faultsOf(run, lived)
}

function firstOfEach(faults: readonly Fault[]): readonly Fault[] {
  const laws = Map.groupBy(faults, ({ law }) => law)
  return [...laws.values()].flatMap(([first]) => first ?? [])
}

function wordsOfFault({ seed, schema }: Run, { law, words }: Fault): string {
  return `seed ${seed}, ${schema}: ${law}: ${words}`
}

/** Takes away whatever the fault does not need: the other histories, then move after move, then what is odd of each. */
async function shortest(run: Run, fault: Fault): Promise<string> {
  let [best, tries] = [run, 0]
  const breaks = async (smaller: Run) => {
    tries += 1
    if (tries > TRIES_MAX) return false
    const found = await live(smaller)
    const isBroken = found.some(({ law }) => law === fault.law)
    if (isBroken) best = smaller
    return isBroken
  }
  const { history } = fault
  if (history !== null) {
    const isOf = (one: number | null) => one === history || one === null
    await breaks(
      without(
        run,
        (move) => !isOf(move.history),
        ({ history: one }) => !isOf(one),
      ),
    )
  }
  for (let size = Math.ceil(best.moves.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < best.moves.length;) {
      const gone = new Set(best.moves.slice(from, from + size))
      if (!(await breaks(without(best, (move) => gone.has(move))))) from += size
    }
  }
  for (const past of best.past)
    await breaks(
      without(
        best,
        () => false,
        (one) => one === past,
      ),
    )
  for (const simpler of PLAINER) {
    for (const move of best.moves) {
      const plain = simpler(move)
      if (plain === null) continue
      await breaks({ ...best, moves: best.moves.map((one) => (one === move ? plain : one)) })
    }
  }
  const last = await live(best)
  const words = last.find(({ law }) => law === fault.law) ?? fault
  const past = best.past.map(({ what, person }) => `    before: ${what} ${person.handle}`)
  return [wordsOfFault(run, words), ...past, ...best.moves.map((m) => `    ${wordsOf(m)}`)].join(
    '\n',
  )
}

function without(
  run: Run,
  isGone: (move: Move) => boolean,
  isPastGone: (past: Run['past'][number]) => boolean = () => false,
): Run {
  const moves = run.moves.filter((move) => !isGone(move))
  return { ...run, moves, past: run.past.filter((past) => !isPastGone(past)) }
}

type Plainer = (move: Move) => Move | null

const PLAINER: readonly Plainer[] = [
  (move) => (move.kind === 'letter' && move.copies.length > 0 ? { ...move, copies: [] } : null),
  (move) => (move.kind === 'letter' && move.place !== 'chat' ? { ...move, place: 'chat' } : null),
  (move) => (move.kind === 'letter' && move.dated !== 'now' ? { ...move, dated: 'now' } : null),
  (move) => (move.kind === 'letter' && move.body !== 'whole' ? { ...move, body: 'whole' } : null),
  (move) => {
    if (move.kind !== 'letter' || move.spelling === null) return null
    return move.spelling === move.person.handle ? null : { ...move, spelling: move.person.handle }
  },
]
