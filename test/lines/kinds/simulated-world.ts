// The simulated network with its first line running: what a test sends, and what the line publishes of it.

import { Database } from 'bun:sqlite'
import { readFileSync, writeFileSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import type { AttachmentId } from '../../../src/domain/ids.ts'
import type { OutgoingAttachment, OutgoingMessage } from '../../../src/domain/message.ts'
import type {
  DeviceAttachment,
  DriverLine,
  LineDriver,
  LineEvent,
} from '../../../src/lines/driver.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { sha256 } from '../../../src/system/hash.ts'
import { messageOf, receiptsOf, runLine } from '../../contract/line-rig.ts'
import { makeSimulatedRig } from '../../contract/simulated-rig.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'

type Line = Awaited<ReturnType<typeof runLine>>
type More = Partial<Pick<OutgoingMessage, 'text' | 'attachments' | 'service' | 'chatGuid'>>
type How = More & { readonly ask?: () => Promise<boolean>; readonly signal?: AbortSignal }

const grant = async () => true

/** Each step takes `delayMs`, or 400 ms. */
export async function startWorld(delayMs?: number) {
  const folder = new ScratchFolder()
  const rig = makeSimulatedRig(delayMs)
  const runs: Line[] = []
  const run = async (driver: LineDriver, more: Partial<DriverLine> = {}) => {
    const line = await runLine(rig, driver, more)
    runs.push(line)
    return line
  }
  const line = await run(rig.driver)
  const outgoing = (to: string, more: More = {}): OutgoingMessage => {
    return { ...messageOf(rig, more.text ?? 'hello'), to: deviceHandle(to), ...more }
  }
  return {
    rig,
    clock: rig.clock,
    line,
    since: rig.clock.now(),
    outgoing,
    send: (to: string, { ask = grant, signal = NEVER, ...more }: How = {}) =>
      line.session().send(outgoing(to, more), ask, signal),
    file: (filename: string) => fileOf(folder, filename),
    /** The line in another process, as after a crash. */
    async again(more: Partial<DriverLine> = {}): Promise<Line> {
      await line.end()
      return run(rig.restart(), more)
    },
    /** The second line of the network. */
    neighbor: (more: Partial<DriverLine> = {}) =>
      run(rig.driver, { key: '2', number: '+12025550102', ...more }),
    /** Runs a statement on the ledger. */
    changeLedger(sql: string): void {
      using db = new Database(rig.ledgerPath)
      db.run(sql)
    },
    eventCount(): number {
      using db = new Database(rig.ledgerPath, { readonly: true })
      return Number(db.query('SELECT count(*) FROM events').values()[0]?.[0])
    },
    parts() {
      using db = new Database(rig.ledgerPath, { readonly: true })
      const sql = 'SELECT guid, filename, sha256 FROM parts ORDER BY seq'
      return db.query<{ guid: string; filename: string; sha256: string }, []>(sql).all()
    },
    /** Every receipt as `kind +milliseconds` since the start. */
    timed(of: Line = line): readonly string[] {
      return receiptsOf(of.events).map(({ kind, at }) => `${kind} +${at - this.since}`)
    },
    async [Symbol.asyncDispose]() {
      for (const one of runs) await one.end()
      rig.close()
      folder[Symbol.dispose]()
    },
  }
}

export function idOf(filename: string): AttachmentId {
  return `att_${filename}` as AttachmentId // Drivers take an id as it is.
}

function fileOf(folder: ScratchFolder, filename: string): OutgoingAttachment {
  const path = folder.file(filename)
  const bytes = `bytes of ${filename}`
  writeFileSync(path, bytes)
  const mimeType = 'application/octet-stream'
  const size = bytes.length
  return { id: idOf(filename), path, filename, mimeType, size, sha256: hashOf(filename) }
}

export function hashOf(filename: string): string {
  return sha256(`bytes of ${filename}`).toHex()
}

export function bytesOf({ filename, file }: DeviceAttachment): string {
  return `${filename}: ${file.state === 'available' ? readFileSync(file.path, 'utf8') : file.state}`
}

/** Ends of files that were announced as pending. */
export function endsOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => {
    if (event.type !== 'attachment') return []
    const { guid, file } = event.attachment
    return [{ messageGuid: event.messageGuid, guid, state: file.state }]
  })
}
