// Files under a load that dies: uploads of clients, and after the end the words of three parties about each
// file: rows of the relay, bytes on its disk, parts in the network's ledger.

import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'

import { sha256 } from '../../../src/system/hash.ts'
import type { Received } from '../../support/receiver.ts'
import type { ApiClient } from '../../support/relay-process.ts'

/** Endings of numbers whose people answer with files or take a part only. */
export const FILE_PEOPLE = ['0185', '0186', '0187', '0188', '0196', '0198', '0199'] as const

const FILE_BYTES_MAX = 200_000
/** A file of all clients, uploaded again and again. */
const COMMON = 'the menu of the day'

type Uploaded = { readonly id: string }

/** Uploads for every third message, the same for each try of it; some are never sent. */
export class Uploads {
  readonly #api: ApiClient
  readonly #name: string
  readonly #done = new Map<string, readonly Uploaded[]>()

  /** `name` keeps the keys apart from those of another load. */
  constructor(api: ApiClient, name: string) {
    this.#api = api
    this.#name = name
  }

  /** The attachments of the message with this text; undefined for one without. Rejects as uploads do. */
  async of(text: string): Promise<readonly Uploaded[] | undefined> {
    const done = this.#done.get(text)
    if (done !== undefined) return done
    const weight = weightOf(text)
    if (weight % 3 !== 0) return undefined
    const files = [`${text}: first`, weight % 2 === 0 ? COMMON : `${text}: second`]
    const uploaded: Uploaded[] = []
    for (const file of files) uploaded.push(await this.#upload(file))
    if (weight % 5 === 0) await this.#upload(`${text}: never sent`)
    this.#done.set(text, uploaded)
    return uploaded
  }

  async #upload(name: string): Promise<Uploaded> {
    const { status, body } = await this.#api.upload(bytesOf(name), `${this.#name} ${name}`)
    if (status !== 201) throw new Error(`An upload was answered ${status}.`)
    const { id } = body as Uploaded // What an upload answers.
    return { id }
  }
}

function weightOf(text: string): number {
  return sha256(text)[0] ?? 0
}

function bytesOf(name: string): Uint8Array<ArrayBuffer> {
  const seed = sha256(name)
  const length = 1 + ((weightOf(name) * 7_919) % FILE_BYTES_MAX)
  return Uint8Array.from(
    { length },
    (_, index) => (seed[index % seed.length] ?? 0) ^ (index & 0xff),
  )
}

type FileRow = {
  readonly messageId: string
  readonly status: string
  readonly direction: string
  readonly handle: string
  readonly position: number
  readonly isSent: number | null
  readonly attachmentId: string
  readonly sha256: string | null
  readonly state: string
}

type PartRow = {
  readonly messageId: string
  readonly attachmentId: string
  readonly sha256: string
}

const FILE_ROWS = `
  SELECT messages.id AS messageId, status, messages.direction, handle, position, is_sent AS isSent,
    attachments.id AS attachmentId, sha256, state
  FROM message_attachments
  JOIN messages ON messages.id = message_attachments.message_id
  JOIN attachments ON attachments.seq = attachment_seq
  ORDER BY messages.seq, position`
const PART_ROWS = `
  SELECT message_id AS messageId, attachment_id AS attachmentId, sha256 FROM parts ORDER BY seq`

/** Files that are still to come. */
export function pendingFiles(dataDir: string): number {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const sql = "SELECT count(*) AS count FROM attachments WHERE state = 'pending'"
  return relay.query<{ count: number }, []>(sql).get()?.count ?? 0
}

/** Dates every file back, so that the sweep takes those that nothing needs. */
export function ageFiles(dataDir: string): void {
  const long = new Date(Date.now() - 7_200_000)
  for (const path of filesIn(dataDir)) utimesSync(path, long, long)
}

/** Files of the relay, and parts that the networks carried. */
export function fileCounts(
  dataDir: string,
  places: readonly string[] = [dataDir],
): { readonly files: number; readonly parts: number } {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const count = relay.query<{ count: number }, []>('SELECT count(*) AS count FROM attachments')
  return { files: count.get()?.count ?? 0, parts: places.flatMap(partsIn).length }
}

function partsIn(place: string): readonly PartRow[] {
  using network = new Database(join(place, 'simulated.db'), { readonly: true })
  return network.query<PartRow, []>(PART_ROWS).all()
}

/**
 * Everything about files that the parties do not agree on; each list is empty when all is well. `places` are
 * the data directories of the simulated networks.
 */
export function fileFaults(
  dataDir: string,
  received: readonly Received[],
  places: readonly string[] = [dataDir],
) {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const rows = relay.query<FileRow, []>(FILE_ROWS).all()
  const parts = Map.groupBy(places.flatMap(partsIn), (part) => part.messageId)
  const bytes = relay
    .query<{ id: string; sha256: string; size: number }, []>(
      "SELECT id, sha256, size FROM attachments WHERE state = 'available'",
    )
    .all()
  const needed = new Set(bytes.map((row) => row.sha256))
  const outbound = rows.filter((row) => row.direction === 'outbound')
  const messages = Map.groupBy(outbound, (row) => row.messageId)
  const inbound = rows.filter((row) => row.direction === 'inbound')
  return {
    sentWithoutPart: [...messages].filter(([id, files]) => !isTrue(files, parts.get(id) ?? [])),
    partSentTwice: [...parts.values()].filter(hasDouble),
    partOfNobody: [...parts.keys()].filter((id) => !messages.has(id)),
    rowWithoutBytes: bytes.filter((row) => !hasBytes(dataDir, row)),
    orphans: filesIn(dataDir).filter((path) => !needed.has(path.slice(-64))),
    notArrived: inbound.filter((row) => row.state !== endOf(row)),
    announcedWithoutEnd: withoutEnd(received),
  }
}

/** True where what a message says of its files is what the network has of them. */
function isTrue(files: readonly FileRow[], parts: readonly PartRow[]): boolean {
  const [{ status, handle }] = files as [FileRow] // A group has one at least.
  const carried = parts.map((part) => `${part.attachmentId} ${part.sha256}`)
  const said = files.filter(({ isSent }) => isSent === 1)
  const isWhole = ['sent', 'delivered', 'read'].includes(status)
  if (isWhole && said.length !== files.length) return false
  if (handle.endsWith('0198')) return said.length === 1 && carried.length === 1
  const claimed = said.map((file) => `${file.attachmentId} ${file.sha256}`)
  return claimed.every((file, index) => carried[index] === file)
}

function hasDouble(parts: readonly PartRow[]): boolean {
  return new Set(parts.map((part) => part.attachmentId)).size !== parts.length
}

function hasBytes(dataDir: string, { sha256: hash, size }: { sha256: string; size: number }) {
  const path = join(dataDir, 'attachments', hash.slice(0, 2), hash)
  if (!existsSync(path)) return false
  const bytes = readFileSync(path)
  return bytes.length === size && sha256(bytes).toHex() === hash
}

function filesIn(dataDir: string): readonly string[] {
  const folder = join(dataDir, 'attachments')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function endOf({ handle }: FileRow): string {
  return handle.endsWith('0185') ? 'failed' : 'available'
}

/** Messages that were announced while a file was on its way, and then nothing of its end. */
function withoutEnd(received: readonly Received[]): readonly string[] {
  const ended = new Set(
    received
      .filter(({ event }) => event.startsWith('attachment.'))
      .map(({ message }) => message.id),
  )
  return received
    .filter(({ event, message }) => {
      const isPending = message.attachments?.some(({ state }) => state === 'pending') === true
      return event === 'message.received' && isPending && !ended.has(message.id)
    })
    .map(({ message }) => message.id)
}
