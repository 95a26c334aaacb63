// Compares what the manual shows with what a relay answers: fields, kinds of values, and values that are always
// the same.

/** Values that differ from relay to relay: ids, times, guids, secrets, addresses of this run. */
const VARYING =
  /^([a-z]+_[0-9a-z]{20,}|\d{4}-\d\d-\d\dT.*|[0-9A-F-]{36}|whsec_.*|hl_.*|req_.*|https?:\/\/127\.0\.0\.1:.*)$/i
/** Fields whose numbers and texts are those of the moment. */
const OF_THE_MOMENT =
  /^(from|phone_number|guid|status|title|text|why|handle|keyword|filename|size|lasted_seconds)$/

/** The differences, each as the path and what is wrong with it. `isShape`: only `event` has a fixed value. */
export function differences(
  shown: unknown,
  actual: unknown,
  { isShape = false, path = '' }: { readonly isShape?: boolean; readonly path?: string } = {},
): readonly string[] {
  const at = path === '' ? 'the answer' : path
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual)) return [`${at} is no list`]
    const [first] = actual
    return shown.length === 0 || first === undefined
      ? []
      : shown.flatMap((one, i) =>
          typeof one === 'string'
            ? []
            : differences(one, actual[i] ?? first, { isShape, path: `${path}[${i}]` }),
        )
  }
  if (isRecord(shown)) {
    if (!isRecord(actual)) return [`${at} is ${JSON.stringify(actual)}`]
    return fieldDifferences(shown, actual, { isShape, path })
  }
  return valueDifferences(shown, actual, { isShape, path })
}

function fieldDifferences(
  shown: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
  { isShape, path }: { readonly isShape: boolean; readonly path: string },
): readonly string[] {
  const isCut = '…' in shown
  const names = Object.keys(shown).filter((name) => name !== '…')
  const missing = names
    .filter((name) => !(name in actual))
    .map((name) => `there is no ${path}.${name}`)
  const extra = isCut ? [] : Object.keys(actual).filter((name) => !(name in shown))
  return [
    ...missing,
    ...extra.map((name) => `${path}.${name} is not shown`),
    ...names
      .filter((name) => name in actual)
      .flatMap((name) =>
        differences(shown[name], actual[name], { isShape, path: `${path}.${name}` }),
      ),
  ]
}

function valueDifferences(
  shown: unknown,
  actual: unknown,
  { isShape, path }: { readonly isShape: boolean; readonly path: string },
): readonly string[] {
  const name = path.replace(/^.*\./, '')
  // What is null in an example may have a value, and the other way around.
  if (shown === null || actual === null) return []
  if (typeof shown !== typeof actual) return [`${path} is ${typeof actual}, not ${typeof shown}`]
  if (typeof shown === 'string' && (VARYING.test(shown) || shown.includes('…'))) return []
  if ((isShape && name !== 'event') || OF_THE_MOMENT.test(name)) return []
  return shown === actual
    ? []
    : [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`]
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a comment shows and the output lacks: each of its fields with a fixed value, or the words of a header. */
export function missingWords(comment: string, output: string): readonly string[] {
  const fields = [...comment.matchAll(/"(\w+)":("[^"…]*"|true|false|null|\d+)/g)]
  if (fields.length === 0) {
    return comment.startsWith('{') || output.toLowerCase().includes(comment.toLowerCase())
      ? []
      : [comment]
  }
  return fields.flatMap(([whole, name = '', value = '']) => {
    if (VARYING.test(value.replaceAll('"', '')))
      return output.includes(`"${name}":`) ? [] : [`no ${name}`]
    return output.includes(whole) ? [] : [whole]
  })
}
