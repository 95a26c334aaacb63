// Damage of the database: copies of a sound one with flipped bits, random bytes, zeroed sectors and random
// pages, on each of which the relay is started and read.

import { closeSync, cpSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { builtExecutable, cleanEnvironment } from '../../support/executable.ts'
import { Receiver } from '../../support/receiver.ts'
import { ApiClient, createKey, RelayProcess, type ApiKey } from '../../support/relay-process.ts'
import type { ScratchFolder } from '../../support/scratch-folder.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { Clients, comeToRest, ENVIRONMENT, prepare, type Page } from './load.ts'

const WAYS = ['flipped bits', 'random bytes', 'a zeroed sector', 'a random page'] as const
const LOAD_MS = 1_000
const READY_MS_MAX = 60_000
/** A relay that met damage is to end by then. */
const END_MS_MAX = 30_000
const PAGE_BYTES = 4_096
const SECTOR_BYTES = 512
const LISTS = ['messages', 'conversations', 'webhooks', 'keys', 'phone-lines', 'health']

/** How it went: sound or read as before, refused or ended with its reason, or a fault. */
export type DamageFigures = {
  readonly copies: number
  readonly unharmed: number
  readonly refused: number
  readonly ended: number
  /** Copies that answered other data without an error, which SQLite cannot see. */
  readonly silent: number
  readonly faults: readonly string[]
}

type Sound = { readonly dataDir: string; readonly key: ApiKey; readonly answers: string }
type Outcome =
  | { readonly is: 'unharmed' | 'refused' | 'ended' | 'silent' }
  | { readonly is: 'fault'; readonly why: string }

export async function damageCopies(
  folder: ScratchFolder,
  copies: number,
  seed: number,
): Promise<DamageFigures> {
  const random = new SeededRandom(seed)
  const sound = await makeSound(folder)
  const outcomes: Outcome[] = []
  for (let number = 0; number < copies; number += 1) {
    const dataDir = folder.file(`copy-${number}`)
    cpSync(sound.dataDir, dataDir, { recursive: true })
    const how = damage(join(dataDir, 'hookline.db'), number, random)
    const outcome = await startOn(dataDir, sound)
    rmSync(dataDir, { recursive: true })
    outcomes.push(outcome.is === 'fault' ? { ...outcome, why: `${how}: ${outcome.why}` } : outcome)
  }
  const count = (is: Outcome['is']) => outcomes.filter((outcome) => outcome.is === is).length
  return {
    copies,
    unharmed: count('unharmed'),
    refused: count('refused'),
    ended: count('ended'),
    silent: count('silent'),
    faults: outcomes.flatMap((outcome) => (outcome.is === 'fault' ? [outcome.why] : [])),
  }
}

/** A data directory with some hundred messages, whose relay has ended well. */
async function makeSound(folder: ScratchFolder): Promise<Sound> {
  const dataDir = folder.file('sound')
  const key = await createKey(dataDir)
  await using relay = await RelayProcess.start({
    dataDir,
    environment: ENVIRONMENT,
    folder: folder.path,
  })
  using receiver = new Receiver()
  const api = new ApiClient(() => relay.url, key)
  const clients = new Clients(api, key, await prepare(api, [receiver]))
  const running = clients.run()
  await Bun.sleep(LOAD_MS)
  clients.stop()
  await running
  await comeToRest(api)
  const answers = JSON.stringify(await readAll(api))
  await relay.end('SIGTERM')
  return { dataDir, key, answers }
}

/** Damages a file in one of four ways, in turns, and names it. */
function damage(path: string, number: number, random: SeededRandom): string {
  const { size } = statSync(path)
  const way = WAYS[number % WAYS.length] ?? 'flipped bits'
  switch (way) {
    case 'flipped bits':
      for (let bit = 0; bit < 3; bit += 1) flip(path, random.below(size), 1 << random.below(8))
      break
    case 'random bytes':
      overwrite(path, random.below(size - 16), randomBytes(16, random))
      break
    case 'a zeroed sector':
      overwrite(path, sectorAt(size, SECTOR_BYTES, random), new Uint8Array(SECTOR_BYTES))
      break
    case 'a random page':
      overwrite(path, sectorAt(size, PAGE_BYTES, random), randomBytes(PAGE_BYTES, random))
  }
  return way
}

function sectorAt(size: number, bytes: number, random: SeededRandom): number {
  return random.below(Math.floor(size / bytes)) * bytes
}

function randomBytes(length: number, random: SeededRandom): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256))
}

function flip(path: string, at: number, mask: number): void {
  const file = openSync(path, 'r+')
  const byte = new Uint8Array(1)
  readSync(file, byte, 0, 1, at)
  writeSync(
    file,
    byte.map((value) => value ^ mask),
    0,
    1,
    at,
  )
  closeSync(file)
}

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

/** Starts a relay on a copy and reads all of it. */
async function startOn(dataDir: string, sound: Sound): Promise<Outcome> {
  const child = Bun.spawn([builtExecutable(), 'serve', '--data-dir', dataDir, '--port', '0'], {
    env: cleanEnvironment(ENVIRONMENT),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = new Response(child.stderr).text()
  try {
    const url = await listening(child)
    if (url === null) return ended(await withTime(child.exited), await errors, 'refused')
    const api = new ApiClient(() => url, sound.key)
    const answers = await readAll(api).catch((error: unknown) => error)
    if (!(answers instanceof Error)) {
      return { is: JSON.stringify(answers) === sound.answers ? 'unharmed' : 'silent' }
    }
    const exitCode = await withTime(child.exited)
    if (exitCode === null) {
      child.kill('SIGKILL')
      return {
        is: 'fault',
        why: `goes on after: ${answers.message}: ${(await errors).slice(-900)}`,
      }
    }
    return ended(exitCode, await errors, 'ended')
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
}

/** An end is well if it names the file and a way on. */
function ended(exitCode: number | null, errors: string, is: 'refused' | 'ended'): Outcome {
  if (exitCode === null) return { is: 'fault', why: 'neither listens nor ends' }
  const isClear = errors.includes('hookline.db') && errors.includes('hookline restore')
  return isClear ? { is } : { is: 'fault', why: `ends with ${exitCode} and: ${errors.slice(-300)}` }
}

/** Where it listens; null once it has ended without. */
async function listening(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX)
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    const url = /listening on (http:\S+)/.exec(text)?.[1]
    if (url === undefined) continue
    clearTimeout(timer)
    return url
  }
  clearTimeout(timer)
  return null
}

function withTime(exited: Promise<number>): Promise<number | null> {
  return Promise.race([exited, Bun.sleep(END_MS_MAX).then(() => null)])
}

/** Every page of every list, without what changes by itself; throws at the first refusal. */
async function readAll(api: ApiClient): Promise<unknown> {
  const all: Record<string, unknown[]> = {}
  for (const list of LISTS) {
    const found: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = list === 'phone-lines' || list === 'health' ? '' : `?limit=200${cursor}`
      const page: Page<unknown> & { readonly next_cursor?: string | null } = await api.ask(
        'GET',
        `/api/v1/${list}${query}`,
      )
      found.push(...page.data)
      const next = page.next_cursor ?? null
      cursor = next === null ? null : `&cursor=${next}`
    }
    all[list] = list === 'messages' || list === 'conversations' ? found : []
  }
  return all
}
