import type { Clock } from '../system/clock.ts'
import type { LastingDatabase } from '../system/lasting-database.ts'
import type { OpenFiles } from './open-files.ts'
import { isDamage } from './sqlite-errors.ts'

/** Another Hookline opened the database; only the one that opened it last may write. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOverError'
}

/** Between two looks: what is accepted within it after a slip is lost. Each costs as much as several statements. */
const LOOK_MS_MIN = 1_000

/**
 * Knows whether a database is still sound and still this process's own. Each opening raises a number in
 * the file, and a transaction that finds another number than its own is refused: two processes that
 * both believe to hold the lock can never both write.
 */
export class Guard {
  readonly #sqlite: LastingDatabase
  readonly #opening: number
  readonly #readOpening: () => number
  #look: (() => void) | null = null

  constructor(sqlite: LastingDatabase) {
    const read = sqlite.query<{ value: string }, []>(
      "SELECT value FROM about WHERE name = 'opening'",
    )
    this.#sqlite = sqlite
    this.#readOpening = () => Number(read.get()?.value ?? 0)
    this.#opening = sqlite
      .transaction(() => {
        const opening = this.#readOpening() + 1
        sqlite
          .query("INSERT OR REPLACE INTO about (name, value) VALUES ('opening', $opening)")
          .run({ opening: String(opening) })
        return opening
      })
      .immediate()
  }

  /** Has the files of the data directory looked at too, at most once a second. */
  watch(files: OpenFiles, clock: Clock): void {
    let lookedAt = clock.monotonic()
    this.#look = () => {
      if (clock.monotonic() - lookedAt < LOOK_MS_MIN) return
      files.requireInPlace()
      lookedAt = clock.monotonic()
    }
  }

  /** Calls `act` with each error, of a read or a write, that says the file or its disk is not sound. */
  onDamage(act: (error: unknown) => void): void {
    this.#sqlite.onError = (error) => {
      if (isDamage(error)) act(error)
    }
  }

  /** Throws a LostFileError where a file of the data directory is not the open one any more. */
  requireInPlace(): void {
    this.#look?.()
  }

  /** Within a transaction: throws a TakenOverError where another process opened the database. */
  requireOwn(): void {
    if (this.#readOpening() === this.#opening) return
    throw new TakenOverError(
      `Another Hookline opened ${this.#sqlite.filename} while this one ran, and only the last one ` +
        'may write. Run one at a time, and leave hookline.lock alone.',
    )
  }
}
