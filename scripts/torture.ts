// Endless versions of tests in the suite. Each prints one line of figures, and ends with 1 if anything
// went wrong.
//
//   bun scripts/torture.ts kills --count 1000       kill -9 under load and during a start
//   bun scripts/torture.ts files --count 300        the same with uploads, sends with files, and late files
//   bun scripts/torture.ts alerts --count 200       the same during alerts: texts, events and POSTs by their ids
//   bun scripts/torture.ts boxes --count 1000       kill -9 of a head, its boxes and its broker (nats-server)
//   bun scripts/torture.ts partitions --count 200   a network that is cut in one direction or both (Linux, root)
//   bun scripts/torture.ts days --count 200         partitions of up to a day, on a test clock
//   bun scripts/torture.ts wipes --count 50         the broker's disk wiped (nats-server)
//   bun scripts/torture.ts power --images 100000    power cuts, put together from recordings (Linux, cc)
//   bun scripts/torture.ts clock                    a wall clock set by -1 h, -1 d, 25 h, 40 d and 400 d (Linux, cc)
//   bun scripts/torture.ts readers --count 1000     readers of events that are cut and resume
//   bun scripts/torture.ts damage --count 1000      databases with flipped bits and overwritten pages
//   bun scripts/torture.ts bodies --count 1000000   bodies of messages on a Mac with damage
//   bun scripts/torture.ts pages                    every page at all widths, by night, and in all locales (Chromium)
//   bun scripts/torture.ts chance --count 100       the suite's tests that draw by chance, a hundred times as long
//   bun scripts/torture.ts boxes-model --steps 1000000   the protocol of several boxes, on a hostile network
//   bun scripts/torture.ts mac-rows --count 10000   histories of rows of a Mac; --features old,copies for those alone
//   bun scripts/torture.ts iphone-screens --count 2000   histories of an iPhone's screens, and what is reported
//
// `--seed N` repeats what a run drew by chance.

import { parseArgs } from 'node:util'

import { runModel } from '../test/boxes/model/model.ts'
import { livePartitions } from '../test/boxes/partitions.ts'
import { lookAtEveryPage } from '../test/browser/every-page.ts'
import { runAlertKills } from '../test/executable/torture/alerts.ts'
import { hasNamespaces } from '../test/executable/torture/box-network.ts'
import { runBoxKills, type FleetRun } from '../test/executable/torture/boxes.ts'
import { jumpClock } from '../test/executable/torture/clock.ts'
import { damageCopies } from '../test/executable/torture/damage.ts'
import { runHostileBox } from '../test/executable/torture/hostile-box.ts'
import { runKills } from '../test/executable/torture/kills.ts'
import { runPartitions } from '../test/executable/torture/partitions.ts'
import { cutPower, recordLoad } from '../test/executable/torture/power.ts'
import { cutReaders } from '../test/executable/torture/readers.ts'
import { compileShim } from '../test/executable/torture/recording.ts'
import { runWipes } from '../test/executable/torture/wipes.ts'
import { problemsOfDamaged } from '../test/lines/kinds/mac/mutations.ts'
import { runHistories } from '../test/story/iphone-screens/run.ts'
import { FEATURES } from '../test/story/mac-model/history.ts'
import { runRows } from '../test/story/mac-model/model.ts'
import { ScratchFolder } from '../test/support/scratch-folder.ts'

/** Result on one line, and all faults. */
type Result = { readonly line: string; readonly faults: readonly string[] }

const HOUR_MS = 3_600_000
const JUMPS_MS = [-1, -24, 25, 40 * 24, 400 * 24].map((hours) => hours * HOUR_MS)
/** Kills for each process that is stopped for a while. */
const KILLS_OF_STOP = 40
const HOSTILE_SECONDS = 20
/** Partitions of one relay, before its events are so old that it deletes them. */
const PARTITIONS_OF_ONE = 10
/** Longer than the relay waits before it deletes old rows. */
const CLOCK_STAY_MS = 75_000
/** A recording is cut this often before the next one is made. */
const IMAGES_OF_ONE = 2_000
const RECORDED_LIVES = 8
const FAULTS_SHOWN = 20
/** Tests of the suite that try what they draw by chance, each as often as `SCALE` says. */
const BY_CHANCE = [
  'test/fuzz',
  'test/keys/model',
  'test/messages/group-law',
  'test/story/alert-limits',
  'test/story/contact-counters',
  'test/story/figures',
  'test/story/sending-histories',
  'test/lines/kinds/iphone/phone-line-unplugged',
  'test/lines/kinds/iphone/screens/inbound-events',
  'test/lines/kinds/iphone/screens/send-faults',
  'test/executable/mac.test.ts',
]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100' },
    features: { type: 'string', default: '' },
    images: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '100000' },
  },
})
const { count, images, seed, steps } = Object.fromEntries(
  Object.entries(options).map(([name, value]) => [name, Number(value)]),
)
const chosen = FEATURES.filter((feature) => options.features.split(',').includes(feature))

const TORTURES: Readonly<Record<string, () => Promise<Result>>> = {
  kills: () => kills('texts'),
  files: () => kills('files'),
  alerts,
  boxes,
  partitions,
  days,
  wipes,
  power,
  clock,
  damage,
  chance,
  readers,
  bodies,
  pages,
  'boxes-model': () => runModel(steps ?? 0, seed ?? 0),
  'mac-rows': () =>
    runRows({ count: count ?? 0, seed: seed ?? 0, ...(chosen.length > 0 && { features: chosen }) }),
  'iphone-screens': () => runHistories(count ?? 0, seed ?? 0),
}
const torture = TORTURES[positionals[0] ?? '']
if (torture === undefined) throw new Error(`One of: ${Object.keys(TORTURES).join(', ')}.`)
const { line, faults } = await torture()
console.log(`${line}; ${faults.length} faults`)
for (const fault of faults.slice(0, FAULTS_SHOWN)) console.log(`  ${fault}`)
process.exitCode = faults.length > 0 ? 1 : 0

async function bodies(): Promise<Result> {
  const problems = problemsOfDamaged(count ?? 0, seed ?? 0)
  const faults = [...problems].filter((problem) => problem.includes('reader itself'))
  return { line: `${count} bodies, refused for ${problems.size} reasons`, faults }
}

async function boxes(): Promise<Result> {
  const all = count ?? 0
  const run = await runBoxKills({ kills: all, stops: Math.ceil(all / KILLS_OF_STOP) })
  const { killed, stopped } = run
  const result = fleetResult(
    `${killed.head + killed.box + killed.broker} kills (head ${killed.head}, box ${killed.box}, ` +
      `broker ${killed.broker}), ${run.early} of them in a start, ${stopped.box} boxes and ` +
      `${stopped.broker} brokers stopped for a while`,
    run,
  )
  const { asked, files, peakMb, memoryMb, diskMb, faults } = await runHostileBox(HOSTILE_SECONDS)
  const cost = `${peakMb.toFixed(0)} MB of memory, ${memoryMb.toFixed(0)} MB lasting, ${diskMb.toFixed(1)} MB on disk`
  return {
    line: `${result.line}; a hostile box for ${HOSTILE_SECONDS} s (${asked} items, ${files} pieces): ${cost}`,
    faults: [...result.faults, ...faults],
  }
}

async function partitions(): Promise<Result> {
  if (!hasNamespaces()) throw new Error('This needs root, Linux, and ip of iproute2.')
  const run = await runPartitions(count ?? 0)
  const { both, from_box: fromBox, to_box: toBox } = run.cuts
  return fleetResult(
    `${both + fromBox + toBox} partitions of ${(run.cutMs / 1_000).toFixed(0)} s together (both ways ` +
      `${both}, from the box ${fromBox}, to it ${toBox})`,
    run,
  )
}

async function days(): Promise<Result> {
  const faults: string[] = []
  const sum = { told: 0, carried: 0, remote: 0, cutMs: 0, expired: 0, withdrawn: 0 }
  let done = 0
  for (let round = seed ?? 0; done < (count ?? 0); round += 1) {
    const some = Math.min(PARTITIONS_OF_ONE, (count ?? 0) - done)
    const run = await livePartitions(some, round)
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += run[name] // Its own keys.
    faults.push(...faultsOf(run.faults).map((fault) => `seed ${round}: ${fault}`))
    done += some
  }
  return {
    line:
      `${done} partitions of ${(sum.cutMs / HOUR_MS).toFixed(0)} h together: ${sum.told} messages told, ` +
      `${sum.carried} carried, ${sum.remote} of them by boxes, ${sum.expired} expired, ` +
      `${sum.withdrawn} withdrawn`,
    faults,
  }
}

async function wipes(): Promise<Result> {
  const run = await runWipes(count ?? 0)
  return fleetResult(`the broker's disk wiped ${run.wipes} times`, run)
}

function fleetResult(what: string, run: FleetRun): Result {
  return {
    line:
      `${what}: ${run.told} messages told, ${run.repeats} requests repeated, ${run.carried} carried, ` +
      `${run.remote} of them by boxes, ${run.inbound} came in, ${run.posts} posts received, ` +
      `${run.files} files, ${run.parts} parts carried, uncertain at some time: ` +
      JSON.stringify(run.doubts),
    faults: [...faultsOf(run.faults), ...badExits(run.exitCodes)],
  }
}

function badExits(codes: readonly number[]): readonly string[] {
  return codes.filter((code) => code !== 0).map((code) => `a last stop ended with ${code}`)
}

function faultsOf(lists: Readonly<Record<string, readonly unknown[]>>): readonly string[] {
  return Object.entries(lists).flatMap(([name, list]) =>
    list.map((one) => `${name}: ${JSON.stringify(one)}`),
  )
}

async function kills(load: 'texts' | 'files'): Promise<Result> {
  const run = await runKills(count ?? 0, load)
  return {
    line:
      `${run.kills} kills, ${run.early} of them before it listened: ${run.told} messages told, ` +
      `${run.repeats} requests repeated, ${run.carried} carried, ${run.posts} posts received, ` +
      `${run.files} files, ${run.parts} parts carried, ${run.waited} sends waited, ` +
      `${run.compatible} by compatible APIs`,
    faults: [...faultsOf(run.faults), ...badExits([run.exitCode])],
  }
}

async function alerts(): Promise<Result> {
  const run = await runAlertKills(count ?? 0)
  return {
    line:
      `${run.kills} kills during ${run.alerts} alerts: ${run.texts} texts, ${run.posts} posts and ` +
      `${run.events} events received`,
    faults: [...faultsOf(run.faults), ...badExits([run.exitCode])],
  }
}

async function readers(): Promise<Result> {
  const { cuts, kills, events, faults } = await cutReaders(count ?? 0)
  return { line: `${cuts} cuts, ${kills} of them with the relay: ${events} events read`, faults }
}

async function pages(): Promise<Result> {
  const { views, faults } = await lookAtEveryPage()
  return { line: `${views} views of pages, dialogs and drawers`, faults }
}

async function power(): Promise<Result> {
  const faults: string[] = []
  let [done, changes, lookedUp] = [0, 0, 0]
  while (done < (images ?? 0)) {
    using folder = new ScratchFolder()
    const load = await recordLoad(folder, requireShim(folder), RECORDED_LIVES)
    const some = Math.min(IMAGES_OF_ONE, (images ?? 0) - done)
    const cut = cutPower(load, some, { seed: (seed ?? 0) + done })
    faults.push(...cut.faults)
    done += some
    changes += cut.changes
    lookedUp += cut.lookedUp
  }
  return {
    line: `${done} power cuts in ${changes} recorded changes: ${lookedUp} acknowledgements looked up`,
    faults,
  }
}

async function clock(): Promise<Result> {
  using folder = new ScratchFolder()
  const library = requireShim(folder)
  const all = await Promise.all(
    JUMPS_MS.map(async (jumpMs) => {
      const faults = await jumpClock(folder, library, { jumpMs, stayMs: CLOCK_STAY_MS })
      return faults.map((fault) => `by ${jumpMs / HOUR_MS} h: ${fault}`)
    }),
  )
  return { line: `${JUMPS_MS.length} jumps of the wall clock`, faults: all.flat() }
}

async function chance(): Promise<Result> {
  const env = {
    ...process.env,
    HOOKLINE_TEST_SCALE: String(count),
    HOOKLINE_TEST_SEED: String(seed),
  }
  const timeout = `--timeout=${(count ?? 1) * HOUR_MS}`
  const child = Bun.spawn([process.execPath, 'test', timeout, ...BY_CHANCE], { env })
  const failed = await child.exited
  return {
    line: `${BY_CHANCE.length} tests, ${count} times as long as in the suite`,
    faults: failed === 0 ? [] : ['see above'],
  }
}

async function damage(): Promise<Result> {
  using folder = new ScratchFolder()
  const run = await damageCopies(folder, count ?? 0, seed ?? 0)
  return {
    line:
      `${run.copies} damaged databases: ${run.unharmed} unharmed, ${run.refused} refused, ` +
      `${run.ended} ended, ${run.silent} with other data`,
    faults: run.faults,
  }
}

function requireShim(folder: ScratchFolder): string {
  const library = compileShim(folder)
  if (library === null) throw new Error('This needs Linux and a C compiler (cc).')
  return library
}
