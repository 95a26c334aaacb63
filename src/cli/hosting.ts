import type { Command } from './command.ts'
import { logsCommand } from './logs.ts'
import { thisMachine, type FindPlace } from './service-place.ts'
import { serviceCommands } from './service.ts'
import { statusCommand } from './status.ts'
import { upCommand } from './up.ts'

/** The commands that run the relay as a service, on the machine that `findPlace` names. */
export function hostingCommands(findPlace: FindPlace): readonly Command[] {
  return [
    upCommand(findPlace),
    ...serviceCommands(findPlace),
    statusCommand(findPlace),
    logsCommand(findPlace),
  ]
}

export const HOSTING_COMMANDS: readonly Command[] = hostingCommands(thisMachine)
