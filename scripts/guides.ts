// Writes the guides that are made from the code. Run it after a change of a command, an option, a setting, an error, an
// event, a finding, a state of messages, a limit, or of who imports whom.

import { commandLineGuide } from './command-line-guide.ts'
import { errorsGuide } from './errors-guide.ts'
import { eventsGuide } from './events-guide.ts'
import { findingsGuide } from './findings-guide.ts'
import { importsPicture } from './imports-picture.ts'
import { limitsGuide } from './limits-guide.ts'
import { messageStatesGuide } from './message-states-guide.ts'

/** Each guide's name with its text. */
export const GENERATED_GUIDES: Readonly<Record<string, () => string>> = {
  'command-line': commandLineGuide,
  errors: errorsGuide,
  'event-reference': eventsGuide,
  findings: findingsGuide,
  limits: limitsGuide,
  'message-states': messageStatesGuide,
}

/** The picture of `design.md`. */
export const PICTURE = `${import.meta.dir}/../src/guides/imports.svg`

if (import.meta.main) {
  for (const [name, make] of Object.entries(GENERATED_GUIDES)) {
    await Bun.write(`${import.meta.dir}/../src/guides/${name}.md`, make())
  }
  await Bun.write(PICTURE, importsPicture())
}
