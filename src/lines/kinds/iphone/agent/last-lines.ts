export type OutputName = 'stdout' | 'stderr'

/** The beginning of a line that has not ended yet. */
type OpenLine = { readonly bytes: Uint8Array; length: number }

const LINE_BYTES_MAX = 4_096
const KEPT_BYTES_MAX = 65_536
const NEW_LINE = 10

/** The last 64 KiB of what a program says on both of its outputs, in lines of at most 4 KiB. */
export class LastLines {
  readonly #open: Readonly<Record<OutputName, OpenLine>> = {
    stdout: openLine(),
    stderr: openLine(),
  }
  readonly #lines: { readonly text: string; readonly size: number }[] = []
  #size = 0

  take(chunk: Uint8Array, from: OutputName): void {
    const line = this.#open[from]
    for (let start = 0; start < chunk.length;) {
      const found = chunk.indexOf(NEW_LINE, start)
      const end = found === -1 ? chunk.length : found
      const room = line.bytes.subarray(line.length)
      const part = chunk.subarray(start, Math.min(end, start + room.length))
      room.set(part)
      line.length += part.length
      if (found !== -1) this.#close(line)
      start = end + 1
    }
  }

  /** Oldest first, a line that has not ended among them. Lines without text are left out. */
  all(): readonly string[] {
    const open = Object.values(this.#open).filter(({ length }) => length > 0)
    return [...this.#lines.map(({ text }) => text), ...open.map(textOf)]
  }

  #close(line: OpenLine): void {
    if (line.length > 0) this.#lines.push({ text: textOf(line), size: line.length })
    this.#size += line.length
    line.length = 0
    while (this.#size > KEPT_BYTES_MAX) this.#size -= this.#lines.shift()?.size ?? this.#size
  }
}

function openLine(): OpenLine {
  return { bytes: new Uint8Array(LINE_BYTES_MAX), length: 0 }
}

function textOf({ bytes, length }: OpenLine): string {
  return new TextDecoder().decode(bytes.subarray(0, length))
}
