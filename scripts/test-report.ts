// Reads the JUnit report of a run of `bun test`: which files were slow, what was skipped and why, and what failed.

export type Report = {
  /** The slowest first. */
  readonly files: readonly { readonly path: string; readonly seconds: number }[]
  /** One sentence for each reason: `12 tests need chromium`. */
  readonly skipped: readonly string[]
  /** The file of each test that failed; a file stands here once for each of them. */
  readonly failed: readonly string[]
}

type Test = { readonly path: string; readonly name: string }

/** Test cases and suites carry the path of their file; a suite of a file has no suite around it. */
export function readReport(xml: string): Report {
  const seconds = new Map<string, number>()
  const skipped: Test[] = []
  const failed: string[] = []
  let last: Test | null = null
  for (const [, tag = '', attributes = ''] of xml.matchAll(
    /<(testcase|skipped|failure)\b([^>]*)>/g,
  )) {
    if (tag !== 'testcase') {
      if (last !== null && tag === 'skipped') skipped.push(last)
      if (last !== null && tag === 'failure') failed.push(last.path)
      continue
    }
    const of = (name: string) => textOf(new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1])
    last = { path: of('file'), name: of('name') }
    seconds.set(last.path, (seconds.get(last.path) ?? 0) + Number(of('time')))
  }
  const files = [...seconds].map(([path, sum]) => ({ path, seconds: sum }))
  return { files: files.sort((a, b) => b.seconds - a.seconds), skipped: reasonsOf(skipped), failed }
}

/** A test that was skipped says in its name what it needs, as `test/support/needs.ts` has it. */
function reasonsOf(skipped: readonly Test[]): readonly string[] {
  const byReason = Map.groupBy(skipped, ({ name }) => / \(needs (.*)\)$/.exec(name)?.[1] ?? null)
  return [...byReason].map(([reason, tests]) => {
    const count = tests.length === 1 ? '1 test' : `${tests.length} tests`
    const files = [...new Set(tests.map(({ path }) => path))].join(', ')
    if (reason === null) return `${count} without a reason: ${files}`
    return `${count} ${tests.length === 1 ? 'needs' : 'need'} ${reason}: ${files}`
  })
}

function textOf(xml = ''): string {
  return xml.replace(/&(quot|apos|lt|gt|amp);/g, (_, name: string) => ENTITIES[name] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  amp: '&',
}
