import { AUDIT_COMMAND } from './audit.ts'
import { BACKUP_COMMANDS } from './backup.ts'
import type { Command, CommandGroup } from './command.ts'
import { COMPLETION_IDS_COMMAND, COMPLETIONS_COMMAND } from './completions.ts'
import { CONFIG_COMMANDS } from './config.ts'
import { BRIDGE_COMMANDS, KEY_COMMANDS, SETUP_LINK_COMMAND } from './credentials.ts'
import { DOCTOR_COMMAND } from './doctor.ts'
import { GUIDE_COMMAND } from './guide.ts'
import { ABOUT_COMMANDS, HELP_COMMAND } from './help.ts'
import { LINE_COMMANDS } from './lines.ts'
import { MAC_PERMIT_COMMAND } from './mac-permit.ts'
import { MAC_TRACE_COMMAND } from './mac-trace.ts'
import { MESSAGE_COMMANDS, TAIL_COMMAND } from './messages.ts'
import { SERVE_COMMAND } from './serve.ts'
import { logsCommand, serviceCommands, thisMachine, type FindPlace } from './service.ts'
import { statusCommand } from './status.ts'
import { upCommand } from './up.ts'
import { CHECK_MIGRATIONS_COMMAND, upgradeCommand } from './upgrade.ts'
import { WEBHOOK_COMMANDS } from './webhooks.ts'

/** Commands that run the relay as a service, on the machine that `findPlace` returns. */
export function hostingCommands(findPlace: FindPlace): readonly Command[] {
  return [
    upCommand(findPlace),
    ...serviceCommands(findPlace),
    statusCommand(findPlace),
    logsCommand(findPlace),
  ]
}

/** Every command, in the order of the help, under its heading there. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Run',
    commands: [SERVE_COMMAND, ...hostingCommands(thisMachine), SETUP_LINK_COMMAND],
  },
  { heading: 'Send and watch', commands: [...MESSAGE_COMMANDS, TAIL_COMMAND] },
  { heading: 'Troubleshoot', commands: [DOCTOR_COMMAND, AUDIT_COMMAND, MAC_TRACE_COMMAND] },
  { heading: 'Lines', commands: [...LINE_COMMANDS, ...BRIDGE_COMMANDS] },
  { heading: 'Keys and webhooks', commands: [...KEY_COMMANDS, ...WEBHOOK_COMMANDS] },
  {
    heading: 'Backups and upgrades',
    commands: [...BACKUP_COMMANDS, upgradeCommand(thisMachine)],
  },
  {
    heading: 'Options and help',
    commands: [
      ...CONFIG_COMMANDS,
      ...ABOUT_COMMANDS,
      COMPLETIONS_COMMAND,
      GUIDE_COMMAND,
      HELP_COMMAND,
    ],
  },
]

export const COMMANDS: readonly Command[] = COMMAND_GROUPS.flatMap(({ commands }) => commands)

/** Commands for our own processes and for shell completion; absent from help and documentation. */
export const HIDDEN_COMMANDS: readonly Command[] = [
  CHECK_MIGRATIONS_COMMAND,
  MAC_PERMIT_COMMAND,
  COMPLETION_IDS_COMMAND,
]
