// `hookline boxes upgrade`: lays the executables of a release out for the relay, which brings them to its boxes.

import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'

import type { Box, Rollout } from '../api/boxes.ts'
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
import { hashFile } from '../system/hash.ts'
import { PLATFORM } from '../system/version.ts'
import { EXIT, UsageError, type Call, type Command, type ExitCode } from './command.ts'
import { askRelay } from './own-file.ts'
import type { FindPlace, ServicePlace } from './service.ts'
import { type Download, downloadOf, releaseSource } from './upgrade.ts'

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

type File = { readonly name: string; readonly platform: string }

type Release = {
  readonly files: readonly File[]
  /** Brings a file of it to `path`; an optional one may be missing. */
  readonly fetch: (name: string, path: string) => Promise<void>
  readonly sums: string | null
  readonly signature: string | null
}

async function run(call: Call, findPlace: FindPlace): Promise<ExitCode> {
  const { options } = call
  if (options.has('cancel')) return show(call, await askRelay(call, 'DELETE /rollout'), 'Canceled')
  if (options.has('resume')) {
    return show(call, await askRelay(call, 'POST /rollout/resume'), 'Resumed')
  }
  const { rollout } = await askRelay(call, 'GET /rollout')
  if (rollout !== null) {
    show(call, rollout, 'Under way')
    call.out.problem('Wait for its end, or end it: hookline boxes upgrade --cancel')
    return EXIT.failed
  }
  const boxes = await chosenBoxes(call)
  const place = findPlace(call)
  const folder = join(dataDirectoryAt(call.loadConfig().config.dataDir).path, 'rollout')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  const staged = await stage(call, place, { boxes, folder })
  const body = { ...staged, is_unverified: options.has('unverified') }
  return show(call, await askRelay(call, 'POST /rollout', { body, timeoutMs: START_MS }), 'Started')
}

const USAGE = 'hookline boxes upgrade [BOX…] --from PATH'
/** The relay reads each executable once more. */
const START_MS = 300_000

function show(call: Call, rollout: Rollout, what: string): ExitCode {
  const { version, status, boxes, upgraded, problem } = rollout
  const done = `${upgraded} of ${countWords(boxes, 'box')} upgraded`
  const why = problem === null ? '' : ` Paused at ${problem.box}: ${problem.why}`
  call.out.data(rollout, [`${what}: the upgrade to ${version}, ${done}.${why}`])
  if (status === 'running' && what !== 'Canceled') call.out.note('Watch it: hookline boxes')
  return EXIT.ok
}

async function chosenBoxes(call: Call): Promise<readonly Box[]> {
  const { data } = await askRelay(call, 'GET /boxes')
  const joined = data.filter(({ status }) => status !== 'invited')
  const unknown = call.args.find(
    (text) => !joined.some(({ id, name }) => [id, name].includes(text)),
  )
  if (unknown !== undefined) throw new UsageError(`There is no box ${unknown}.`)
  const isChosen = ({ id, name }: Box) => call.args.includes(id) || call.args.includes(name)
  const chosen = call.args.length === 0 ? joined : joined.filter(isChosen)
  if (chosen.length === 0) throw new UsageError('No box has joined this relay yet.')
  return chosen
}

type Staging = { readonly boxes: readonly Box[]; readonly folder: string }

/** Lays out what the boxes need in `folder`. Nothing runs that was not verified, unless the owner says so. */
async function stage(call: Call, place: ServicePlace, { boxes, folder }: Staging) {
  const isUnverified = call.options.has('unverified')
  const platforms = [...new Set(boxes.map(({ platform }) => platform ?? ''))]
  // Without a signature, only the executable itself says its version.
  const wanted = isUnverified ? [...new Set([...platforms, PLATFORM])] : platforms
  const release = await findRelease(call, place, wanted)
  for (const { name } of release.files) await release.fetch(name, join(folder, name))
  const sums = release.sums ?? (await sumsOf(folder, release.files))
  writeFileSync(join(folder, SUMS), sums)
  if (release.signature !== null) writeFileSync(join(folder, `${SUMS}.minisig`), release.signature)
  const version = isUnverified
    ? await ownVersion(place, folder, release)
    : (await newestRelease(folder, { releaseKey: RELEASE_KEY, fetchText })).version
  const left = boxes.filter(
    ({ platform }) => !release.files.some((file) => file.platform === platform),
  )
  if (left.length === boxes.length || (call.args.length > 0 && left[0] !== undefined)) {
    const [box] = left
    throw new UsageError(`There is no executable for ${box?.name} (${box?.platform}) in it.`)
  }
  if (left.length > 0) call.out.note(`Left out: ${left.map(({ name }) => name).join(', ')}.`)
  const chosen = boxes.filter((box) => !left.includes(box)).map(({ id }) => id)
  return { version, files: release.files, boxes: chosen }
}

/** Verified texts are read from the folder. */
const fetchText = () => Promise.reject(new Error('Nothing is fetched here.'))

async function findRelease(
  call: Call,
  { machine }: ServicePlace,
  platforms: readonly string[],
): Promise<Release> {
  const from = call.options.get('from')
  const path =
    from === undefined ? await releaseSource(call, USAGE) : resolve(call.surroundings.folder, from)
  if (from === undefined && call.options.has('unverified')) {
    throw new UsageError('--unverified is for files that --from names.')
  }
  if (!isAbsolute(path)) return fromAddress(path, downloadOf(machine), { call, platforms })
  if (!existsSync(path)) throw new UsageError(`${path} does not exist.`)
  return statSync(path).isDirectory() ? fromFolder(path, platforms) : fromFile(path)
}

function fromFolder(folder: string, platforms: readonly string[]): Release {
  const all = platforms.map((platform) => ({ platform, name: executableName(platform) }))
  return {
    files: all.filter(({ name }) => existsSync(join(folder, name))),
    fetch: async (name, path) => void copyExecutable(join(folder, name), path),
    sums: readTextOrNull(join(folder, SUMS)),
    signature: readTextOrNull(join(folder, `${SUMS}.minisig`)),
  }
}

function fromFile(file: string): Release {
  const published = publishedSum(file)
  return {
    files: [{ name: basename(file), platform: PLATFORM }],
    fetch: async (_name, path) => void copyExecutable(file, path),
    sums: published?.content ?? null,
    signature: published === null ? null : readTextOrNull(published.signature),
  }
}

async function fromAddress(
  address: string,
  { download, fetchText: read }: Download,
  { call, platforms }: { readonly call: Call; readonly platforms: readonly string[] },
): Promise<Release> {
  const { beside, placeOf } = await newestRelease(address, {
    releaseKey: RELEASE_KEY,
    fetchText: read,
  })
  const sums = beside[SUMS] ?? ''
  const all = platforms.map((platform) => ({ platform, name: executableName(platform) }))
  return {
    files: all.filter(({ name }) => sums.split('\n').some((line) => line.endsWith(` ${name}`))),
    async fetch(name, path) {
      const work = download(placeOf(name), (response) => Bun.write(path, response))
      const found = await call.out.during(`Downloading ${name}`, work)
      if ('why' in found)
        throw new HostingError(`${placeOf(name)} cannot be downloaded. ${found.why}`)
    },
    sums,
    signature: beside[`${SUMS}.minisig`] ?? null,
  }
}

/** As sha256sum writes it. */
async function sumsOf(folder: string, files: readonly File[]): Promise<string> {
  const lines = files.map(async ({ name }) => `${await hashFile(join(folder, name))}  ${name}\n`)
  return (await Promise.all(lines)).join('')
}

async function ownVersion(
  { machine, signal }: ServicePlace,
  folder: string,
  { files }: Release,
): Promise<string> {
  const own = files.find(({ platform }) => platform === PLATFORM)
  if (own === undefined) {
    throw new UsageError(
      `Its version is not known: it has no executable for this machine (${PLATFORM}).`,
    )
  }
  const about = await aboutExecutable(machine.run, join(folder, own.name), signal)
  if (about === null)
    throw new UsageError(`${own.name} is not a Hookline executable for this machine.`)
  return about.version
}
