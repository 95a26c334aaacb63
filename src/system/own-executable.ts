/** Where Bun keeps what is compiled into an executable. */
const COMPILED = '/$bunfs/'

/** The path of this executable, links resolved; null where the sources run under `bun`. */
export function ownExecutable(): string | null {
  return import.meta.path.startsWith(COMPILED) ? process.execPath : null
}
