// Turns the places in a log's stack traces, such as `chunk-5ebdk0ra.js:117:33`, into places in the sources:
//   hookline logs | bun scripts/resolve-trace.ts hookline-linux-x64.map
// The map comes with the release, and is beside an executable that was built here.

import { SourceMap } from 'node:module'

const PLACE = /(?:\/\$bunfs\/root\/)?([\w-]+)(?:\.js)?:(\d+):(\d+)/g

const [path] = process.argv.slice(2)
if (path === undefined) {
  console.error('Usage: bun scripts/resolve-trace.ts MAP < LOG')
  process.exit(2)
}
const maps = (await Bun.file(path).json()) as Record<
  string,
  ConstructorParameters<typeof SourceMap>[0]
>
for await (const line of console) console.log(line.replaceAll(PLACE, resolved))

/** The place in the sources; the place as it was written if the map doesn't know it. */
function resolved(written: string, script: string, line: string, column: string): string {
  const payload = maps[script]
  if (payload === undefined) return written
  const entry = new SourceMap(payload).findEntry(Number(line) - 1, Number(column) - 1)
  if (!('originalSource' in entry)) return written
  return `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}
