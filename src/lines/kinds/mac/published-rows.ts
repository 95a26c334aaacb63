// Messages that were published lately. After Messages has called a row finished, it may still add files
// (BlueBubbles' users saw them one to three seconds later) and words.

import type { Clock } from '../../../system/clock.ts'
import { dropOldest } from '../../../system/memoize.ts'
import type { FileRow, MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { isOfUnknownContent } from './classify.ts'

/** Later additions are from a repair of the database. */
export const WATCHED_MS = 600_000
const ROWS_MAX = 500

type PublishedRow = {
  readonly guid: string
  /** Monotonic. */
  readonly since: number
  readonly files: ReadonlySet<string>
  /** True if it had at most a subject. */
  readonly isBlank: boolean
  readonly isHistory: boolean
}

type Additions = {
  readonly files: readonly { readonly messageGuid: string; readonly file: FileRow }[]
  readonly rowsWithWords: readonly { readonly row: MessageRow; readonly isHistory: boolean }[]
}

export class PublishedRows {
  readonly #clock: Clock
  readonly #rows = new Map<number, PublishedRow>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Watches a row that is published now. In history, only missing words are awaited. */
  take(row: MessageRow, fileGuids: readonly string[], isHistory: boolean): void {
    const files = new Set([...fileGuids, ...row.inlineEmoji.map(({ guid }) => guid)])
    const [since, isBlank] = [this.#clock.monotonic(), isOfUnknownContent(row)]
    if (isHistory && !isBlank) return
    this.#rows.set(row.rowId, { guid: row.guid, since, files, isBlank, isHistory })
    dropOldest(this.#rows, ROWS_MAX)
  }

  /** Called for another database, which has other ROWIDs. */
  clear(): void {
    this.#rows.clear()
  }

  takeAdditions(db: ChatDb): Additions {
    const oldest = this.#clock.monotonic() - WATCHED_MS
    for (const [rowId, { since }] of this.#rows) if (since < oldest) this.#rows.delete(rowId)
    if (this.#rows.size === 0) return { files: [], rowsWithWords: [] }
    const blank = [...this.#rows].flatMap(([rowId, { isBlank }]) => (isBlank ? [rowId] : []))
    const filled = db.rowsAt(blank).filter((row) => !isOfUnknownContent(row))
    const joined = db.filesAt([...this.#rows.keys()])
    const found = new Map([...joined, ...filled.map(({ rowId, files }) => [rowId, files] as const)])
    const files = [...found].flatMap(([rowId, all]) => this.#newFiles(rowId, all))
    const rowsWithWords = filled.flatMap((row) => {
      const published = this.#rows.get(row.rowId)
      if (published?.isBlank !== true) return []
      this.#rows.set(row.rowId, { ...published, isBlank: false })
      return [{ row, isHistory: published.isHistory }]
    })
    return { files, rowsWithWords }
  }

  #newFiles(rowId: number, all: readonly FileRow[]): Additions['files'] {
    const published = this.#rows.get(rowId)
    if (published === undefined || published.isHistory) return []
    const added = all.filter(({ guid, isHidden }) => !isHidden && !published.files.has(guid))
    if (added.length === 0) return []
    const files = new Set([...published.files, ...added.map(({ guid }) => guid)])
    this.#rows.set(rowId, { ...published, files })
    return added.map((file) => ({ messageGuid: published.guid, file }))
  }
}
