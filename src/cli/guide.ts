import { findGuide, GUIDES } from '../guides/guides.ts'
import { EXIT, UsageError, type Command } from './command.ts'
import { table } from './table.ts'

export const GUIDE_COMMAND: Command = {
  name: 'guide',
  args: [{ name: 'NAME', isOptional: true, choices: GUIDES.map(({ name }) => name) }],
  sentence: 'Print a guide of the manual, or list them.',
  async run({ args: [name], out }) {
    if (name === undefined) {
      const rows = GUIDES.map(({ name, title }) => ({ name, title }))
      const lines = table(
        ['GUIDE', 'ABOUT'],
        rows.map(({ name, title }) => [name, title]),
      )
      out.data({ data: rows }, lines)
      return EXIT.ok
    }
    const guide = findGuide(name)
    if (guide === null)
      throw new UsageError(`There is no guide "${name}". List them: hookline guide`)
    out.data(guide, guide.text.trimEnd().split('\n'))
    return EXIT.ok
  },
}
