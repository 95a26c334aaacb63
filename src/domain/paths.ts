/** The path with its parameters filled in: `/webhooks/wh_1` for `/webhooks/:id`. */
export function filledPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:([a-z]+)/g, (_, name) => encodeURIComponent(params[name] ?? ''))
}
