import { Database } from 'bun:sqlite'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type LineId, type MessageId } from '../../src/domain/ids.ts'
import type { LineEvent, LineSession } from '../../src/lines/driver.ts'
import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import { scriptAction } from '../../src/lines/kinds/simulated/script.ts'
import { testHost } from '../support/kind-host.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import type { LineRig } from './line-rig.ts'

export type SimulatedRig = LineRig &
  Disposable & {
    readonly ledgerPath: string
    /** Plays an event of the script on the first line. */
    play(event: object): Promise<unknown>
  }

const DELAY_MS = 400

/** Two simulated lines on a ledger of their own; the rig is about the first one. */
export function makeSimulatedRig(delayMs = DELAY_MS): SimulatedRig {
  const folder = new ScratchFolder()
  const ledgerPath = folder.file('simulated.db')
  const clock = new TestClock()
  const make = () =>
    createSimulatedDriver(testHost({ clock }), { lineCount: 2, delayMs, ledgerPath })
  let driver = make()

  /** Writes from the second line to the first. */
  const receive = async (text: string) => {
    const controller = new AbortController()
    let session: LineSession | null = null
    const onEvent = async (event: LineEvent) => {
      if (event.type === 'online') session = event.session
    }
    const id = 'line_second' as LineId // Drivers only hand it on.
    const line = { id, key: '2', number: '+12025550102', checkpoint: null, unsettled: [], open: [] }
    const ended = driver.run(line, { onEvent }, controller.signal)
    await clock.advance(0)
    await (session as LineSession | null)?.send(
      {
        id: `msg_${text}` as MessageId, // Drivers take an id as it is.
        to: deviceHandle('+12025550101'),
        text,
        createdAt: timestamp(clock.now()),
        platformGuid: null,
      },
      async () => true,
      controller.signal,
    )
    controller.abort()
    await ended
  }

  const play = (event: object) => scriptAction(() => driver.network()).run('+12025550101', event)

  const close = () => folder[Symbol.dispose]()
  return {
    clock,
    ledgerPath,
    play,
    driver,
    restart: () => {
      driver = make()
      return driver
    },
    recipient: deviceHandle('+15550001111'),
    startMs: 0,
    settleMs: 3 * delayMs,
    burst: Infinity,
    provesUnsent: true,
    canBeAsked: true,
    carried: (text) => countCarried(ledgerPath, text),
    receive,
    sentFiles: (text) => sentFiles(ledgerPath, text),
    receiveFile: async (text, bytes) => {
      const attachments = [{ filename: 'menu.pdf', content_base64: bytes.toBase64() }]
      await play({ type: 'message', from: '+15550001111', text, attachments })
    },
    receiveInGroup: async (text) => {
      const from = '+15550001111'
      const group = { identifier: 'chat100', participants: [from, '+15550001112'] }
      await play({ type: 'message', from, text, group })
      return group.identifier
    },
    close,
    [Symbol.dispose]: close,
  }
}

function countCarried(ledgerPath: string, text: string): number {
  const db = new Database(ledgerPath, { strict: true, readonly: true })
  const sql = 'SELECT count(*) AS count FROM carried WHERE text = $text'
  const row = db.query<{ count: number }, [{ text: string }]>(sql).get({ text })
  db.close()
  return row?.count ?? 0
}

function sentFiles(ledgerPath: string, text: string): readonly string[] {
  using db = new Database(ledgerPath, { strict: true, readonly: true })
  const sql = `SELECT sha256 FROM parts JOIN carried USING (message_id)
    WHERE text = $text ORDER BY parts.seq`
  return db
    .query<{ sha256: string }, [{ text: string }]>(sql)
    .all({ text })
    .map(({ sha256 }) => sha256)
}
