/** The path with its parameters filled in: `/webhooks/wh_1` for `/webhooks/:id`. */
export function filledPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:([a-z]+)/g, (_, name) => segment(params[name] ?? ''))
}

/** A URL drops a segment of dots, and no route has an empty one: encoded twice, they are ids that don't exist. */
function segment(text: string): string {
  const isDropped = text === '' || text === '.' || text === '..'
  return isDropped ? `%25${text.replaceAll('.', '2E')}` : encodeURIComponent(text)
}
