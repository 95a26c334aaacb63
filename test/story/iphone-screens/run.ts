// Runs histories, and shortens one that fails.

import { drawHistory } from './draw.ts'
import { type Act, type History, type HistoryChat, sentencesOf, type Trouble } from './history.ts'
import { type Faults, faultsOf } from './laws.ts'
import { Stage } from './stage.ts'

export type HistoriesRun = { readonly line: string; readonly faults: Faults }

const SHORTENINGS_MAX = 400

async function play(history: History): Promise<Faults> {
  await using stage = await Stage.play(history)
  return await faultsOf(stage)
}

/** Plays so many histories; faults come with the shortest history that still shows the first of them. */
export async function runHistories(
  count: number,
  seed: number,
  only: readonly Trouble[] | null = null,
): Promise<HistoriesRun> {
  const faults: string[] = []
  const figures = { messages: 0, sends: 0, incidents: 0, most: 0 }
  for (let place = 0; place < count; place += 1) {
    const history = drawHistory(seed + place, only)
    const kinds = history.acts.map(({ act }) => act)
    figures.messages += kinds.filter((act) => act === 'receive').length
    figures.sends += kinds.filter((act) => act === 'send').length
    figures.incidents += kinds.filter((act) => act === 'later').length
    figures.most = Math.max(figures.most, history.chats.length)
    const found = await play(history)
    if (found.length === 0) continue
    const story = faults.length > 0 ? [] : sentencesOf(await shortened(history, found))
    const fault = `seed ${history.seed} (${history.troubles.join(', ')}): ${found.join('; ')}`
    faults.push([fault, ...story].join('\n    '))
  }
  const { messages, sends, incidents, most } = figures
  const line = `${count} histories of up to ${most} chats: ${messages} messages came, ${sends} went, ${incidents} incidents`
  return { line, faults }
}

/** The history without the acts and chats that its first fault does not need. */
async function shortened(history: History, faults: Faults): Promise<History> {
  const kind = kindOf(faults[0] ?? '')
  const stillFails = async (shorter: History) =>
    (await play(shorter).catch(() => [])).some((fault) => kindOf(fault) === kind)
  let left = SHORTENINGS_MAX
  let best = history
  for (
    let size = Math.ceil(best.acts.length / 2);
    size >= 1 && left > 0;
    size = Math.floor(size / 2)
  ) {
    for (let at = 0; at < best.acts.length && left > 0; left -= 1) {
      const acts: readonly Act[] = best.acts.toSpliced(at, size)
      const shorter = { ...best, acts, chats: usedChats(best.chats, acts) }
      if (await stillFails(shorter)) best = shorter
      else at += size
    }
  }
  return best
}

function usedChats(chats: readonly HistoryChat[], acts: readonly Act[]): readonly HistoryChat[] {
  const used = new Set(
    acts.flatMap((act) => {
      if ('key' in act) return [act.key]
      return act.act === 'later' && 'key' in act.incident ? [act.incident.key] : []
    }),
  )
  return chats.filter(({ key, isPinned }) => used.has(key) || isPinned)
}

/** What went wrong, without whom and what it was about. */
function kindOf(fault: string): string {
  return fault.replace(/[:,"].*$/s, '').replaceAll(/\S*\d\S*/g, '')
}
