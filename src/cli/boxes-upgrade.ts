// `hookline boxes upgrade`: stages the executables of a release for the relay, which sends them to its boxes.

import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'

import type { Box, NewRollout, Rollout } from '../api/boxes.ts'
import { countWords } from '../domain/number-words.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { newestRelease, SUMS } from '../hosting/update-check.ts'
import { aboutExecutable, copyExecutable, RELEASE_KEY } from '../hosting/upgrade-executable.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { readTextOrNull } from '../system/files.ts'
import { executableName, PLATFORM } from '../system/version.ts'
import { EXIT, UsageError, type Call, type ExitCode } from './command.ts'
import { askRelay } from './own-file.ts'
import type { FindPlace, ServicePlace } from './service.ts'
import { downloadOf, releaseSource } from './upgrade.ts'

/** Longest wait for the answer: the relay first reads each executable again. */
const START_MS = 300_000

export async function upgradeBoxes(call: Call, findPlace: FindPlace): Promise<ExitCode> {
  const { options, out } = call
  if (options.has('cancel')) return show(call, 'Canceled', await askRelay(call, 'cancelRollout'))
  if (options.has('resume')) return show(call, 'Resumed', await askRelay(call, 'resumeRollout'))
  const { rollout } = await askRelay(call, 'getRollout')
  if (rollout !== null) {
    show(call, 'Under way', rollout)
    out.problem('Wait for its end, or end it: hookline boxes upgrade --cancel')
    return EXIT.failed
  }
  const body = await stage(call, findPlace(call), await chosenBoxes(call))
  return show(call, 'Started', await askRelay(call, 'startRollout', { body, timeoutMs: START_MS }))
}

function show(call: Call, what: string, rollout: Rollout): ExitCode {
  const { version, boxes, upgraded, problem } = rollout
  const done = `${upgraded} of ${countWords(boxes, 'box')} upgraded`
  const why = problem === null ? '' : ` Paused at ${problem}`
  call.out.data(rollout, [`${what}: the upgrade to ${version}, ${done}.${why}`])
  if (what !== 'Canceled') call.out.note('Watch it: hookline boxes')
  return EXIT.ok
}

async function chosenBoxes(call: Call): Promise<readonly Box[]> {
  const { data } = await askRelay(call, 'listBoxes')
  const joined = data.filter(({ status }) => status !== 'invited')
  const chosen = call.args.map((text) => {
    const found = joined.find(({ id, name }) => id === text || name === text)
    if (found === undefined) throw new UsageError(`There is no box ${text}.`)
    return found
  })
  if (joined.length === 0) throw new UsageError('No box has joined this relay yet.')
  return chosen.length === 0 ? joined : chosen
}

/** Puts the files for the boxes into the data directory, where the relay finds them. */
async function stage(call: Call, place: ServicePlace, boxes: readonly Box[]): Promise<NewRollout> {
  const fetch = await fetchOf(call, place)
  const folder = join(dataDirectoryAt(call.loadConfig().config.dataDir).path, 'rollout')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const name of [SUMS, `${SUMS}.minisig`]) await fetch(name, join(folder, name))
  const isUnverified = call.options.has('unverified')
  const signed = isUnverified ? null : await newestRelease(folder, RELEASE_KEY, fromFolder)
  const sums = readTextOrNull(join(folder, SUMS)) ?? ''
  const platforms: string[] = []
  // Without a signature, the version comes from the executable for this machine.
  const own = isUnverified ? [PLATFORM] : []
  for (const platform of new Set([...boxes.map((box) => box.platform ?? ''), ...own])) {
    const name = executableName(platform)
    const isListed = signed === null || sums.includes(` ${name}\n`)
    if (isListed && (await fetch(name, join(folder, name)))) platforms.push(platform)
  }
  const ids = servedBoxes(call, boxes, platforms).map(({ id }) => id)
  const version = signed?.version ?? (await ownVersion(place, folder))
  return { version, platforms, boxes: ids, is_unverified: isUnverified }
}

/** Never called: the texts of a release in a folder aren't at a URL. */
const fromFolder = () => Promise.reject(new Error('Its texts are read from the folder.'))

/** The boxes with an executable. Throws if a box that was named has none. */
function servedBoxes(
  { args, out }: Call,
  boxes: readonly Box[],
  platforms: readonly string[],
): readonly Box[] {
  const served = boxes.filter(({ platform }) => platforms.includes(platform ?? ''))
  const left = boxes.filter((box) => !served.includes(box))
  if (served.length === 0 || (args.length > 0 && left.length > 0)) {
    throw new UsageError(`There is no executable for ${left[0]?.name} (${left[0]?.platform}).`)
  }
  if (left.length > 0) out.note(`Left out: ${left.map(({ name }) => name).join(', ')}.`)
  return served
}

async function ownVersion({ machine, signal }: ServicePlace, folder: string): Promise<string> {
  const about = await aboutExecutable(machine.run, join(folder, executableName(PLATFORM)), signal)
  if (about !== null) return about.version
  throw new UsageError(`There is no executable that runs on this machine (${PLATFORM}).`)
}

/**
 * Returns a function that copies or downloads a file of the release to `to`. It returns false if the folder has no
 * such file, and throws if a download fails.
 */
async function fetchOf(
  call: Call,
  { machine }: ServicePlace,
): Promise<(name: string, to: string) => Promise<boolean>> {
  const from = call.options.get('from')
  const path =
    from === undefined
      ? await releaseSource(call, 'hookline boxes upgrade [BOX…] --from PATH')
      : resolve(call.surroundings.folder, from)
  if (!isAbsolute(path)) {
    const { download } = downloadOf(machine)
    return async (name, to) => {
      const work = download(`${path.replace(/\/$/, '')}/${name}`, (response) =>
        Bun.write(to, response),
      )
      const found = await call.out.during(`Downloading ${name}`, work)
      if ('why' in found) throw new HostingError(`${name} cannot be downloaded. ${found.why}`)
      return true
    }
  }
  if (!existsSync(path)) throw new UsageError(`${path} does not exist.`)
  const sourceOf = (name: string) => {
    if (statSync(path).isDirectory()) return join(path, name)
    if (name === executableName(PLATFORM)) return path
    return name.startsWith(SUMS) ? join(dirname(path), name) : ''
  }
  return async (name, to) => {
    const isThere = existsSync(sourceOf(name))
    if (isThere) copyExecutable(sourceOf(name), to)
    return isThere
  }
}
