// `hookline boxes upgrade`: lays the executables of a release out for the relay, which brings them to its boxes.

import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'

import type { Box, NewRollout, Rollout } from '../api/boxes.ts'
import { countWords } from '../domain/number-words.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { executableName, newestRelease, SUMS } from '../hosting/update-check.ts'
import {
  aboutExecutable,
  copyExecutable,
  publishedSum,
  RELEASE_KEY,
} from '../hosting/upgrade-executable.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { readTextOrNull } from '../system/files.ts'
import { PLATFORM } from '../system/version.ts'
import { EXIT, UsageError, type Call, type Command, type ExitCode } from './command.ts'
import { askRelay } from './own-file.ts'
import type { FindPlace, ServicePlace } from './service.ts'
import { downloadOf, releaseSource } from './upgrade.ts'

export function boxesUpgradeCommand(findPlace: FindPlace): Command {
  return {
    name: 'boxes upgrade',
    args: [{ name: 'BOX', ids: 'boxes', isOptional: true, isRest: true }],
    options: [
      {
        name: 'from',
        value: 'PATH',
        sentence:
          'The folder of a release, or an executable for boxes like this machine (default: the newest in release_source).',
      },
      { name: 'unverified', value: null, sentence: 'Accept files without a release signature.' },
      { name: 'resume', value: null, sentence: 'Go on after a failure, with the same box again.' },
      { name: 'cancel', value: null, sentence: 'Upgrade no further box.' },
    ],
    sentence: 'Upgrade all boxes, or some: first one, then a tenth at a time.',
    run: (call) => run(call, findPlace),
  }
}

type Release = {
  readonly files: NewRollout['files']
  /** Brings one of them to `path`. */
  readonly fetch: (name: string, path: string) => Promise<unknown>
  /** Content of the file of checksums, and its signature; null where there is none. */
  readonly sums: string | null
  readonly signature: string | null
}

const USAGE = 'hookline boxes upgrade [BOX…] --from PATH'
/** The relay reads each executable once more. */
const START_MS = 300_000

async function run(call: Call, findPlace: FindPlace): Promise<ExitCode> {
  const { options } = call
  if (options.has('cancel')) return show(call, 'Canceled', await askRelay(call, 'DELETE /rollout'))
  if (options.has('resume')) {
    return show(call, 'Resumed', await askRelay(call, 'POST /rollout/resume'))
  }
  const { rollout } = await askRelay(call, 'GET /rollout')
  if (rollout !== null) {
    show(call, 'Under way', rollout)
    call.out.problem('Wait for its end, or end it: hookline boxes upgrade --cancel')
    return EXIT.failed
  }
  const boxes = await chosenBoxes(call)
  const body = await stage(call, findPlace(call), boxes)
  return show(call, 'Started', await askRelay(call, 'POST /rollout', { body, timeoutMs: START_MS }))
}

function show(call: Call, what: string, rollout: Rollout): ExitCode {
  const { version, boxes, upgraded, problem } = rollout
  const done = `${upgraded} of ${countWords(boxes, 'box')} upgraded`
  const why = problem === null ? '' : ` Paused at ${problem}`
  call.out.data(rollout, [`${what}: the upgrade to ${version}, ${done}.${why}`])
  if (what !== 'Canceled') call.out.note('Watch it: hookline boxes')
  return EXIT.ok
}

async function chosenBoxes({ args, ...call }: Call): Promise<readonly Box[]> {
  const { data } = await askRelay({ args, ...call }, 'GET /boxes')
  const joined = data.filter(({ status }) => status !== 'invited')
  const chosen = args.map((text) => {
    const found = joined.find(({ id, name }) => id === text || name === text)
    if (found === undefined) throw new UsageError(`There is no box ${text}.`)
    return found
  })
  if (joined.length === 0) throw new UsageError('No box has joined this relay yet.')
  return chosen.length === 0 ? joined : chosen
}

/** Lays out what the boxes need in the data directory, where the relay finds it. */
async function stage(call: Call, place: ServicePlace, boxes: readonly Box[]): Promise<NewRollout> {
  const isUnverified = call.options.has('unverified')
  // Without a signature, only the executable for this machine says its version.
  const own = isUnverified ? [PLATFORM] : []
  const platforms = [...new Set([...boxes.map(({ platform }) => platform ?? ''), ...own])]
  const { files, fetch, sums, signature } = await findRelease(call, place, platforms)
  const served = servedBoxes(call, boxes, files)
  const folder = join(dataDirectoryAt(call.loadConfig().config.dataDir).path, 'rollout')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const { name } of files) {
    await call.out.during(`Fetching ${name}`, fetch(name, join(folder, name)))
  }
  if (sums !== null) writeFileSync(join(folder, SUMS), sums)
  if (signature !== null) writeFileSync(join(folder, `${SUMS}.minisig`), signature)
  const version = isUnverified
    ? await ownVersion(place, join(folder, files.find(isOwn)?.name ?? ''))
    : (await newestRelease(folder, { releaseKey: RELEASE_KEY, fetchText })).version
  return { version, files, boxes: served.map(({ id }) => id), is_unverified: isUnverified }
}

/** The boxes that there is an executable for: all of those that were named. */
function servedBoxes(call: Call, boxes: readonly Box[], files: Release['files']): readonly Box[] {
  const isServed = ({ platform }: Box) => files.some((file) => file.platform === platform)
  const [served, left] = [boxes.filter(isServed), boxes.filter((box) => !isServed(box))]
  if (served.length === 0 || (call.args.length > 0 && left.length > 0)) {
    throw new UsageError(`There is no executable for ${left[0]?.name} (${left[0]?.platform}).`)
  }
  if (left.length > 0) call.out.note(`Left out: ${left.map(({ name }) => name).join(', ')}.`)
  return served
}

const isOwn = ({ platform }: { readonly platform: string }) => platform === PLATFORM
/** Verified texts are read from the folder. */
const fetchText = () => Promise.reject(new Error('Nothing is fetched here.'))

async function ownVersion({ machine, signal }: ServicePlace, file: string): Promise<string> {
  const about = await aboutExecutable(machine.run, file, signal)
  if (about !== null) return about.version
  throw new UsageError(`There is no executable that runs on this machine (${PLATFORM}) in it.`)
}

async function findRelease(
  call: Call,
  { machine }: ServicePlace,
  platforms: readonly string[],
): Promise<Release> {
  const from = call.options.get('from')
  const isUnverified = call.options.has('unverified')
  if (from === undefined && isUnverified) throw new UsageError(`Usage: ${USAGE} --unverified`)
  const path =
    from === undefined ? await releaseSource(call, USAGE) : resolve(call.surroundings.folder, from)
  if (isAbsolute(path) && !existsSync(path)) throw new UsageError(`${path} does not exist.`)
  if (isAbsolute(path) && statSync(path).isFile()) return releaseOf(path)
  const { download, fetchText: read } = downloadOf(machine)
  const [releaseKey, name] = [RELEASE_KEY, `${SUMS}.minisig`]
  const all = platforms.map((platform) => ({ platform, name: executableName(platform) }))
  if (isAbsolute(path)) {
    return {
      files: all.filter((file) => existsSync(join(path, file.name))),
      fetch: async (file, to) => copyExecutable(join(path, file), to),
      sums: readTextOrNull(join(path, SUMS)),
      signature: readTextOrNull(join(path, name)),
    }
  }
  const { beside, placeOf } = await newestRelease(path, { releaseKey, fetchText: read })
  const sums = beside[SUMS] ?? ''
  return {
    files: all.filter((file) => sums.includes(` ${file.name}\n`)),
    async fetch(file, to) {
      const found = await download(placeOf(file), (response) => Bun.write(to, response))
      if ('why' in found)
        throw new HostingError(`${placeOf(file)} cannot be downloaded. ${found.why}`)
    },
    sums,
    signature: beside[name] ?? null,
  }
}

/** An executable for this machine, with the sums beside it. */
function releaseOf(file: string): Release {
  const published = publishedSum(file)
  return {
    files: [{ name: basename(file), platform: PLATFORM }],
    fetch: async (_name, to) => copyExecutable(file, to),
    sums: published?.content ?? null,
    signature: published === null ? null : readTextOrNull(published.signature),
  }
}
